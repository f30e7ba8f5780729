/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * views.c - finds a view by its name.
 */
#include <string.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "report/views.h"

const struct view *const report_views[] = {
#define X(name) &view_##name,
	VIEWS(X)
#undef X
};
const size_t report_view_cnt = ARRAY_SIZE(report_views);

const struct view *view_find(const char *name)
{
	for (size_t i = 0; i < report_view_cnt; i++)
		if (strcmp(name, report_views[i]->name) == 0)
			return report_views[i];
	return NULL;
}
