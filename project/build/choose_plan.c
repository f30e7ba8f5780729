/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * choose_plan.c - which functions to probe.
 *
 * Example: interval handle_request; handle_request calls parse and log_append, log_append calls
 * log_write; flush_log (never called from there) unlocks the mutex that log_append takes.
 * Depth 2: handle_request, parse, log_append, log_write; and flush_log, always.  So is what the threads may do before a request is
 * picked up (beside.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/file.h"
#include "base/map.h"
#include "project/build/beside.h"
#include "project/build/choose_plan.h"
#include "trace/format.h"

#define DISTANCE_NONE UINT32_MAX

static bool function_matches(const struct project_function *f, const struct location *l)
{
	return l->function && location_names(l->function, f->name) &&
	       (!l->file || location_file_matches(l->file, f->file));
}

/* Distances in calls from the roots; roots have 0. */
struct search {
	const struct project *p;
	uint32_t *distance;
	VEC(uint32_t) queue;
	bool *begins_inside;		/* roots that are entered before the interval begins in them */
	bool *starts;			/* roots where an interval begins, or goes on */
	size_t root_cnt;
};

static void add_root(struct search *s, uint32_t function, bool begins_inside, bool starts)
{
	s->begins_inside[function] |= begins_inside;
	s->starts[function] |= starts;
	if (s->distance[function] == 0)
		return;
	s->distance[function] = 0;
	s->root_cnt++;
	VEC_ADD(&s->queue, function);
}

/* The function that FILE:LINE is in: the one of that file whose body begins last before the line. */
static void add_root_at_line(struct search *s, const struct location *l, bool starts)
{
	uint32_t best = DISTANCE_NONE;

	for (uint32_t i = 0; i < s->p->functions.cnt; i++) {
		const struct project_function *f = &s->p->functions.items[i];

		if (f->line <= l->line && location_file_matches(l->file, f->file) &&
		    (best == DISTANCE_NONE || f->line > s->p->functions.items[best].line))
			best = i;
	}
	if (best != DISTANCE_NONE)
		add_root(s, best, true, starts);
}

static void add_roots_at(struct search *s, const struct location *l, bool starts)
{
	if (l->place == PLACE_LINE) {
		add_root_at_line(s, l, starts);
		return;
	}
	for (uint32_t i = 0; i < s->p->functions.cnt; i++)
		if (function_matches(&s->p->functions.items[i], l))
			add_root(s, i, false, starts);
}

/* VPROF_BEGIN and its like expand to a call of SCAN_MARK. */
static void add_marked_roots(struct search *s, const units *scanned)
{
	_cleanup_(map_freep) struct map *by_key = map_new();

	for (uint32_t i = 0; i < s->p->functions.cnt; i++)
		map_set(by_key, s->p->functions.items[i].key, i);
	for (size_t u = 0; u < scanned->cnt; u++) {
		const struct unit *unit = scanned->items[u];

		for (size_t c = 0; c < unit->calls.cnt; c++) {
			const struct scan_call *call = &unit->calls.items[c];
			uint64_t function;

			if (call->callee && strcmp(call->callee, SCAN_MARK) == 0 &&
			    map_get(by_key, unit->functions.items[call->caller].key, &function))
				add_root(s, (uint32_t)function, true, true);
		}
	}
}

static void walk_down(struct search *s, unsigned depth)
{
	/* calls are grouped by caller: first_call[f] .. first_call[f + 1] */
	uint32_t *first = xcalloc(s->p->functions.cnt + 2, sizeof(*first));
	uint32_t *callees = xcalloc(s->p->calls.cnt + 1, sizeof(*callees));

	for (size_t i = 0; i < s->p->calls.cnt; i++)
		first[s->p->calls.items[i].caller + 2]++;
	for (size_t i = 2; i < s->p->functions.cnt + 2; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; i < s->p->calls.cnt; i++)
		callees[first[s->p->calls.items[i].caller + 1]++] = s->p->calls.items[i].callee;

	for (size_t q = 0; q < s->queue.cnt; q++) {
		uint32_t f = s->queue.items[q];

		if (s->distance[f] >= depth)
			continue;
		for (uint32_t i = first[f]; i < first[f + 1]; i++)
			if (s->distance[callees[i]] == DISTANCE_NONE &&
			    !s->p->functions.items[callees[i]].left_out) {
				s->distance[callees[i]] = s->distance[f] + 1;
				VEC_ADD(&s->queue, callees[i]);
			}
	}
	free(first);
	free(callees);
}

static void search_begin(struct search *s, const struct project *p, const struct config *c,
			 const units *scanned)
{
	*s = (struct search){
		.p = p,
		.distance = xmalloc((p->functions.cnt + 1) * sizeof(uint32_t)),
		.begins_inside = xcalloc(p->functions.cnt + 1, sizeof(bool)), .starts = xcalloc(p->functions.cnt + 1, sizeof(bool)),
	};
	for (size_t i = 0; i < p->functions.cnt; i++)
		s->distance[i] = DISTANCE_NONE;
	for (size_t i = 0; i < c->intervals.cnt; i++) {
		const struct interval_directive *d = &c->intervals.items[i];

		add_roots_at(s, &d->start, true);
		add_roots_at(s, &d->end, false);
		for (size_t k = 0; k < d->resumes.cnt; k++)
			add_roots_at(s, &d->resumes.items[k], true);
	}
	add_marked_roots(s, scanned);
}

static void search_release(struct search *s)
{
	VEC_RELEASE(&s->queue);
	free(s->begins_inside);
	free(s->starts);
	free(s->distance);
}

size_t choose_roots(const struct project *p, const struct config *c, const units *scanned,
		    bool *ret_roots, bool *ret_inside)
{
	struct search s;

	search_begin(&s, p, c, scanned);
	for (size_t i = 0; i < p->functions.cnt; i++) {
		ret_roots[i] = s.distance[i] == 0;
		ret_inside[i] = s.begins_inside[i];
	}
	search_release(&s);
	return s.root_cnt;
}

void choose_plan(const struct project *p, const struct config *c, const units *scanned,
		 unsigned depth, struct plan *ret, size_t *ret_root_cnt)
{
	_cleanup_(freep) bool *reached = xcalloc(p->functions.cnt + 1, sizeof(bool)), *beside = xcalloc(p->functions.cnt + 1, sizeof(bool));
	struct search s;

	search_begin(&s, p, c, scanned);
	walk_down(&s, depth);
	for (size_t i = 0; i < p->functions.cnt; i++)
		reached[i] = s.distance[i] != DISTANCE_NONE;
	find_beside(p, s.starts, reached, beside);
	for (size_t i = 0; i < p->functions.cnt; i++) {
		const struct project_function *f = &p->functions.items[i];

		if ((f->releases && !f->looked_through) || s.begins_inside[i] || beside[i])
			plan_add_shown(ret, PLAN_ALWAYS, f->key, f->file, f->line, f->name);
		else if (s.distance[i] == 0 || (s.distance[i] != DISTANCE_NONE && !f->looked_through))
			plan_add_shown(ret, PLAN_IN_INTERVALS, f->key, f->file, f->line, f->name);
	}
	*ret_root_cnt = s.root_cnt;
	search_release(&s);
}

static int add_name(const struct project *p, const char *word, struct plan *ret, struct diag *reterr)
{
	struct location l = { 0 };
	size_t found = 0;
	int r = location_parse(word, &l, reterr);

	if (r < 0)
		return r;
	if (l.key || l.condition) {
		location_release(&l);
		return diag_set(reterr, EXIT_USAGE, -EINVAL, "'%s': a function to record has no key and no "
				"condition", word);
	}
	for (size_t i = 0; i < p->functions.cnt; i++) {
		const struct project_function *f = &p->functions.items[i];

		if (function_matches(f, &l)) {
			plan_add_shown(ret, PLAN_ALWAYS, f->key, f->file, f->line, f->name);
			found++;
		}
	}
	if (!found) {
		const char **names = xcalloc(p->functions.cnt + 1, sizeof(*names));

		for (size_t i = 0; i < p->functions.cnt; i++)
			names[i] = p->functions.items[i].name;

		const char *nearest = nearest_word(l.function ? l.function : word, names, p->functions.cnt);

		r = diag_set(reterr, EXIT_USAGE, -ENOENT, nearest ?
			     "no function of the project is called '%s'; the nearest is '%s'" :
			     "no function of the project is called '%s'", word, nearest);
		r = diag_remedy(reterr, r, "vprof show call-graph lists the functions; --functions FILE: one name a line");
		free(names);
	}
	location_release(&l);
	return r;
}

/* "log_append  # the culprit" -> "log_append  " */
static void drop_comment(char *line)
{
	for (char *s = line; *s; s++)
		if (*s == '#' && (s == line || s[-1] == ' ' || s[-1] == '\t')) {
			*s = '\0';
			return;
		}
}

/* Up to the separator that is not inside a function's parameters. */
static size_t word_length(const char *text, char separator)
{
	size_t depth = 0, len = 0;

	for (; text[len] && (text[len] != separator || (depth && separator == ',')); len++) {
		depth += text[len] == '(';
		depth -= depth && text[len] == ')';
	}
	return len;
}

int plan_from_text(const struct project *p, const char *text, struct plan *ret, struct diag *reterr)
{
	_cleanup_(freep) char *file = NULL;
	const char *separators = ",";
	int r = 0;

	if (strcmp(text, "all") == 0) {
		ret->all = PLAN_ALWAYS;
		return 0;
	}
	if (file_exists(text) || *text == '/' || starts_with(text, "./") || starts_with(text, "../")) {
		r = file_read_given(text, &file, NULL);
		if (r < 0)
			return diag_set(reterr, EXIT_USAGE, r, "cannot read '%s': %s", text, strerror(-r));
		separators = "\n";
		text = file;
	}
	while (r == 0 && *text) {
		size_t len = word_length(text, *separators);
		size_t blank = strspn(text, " \t");
		_cleanup_(freep) char *word = NULL;

		if (blank > len)
			blank = len;
		word = xstrndup(text + blank, len - blank);
		if (file)
			drop_comment(word);
		for (size_t end = strlen(word); end && strchr(" \t\r", word[end - 1]); end--)
			word[end - 1] = '\0';
		if (*word)
			r = add_name(p, word, ret, reterr);
		text += len + (text[len] != '\0');
	}
	return r;
}

size_t plan_functions_max = TRACE_FIDS_MAX;

int plan_fits(const struct plan *p, const units *scanned, struct diag *reterr)
{
	_cleanup_(map_freep) struct map *recorded = map_new();

	for (size_t u = 0; u < scanned->cnt; u++) {
		for (size_t i = 0; i < scanned->items[u]->functions.cnt; i++) {
			const struct scan_function *f = &scanned->items[u]->functions.items[i];
			enum plan_level level = f->skipped ? PLAN_OFF : plan_level_of(p, f->key);

			if (level == PLAN_IN_INTERVALS || level == PLAN_ALWAYS)
				map_set(recorded, f->key, 1);
		}
	}
	if (map_cnt(recorded) <= plan_functions_max)
		return 0;
	diag_set(reterr, EXIT_USAGE, -E2BIG,
		 "%zu functions are to be recorded, and a recording has numbers for %zu: the others would not be recorded, and their "
		 "time would count as their callers'", map_cnt(recorded), plan_functions_max);
	return diag_remedy(reterr, -E2BIG, "vprof build --functions FILE (names, one a line), or without --functions: the callees of "
			   "the interval's root, --depth N calls down");
}
