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
#include "report/output.h"

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

static int add_json(json_t *list, const struct project_function *f, struct diag *reterr)
{
	_cleanup_(freep) char *text = NULL;
	uint32_t line = 0;
	int r = function_text(f, &line, &text, reterr);
	json_t *o;

	if (r < 0)
		return r;
	o = json_object();
	json_set(o, "function", json_text(f->name));
	json_set(o, "file", json_text(f->file));
	json_set(o, "line", json_integer(line));
	json_set(o, "end_line", json_integer(f->end_line));
	json_set(o, "text", json_text(text));
	json_add(list, o);
	return 0;
}

static int add_text(struct str *to, const struct project_function *f, struct diag *reterr)
{
	if (to->len)
		str_addc(to, '\n');
	return function_source(f, to, reterr);
}

static void print_json(json_t *functions)
{
	json_t *o = json_document("source");

	json_set(o, "warnings", json_array());
	json_set(o, "functions", json_incref(functions));
	report_write_json(stdout, o);
	json_decref(o);
}

int show_source(const char *name, bool json)
{
	_cleanup_(store_closep) struct store *s = NULL;
	_cleanup_(project_freep) struct project *p = NULL;
	_cleanup_(str_release) struct str text = STR_INIT;
	_cleanup_(json_decrefp) json_t *list = json_array();
	struct diag diag = DIAG_INIT;
	size_t found = 0;

	if (!name)
		return fail_now(EXIT_USAGE, "vprof show source FUNCTION", "show the source of which function?");
	if (store_open(data_dir(), false, &s, &diag) < 0 || project_read(s, &p, &diag) < 0)
		return fail(&diag);
	for (size_t i = 0; i < p->functions.cnt; i++) {
		if (strcmp(p->functions.items[i].name, name) != 0)
			continue;
		found++;
		if ((json ? add_json(list, &p->functions.items[i], &diag) : add_text(&text, &p->functions.items[i], &diag)) < 0)
			return fail(&diag);
	}
	if (!found)
		return unknown_function(p, name);
	if (json)
		print_json(list);
	else
		fputs(str_cstr(&text), stdout);
	return EXIT_DONE;
}
