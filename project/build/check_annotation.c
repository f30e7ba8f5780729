/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check_annotation.c - checks annotate's arguments against the last build, because a new build takes minutes.
 *
 * Example: serve(struct request *r) has one argument, so key = arg7->id is an error:
 *	--start serve: 'arg7' in 'arg7->id': 'serve' has 1 argument, the first is arg0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/str.h"
#include "project/build/check_annotation.h"
#include "project/build/check_places.h"
#include "project/build/unit_report.h"

enum { ARGUMENTS_ANY = -1 };

/* By a function type as clang writes it, "int (struct request *, int)"; ARGUMENTS_ANY if it does not say. */
static int argument_cnt(const char *type)
{
	const char *at = type ? strchr(type, '(') : NULL;
	int depth = 0, cnt = 1;

	if (!at || at[1] == '*' || at[1] == ')')	/* it returns a pointer to a function; it has no prototype, or
							 * no argument */
		return at && at[1] == ')' && strstr(type, "::") ? 0 : ARGUMENTS_ANY;
	if (starts_with(at, "(void)"))
		return 0;
	for (; *at; at++) {
		depth += *at == '(' || *at == '<' || *at == '[';
		depth -= *at == ')' || *at == '>' || *at == ']';
		cnt += *at == ',' && depth == 1;
		if (!depth)
			break;
	}
	return strstr(at, "...") ? ARGUMENTS_ANY : cnt;
}

/* The largest N of argN in an expression; -1: there is none. */
static long largest_argument(const char *expression)
{
	long largest = -1;

	for (const char *at = expression; at && (at = strstr(at, "arg")); at += 3) {
		char *end;
		long n = strtol(at + 3, &end, 10);
		bool is_word = at == expression || !(at[-1] == '_' || at[-1] == '.' || at[-1] == '>' ||
						     ((at[-1] | 32) >= 'a' && (at[-1] | 32) <= 'z'));

		if (is_word && end > at + 3 && at[3] >= '0' && at[3] <= '9' && n > largest)
			largest = n;
	}
	return largest;
}

static bool is_at(const struct location *l, const struct scan_function *f)
{
	return location_function_matches(l->function, f->name) && (!l->file || location_file_matches(l->file, f->file));
}

static int check_expression(const char *role, const struct scan_function *f, const char *expression, struct diag *reterr)
{
	long n = largest_argument(expression);
	int cnt = argument_cnt(f->type);

	if (n < 0 || cnt == ARGUMENTS_ANY || n < cnt)
		return 0;
	diag_set(reterr, EXIT_USAGE, -EINVAL, "--%s: there is no arg%ld in '%s': '%s' (%s:%u) has %d argument%s", role, n, expression,
		 f->name, f->file, f->line, cnt, cnt == 1 ? "" : "s");
	return diag_remedy(reterr, -EINVAL, cnt ? "arg0 is the first one, arg%d the last" :
			   "without a key intervals are distinguished by thread", cnt - 1);
}

static int check_location(const struct interval_directive *d, const char *role, const struct location *l,
			  const units *scanned, struct diag *reterr)
{
	const char *nearest;
	bool found = false;
	int r = 0;

	if (!l->function)
		return 0;
	for (size_t u = 0; r == 0 && u < scanned->cnt; u++)
		for (size_t i = 0; r == 0 && i < scanned->items[u]->functions.cnt; i++) {
			const struct scan_function *f = &scanned->items[u]->functions.items[i];

			if (!is_at(l, f))
				continue;
			found = true;
			r = check_expression(role, f, l->key ? l->key : d->key, reterr);
			if (r == 0)
				r = check_expression(role, f, l->condition, reterr);
		}
	if (r < 0 || found || untouched_unit_with(scanned, l->function))
		return r;
	nearest = nearest_function(scanned, l->function);
	if (nearest && strcmp(nearest, l->function) != 0)
		diag_set(reterr, EXIT_USAGE, -ENOENT, "--%s: the last build has no function '%s'%s%s; the nearest is '%s'", role,
			 l->function, l->file ? " in " : "", l->file ? l->file : "", nearest);
	else
		diag_set(reterr, EXIT_USAGE, -ENOENT, "--%s: the last build has no function '%s'%s%s", role, l->function,
			 l->file ? " in " : "", l->file ? l->file : "");
	return diag_remedy(reterr, -ENOENT, "vprof build first, if the function is newer than the last build");
}

int check_annotation(const struct interval_directive *d, const units *scanned, struct diag *reterr)
{
	int r = 0;

	if (!scanned->cnt)
		return 0;
	r = check_location(d, "start", &d->start, scanned, reterr);
	if (r == 0)
		r = check_location(d, "end", &d->end, scanned, reterr);
	for (size_t i = 0; r == 0 && i < d->resumes.cnt; i++)
		r = check_location(d, "resume", &d->resumes.items[i], scanned, reterr);
	return r;
}
