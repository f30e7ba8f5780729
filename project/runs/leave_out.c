/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * leave_out.c - functions whose calls do not count.
 *
 * Example: leave-out = errmsg* and leave-out = elog; die() is noreturn.  errmsg_internal, elog and die are
 * left out, errcode is not.
 */
#include <fnmatch.h>

#include "base/banned.h"
#include "project/runs/leave_out.h"

/* A pattern without parameters is for all overloads. */
static bool matches(const char *pattern, const char *name)
{
	return fnmatch(pattern, name, 0) == 0 || location_names(pattern, name);
}

void leave_out(struct project *p, const struct config *c)
{
	for (size_t i = 0; i < p->functions.cnt; i++) {
		struct project_function *f = &p->functions.items[i];

		f->left_out = f->no_return && c->leave_out_no_return;
		for (size_t k = 0; k < c->leave_out.cnt && !f->left_out; k++)
			f->left_out = matches(c->leave_out.items[k], f->name);
	}
}

static bool matches_any(const struct project *p, const char *pattern)
{
	for (size_t i = 0; i < p->functions.cnt; i++)
		if (matches(pattern, p->functions.items[i].name))
			return true;
	return false;
}

void leave_out_unused(const struct project *p, const struct config *c, struct str *ret)
{
	for (size_t k = 0; k < c->leave_out.cnt; k++)
		if (!matches_any(p, c->leave_out.items[k]))
			str_addf(ret, "%sleave-out = %s", ret->len ? ", " : "",
				 c->leave_out.items[k]);
}
