/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run_digest.c - sums up a run's traces, and analyzes runs that consist of sums.
 *
 * Each part of a merged run is summed up as a recording of its own.  So its host stays known, and merging its digest with that of a
 * part is detected.
 */
#include "project/digests/run_digest.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/banned.h"
#include "base/file.h"
#include "base/map.h"
#include "digest/digest.h"
#include "digest/unite.h"
#include "project/config/locate.h"
#include "project/digests/recorded_by.h"
#include "project/runs/digest_runs.h"
#include "project/runs/origins.h"
#include "project/runs/project.h"
#include "project/runs/run_parts.h"
#include "project/runs/run_windows.h"

enum { AT_ONCE = 64 };			/* kinds of intervals in one transaction */

/* ---- summing up a trace ---- */

struct summing_up {
	struct analyzer *analyzer;
	const struct trace *names;
	int64_t window_ns;
};

static void begin(void *arg, const struct trace *names)
{
	struct summing_up *u = arg;

	analyzer_free(u->analyzer);
	u->analyzer = analyzer_new();
	analyzer_sum_up(u->analyzer, u->window_ns);
	u->names = names;
}

static void take_window(void *arg, const struct trace_window *w)
{
	struct summing_up *u = arg;

	analyzer_add(u->analyzer, &(struct analysis_window){ w->t, w->before_ns, w->until_ns });
}

/* The time of the recording comes from the run; for a part of a merged run, from the run that the part was. */
void run_part_source(struct store *s, const struct run *r, const struct run_part *part, struct arena *arena, struct summed_source *source)
{
	_cleanup_(run_release) struct run own = { 0 };
	_cleanup_(freep) char *number = xasprintf("%" PRIu32, part->run);
	const struct run *of = r;

	recorded_by_read(part->path, arena, source);
	if (part->run != r->number && run_find(s, number, &own, NULL) == 0)
		of = &own;
	source->run = arena_strdup(arena, number);
	source->started_ns = of->number == part->run ? of->started_ns : 0;
	source->recording = hash_u64(hash_str(hash_str(0, source->machine), source->boot), (uint64_t)source->started_ns);
	source->recording = hash_u64(source->recording, part->run);
}

static int sum_part(struct store *s, const struct run *r, const struct run_part *part, int64_t window_ns, struct summed **ret,
		    struct diag *reterr)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	_cleanup_(run_windows_freep) struct run_windows *windows = NULL;
	struct summing_up u = { .window_ns = window_ns };
	struct summed_source source;
	int e = run_windows_read_part(s, part, 2, &(struct window_taker){ .begin = begin, .take = take_window, .arg = &u }, &windows, reterr);

	if (e == 0) {
		run_part_source(s, r, part, arena, &source);
		e = analyzer_summed(u.analyzer, u.names, &source, ret);
		if (e < 0) {
			diag_set(reterr, EXIT_USAGE, e, "more than %d windows", SUMMED_WINDOWS_MAX);
			diag_remedy(reterr, e, "vprof export --format digest --window 60s: longer windows are fewer");
		}
	}
	analyzer_free(u.analyzer);
	return e;
}

static int read_kept(const struct store *s, const struct run *r, struct summed **ret, struct diag *reterr)
{
	_cleanup_(freep) char *path = run_digest_path(s, r->number);

	return digest_read(path, ret, reterr);
}

int run_digest_read(struct store *s, const struct run *r, int64_t window_ns, struct summed **ret, struct diag *reterr)
{
	_cleanup_(run_parts_release) run_parts parts = { NULL, 0, 0 };
	_cleanup_(uniter_freep) struct uniter *u = uniter_new();
	int e;

	if (run_is_digest(s, r)) {
		e = read_kept(s, r, ret, reterr);
		if (e == 0 && window_ns)
			e = summed_roll_up(*ret, window_ns, reterr);
		return e;
	}
	e = run_parts_find(s, r, &parts, reterr);
	for (size_t i = 0; e == 0 && i < parts.cnt; i++) {
		_cleanup_(summed_freep) struct summed *part = NULL;

		e = sum_part(s, r, &parts.items[i], window_ns, &part, reterr);
		if (e == 0)
			uniter_add(u, part);
	}
	return e < 0 ? e : uniter_end(u, ret, reterr);
}

/* ---- results ---- */

static int find(const struct summed *digest, const struct analyze_options *o, struct findings **ret, struct diag *reterr)
{
	int e = summed_findings(digest, o, ret);

	if (e == -EOVERFLOW) {
		diag_set(reterr, EXIT_DATA, e, "the intervals are too many, or too long, to be summed up exactly");
		diag_remedy(reterr, e, "merge fewer digests: n times the square of the longest latency is to stay below 2^124 ns^2");
	}
	return e;
}

static int write_others(struct store *s, uint32_t run, const struct summed *digest, struct analyze_options *o,
			const struct findings *first, struct diag *reterr)
{
	int e = 0;

	o->no_names = true;
	for (size_t at = 0; e == 0 && at < first->interval_names.cnt; ) {
		struct findings *list[AT_ONCE];
		size_t cnt = 0;

		for (; e == 0 && at < first->interval_names.cnt && cnt < AT_ONCE; at++) {
			o->interval = first->interval_names.items[at];
			if (first->interval.name && strcmp(o->interval, first->interval.name) == 0)
				continue;
			e = find(digest, o, &list[cnt], reterr);
			cnt += e == 0;
		}
		if (e == 0 && cnt)
			e = findings_write(s, run, list, cnt, reterr);
		while (cnt)
			findings_free(list[--cnt]);
	}
	return e;
}

static double overhead_of_config(void)
{
	_cleanup_(config_release) struct config config = { 0 };

	return project_config(&config, NULL) == 0 ? config.overhead : 0;
}

static int analyze_sums(struct store *s, struct run *r, const struct summed *digest, struct findings **ret, struct diag *reterr)
{
	_cleanup_(findings_freep) struct findings *first = NULL;
	struct analyze_options o = { .overhead = overhead_of_config() };
	int e = find(digest, &o, &first, reterr);

	if (e == 0)
		e = findings_write(s, r->number, &first, 1, reterr);
	if (e == 0)
		e = write_others(s, r->number, digest, &o, first, reterr);
	if (e < 0)
		return e;
	r->status = RUN_ANALYSED;
	r->interval_cnt = first->interval.cnt;
	for (size_t i = 0; i < digest->windows.cnt; i++)
		r->lost_records += digest->windows.items[i].counts.lost_records;
	e = run_update(s, r, reterr);
	if (e == 0)
		*ret = TAKE_PTR(first);
	return e;
}

int run_digest_analyze(struct store *s, struct run *r, struct findings **ret, struct diag *reterr)
{
	_cleanup_(summed_freep) struct summed *digest = NULL;
	int e = read_kept(s, r, &digest, reterr);

	r->lost_records = 0;
	return e < 0 ? e : analyze_sums(s, r, digest, ret, reterr);
}

int run_digest_analyze_at(const struct store *s, const struct run *r, const char *interval, double quantile, struct findings **ret,
			  struct diag *reterr)
{
	_cleanup_(summed_freep) struct summed *digest = NULL;
	struct analyze_options o = { .interval = interval, .quantile = quantile, .overhead = overhead_of_config() };
	int e = read_kept(s, r, &digest, reterr);

	if (e == 0)
		e = origins_choose_sums(r, digest, reterr);
	if (e == 0)
		e = find(digest, &o, ret, reterr);
	if (e == -ENOENT && r->origin)
		e = diag_set(reterr, EXIT_USAGE, e, "no interval '%s' in run %" PRIu32 " is from '%s'", interval, r->number, r->origin);
	else if (e == -ENOENT)
		e = diag_set(reterr, EXIT_DATA, -EBADMSG, "the digest of run %" PRIu32 " does not hold intervals '%s' any more",
			     r->number, interval);
	return e;
}

static int write_digest(const struct store *s, uint32_t run, const struct summed *digest, struct diag *reterr)
{
	_cleanup_(str_release) struct str bytes = STR_INIT;
	_cleanup_(freep) char *path = run_digest_path(s, run);
	int e = digest_write(digest, &bytes, reterr);

	if (e < 0)
		return e;
	e = file_write(path, bytes.data, bytes.len, 0600);
	if (e < 0)
		return diag_set(reterr, EXIT_ENVIRONMENT, e, "cannot write '%s': %s", path, strerror(-e));
	return 0;
}

int run_digest_keep(struct store *s, const struct summed *digest, const char *source, const struct args *words, const char *name,
		    struct run *run, struct findings **ret, struct diag *reterr)
{
	int e = run_create_from(s, source, words, name, run, reterr);

	if (e == 0)
		e = write_digest(s, run->number, digest, reterr);
	return e < 0 ? e : analyze_sums(s, run, digest, ret, reterr);
}
