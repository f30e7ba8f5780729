/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * show_source.c - `vprof show source FUNCTION`: prints the function from its file, as of the last build.
 */
#include <stdio.h>
#include <string.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "cmd/messages.h"
#include "cmd/ask/show_source.h"
#include "project/build/function_source.h"
#include "project/config/locate.h"
#include "project/config/paths.h"

static int unknown_function(const struct project *p, const char *name)
{
	_cleanup_(freep) const char **names = xcalloc(p->functions.cnt + 1, sizeof(*names));
	_cleanup_(freep) char *remedy = NULL;
	const char *nearest;

	for (size_t i = 0; i < p->functions.cnt; i++)
		names[i] = p->functions.items[i].name;
	nearest = nearest_word(name, names, p->functions.cnt);
	if (!p->functions.cnt)
		return fail_now(EXIT_ENVIRONMENT, "vprof build -- make", "nothing was built with this data directory");
	remedy = nearest ? xasprintf("vprof show source %s", nearest) : xstrdup("vprof show call-graph lists the functions");
	return fail_now(EXIT_USAGE, remedy, "the last build has no function '%s'", name);
}

int show_source(const char *name)
{
	_cleanup_(store_closep) struct store *s = NULL;
	_cleanup_(project_freep) struct project *p = NULL;
	_cleanup_(str_release) struct str text = STR_INIT;
	struct diag diag = DIAG_INIT;
	size_t found = 0;

	if (!name)
		return fail_now(EXIT_USAGE, "vprof show source FUNCTION", "show the source of which function?");
	if (store_open(data_dir(), false, &s, &diag) < 0 || project_read(s, &p, &diag) < 0)
		return fail(&diag);
	for (size_t i = 0; i < p->functions.cnt; i++) {
		if (strcmp(p->functions.items[i].name, name) != 0)
			continue;
		if (found++)
			str_addc(&text, '\n');
		if (function_source(&p->functions.items[i], &text, &diag) < 0)
			return fail(&diag);
	}
	if (!found)
		return unknown_function(p, name);
	fputs(str_cstr(&text), stdout);
	return EXIT_DONE;
}
