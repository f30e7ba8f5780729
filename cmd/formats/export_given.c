/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export_given.c - see export_given.h. */
#include "cmd/formats/export_given.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "cmd/formats/pieces/choose.h"
#include "cmd/messages.h"
#include "project/runs/digest_runs.h"
#include "project/runs/project.h"
#include "project/runs/run_excerpt.h"
#include "project/runs/run_paths.h"

static const char *arg_intervals, *arg_metric, *arg_view;
const char *export_interval;

const struct option_desc export_intervals_options[] = {
	{ 0, "intervals", "WHICH", OPT_STR, &arg_intervals,
	  "formats of single intervals: SLOWEST:N, SAMPLE:N or all (default SLOWEST:200)" },
	OPT_END
};
const struct option_desc export_metric_options[] = {
	{ 0, "metric", "METRIC", OPT_STR, &arg_metric,
	  "folded: variance (ppm, default), tail (ns more in the slowest 1 %) or mean (ns)" },
	OPT_END
};
const struct option_desc export_view_options[] = {
	{ 0, "view", "VIEW", OPT_STR, &arg_view, "svg: tree (default), latency, wait-graph or causal" },
	OPT_END
};

bool export_intervals_given(void)
{
	return arg_intervals;
}

bool export_metric_given(void)
{
	return arg_metric;
}

bool export_view_given(void)
{
	return arg_view;
}

static int take_metric(enum export_metric *ret, struct diag *reterr)
{
	static const char *const names[EXPORT_METRIC_CNT] = {
		[EXPORT_VARIANCE] = "variance", [EXPORT_TAIL] = "tail", [EXPORT_MEAN] = "mean",
	};

	*ret = EXPORT_VARIANCE;
	for (unsigned m = 0; arg_metric && m < EXPORT_METRIC_CNT; m++)
		if (strcmp(arg_metric, names[m]) == 0) {
			*ret = (enum export_metric)m;
			return 0;
		}
	if (!arg_metric)
		return 0;
	diag_set(reterr, EXIT_USAGE, -EINVAL, "export: --metric is variance, tail or mean, not '%s'", arg_metric);
	return diag_remedy(reterr, -EINVAL, "vprof export --format folded --metric tail");
}

static int nothing(const struct run *r, struct diag *reterr)
{
	diag_set(reterr, EXIT_NO_EVIDENCE, -ENODATA, "run %u has no intervals: there is nothing to export", r->number);
	return diag_remedy(reterr, -ENODATA, "vprof show runs   (then vprof export RUN)");
}

/* A writer's input; reading_release() in any case. */
struct reading {
	struct store *store;
	struct findings *findings;
	struct trace *trace;
	struct run_excerpt *excerpt;
	struct run_paths *path_names;
	struct arena *arena;		/* of the paths */
	path_pieces *paths;		/* by chosen */
	size_t *chosen, chosen_cnt;
	const struct interval_row **rows;	/* by chosen */
};

static void reading_release(struct reading *g)
{
	for (size_t i = 0; g->paths && i < g->chosen_cnt; i++)
		VEC_RELEASE(&g->paths[i]);
	free(g->paths);
	arena_free(g->arena);
	run_paths_free(g->path_names);
	run_excerpt_free(g->excerpt);
	trace_free(g->trace);
	free(g->rows);
	free(g->chosen);
	findings_free(g->findings);
}

static void choose(struct reading *g, const struct choice *choice)
{
	const struct findings *f = g->findings;

	g->chosen = choose_intervals(f, choice, &g->chosen_cnt);
	g->rows = xcalloc(g->chosen_cnt + 1, sizeof(*g->rows));
	for (size_t i = 0; i < g->chosen_cnt; i++)
		g->rows[i] = &f->intervals.items[g->chosen[i]];
	if (g->chosen_cnt < f->interval.cnt)
		note_line("%zu of %zu intervals are written; --intervals chooses others, or all", g->chosen_cnt, (size_t)f->interval.cnt);
}

static int64_t first_moment(const struct trace *t)
{
	int64_t first_ns = INT64_MAX;

	for (size_t i = 0; i < t->intervals.cnt; i++)
		first_ns = t->intervals.items[i].start_ns < first_ns ? t->intervals.items[i].start_ns : first_ns;
	for (size_t i = 0; i < t->segments.cnt; i++)
		first_ns = t->segments.items[i].start_ns < first_ns ? t->segments.items[i].start_ns : first_ns;
	return first_ns;
}

static int read_whole(struct reading *g, struct export_input *in, struct diag *reterr)
{
	int e = run_trace_read(g->store, in->run, &g->trace, reterr);

	if (e < 0)
		return e;
	trace_sort(g->trace);
	in->trace = g->trace;
	in->first_ns = first_moment(g->trace);
	return 0;
}

static int read_excerpt(struct reading *g, struct export_input *in, struct diag *reterr)
{
	int e;

	progress_line("run %" PRIu32 ": reading where its trace has %zu interval%s", in->run->number, g->chosen_cnt, g->chosen_cnt == 1 ? "" : "s");
	e = run_excerpt_read(g->store, in->run, g->rows, g->chosen_cnt, &g->excerpt, reterr);
	progress_done();
	if (e < 0)
		return e;
	in->trace = run_excerpt_trace(g->excerpt);
	in->first_ns = run_excerpt_first_ns(g->excerpt);
	return 0;
}

static int read_paths(struct reading *g, struct export_input *in, struct diag *reterr)
{
	int e;

	g->arena = arena_new();
	in->paths = g->paths = xcalloc(g->chosen_cnt + 1, sizeof(*g->paths));
	progress_line("run %" PRIu32 ": reading where its trace has %zu interval%s", in->run->number, g->chosen_cnt, g->chosen_cnt == 1 ? "" : "s");
	e = run_paths_read_some(g->store, in->run, g->rows, g->chosen_cnt, g->arena, g->paths, &g->path_names, reterr);
	progress_done();
	return e;
}

static int read_needed(struct reading *g, const struct export_writer *w, const struct choice *choice, struct export_input *in,
		       struct diag *reterr)
{
	int e = findings_read(g->store, in->run->number, export_interval, &g->findings, reterr);

	if (e == 0 && !g->findings->interval.cnt)
		e = nothing(in->run, reterr);
	if (e < 0)
		return e;
	in->findings = g->findings;
	if (!w->takes_intervals)
		return 0;
	if (in->is_digest)
		return run_digest_refuse(in->run, "this", reterr);
	choose(g, choice);
	in->chosen = g->chosen;
	in->chosen_cnt = g->chosen_cnt;
	if (choice->kind == CHOICE_ALL)
		return read_whole(g, in, reterr);
	return w->takes_paths ? read_paths(g, in, reterr) : read_excerpt(g, in, reterr);
}

int export_given(FILE *out, struct store *s, const struct run *r, const struct export_writer *w, struct diag *reterr)
{
	_cleanup_(reading_release) struct reading reading = { .store = s };
	struct export_input in = { .run = r, .view = arg_view, .is_digest = run_is_digest(s, r), .first_ns = INT64_MAX };
	struct choice choice;
	int e = choice_parse(arg_intervals, &choice, reterr);

	if (e == 0)
		e = take_metric(&in.metric, reterr);
	if (e == 0 && w->check)
		e = w->check(&in, reterr);
	if (e == 0 && w->is_of_run && w->is_of_run(&in))
		return w->write_run(out, s, &in, reterr);
	if (e == 0)
		e = read_needed(&reading, w, &choice, &in, reterr);
	return e < 0 ? e : w->write(out, &in);
}
