/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export_given.c - see export_given.h. */
#include "cmd/formats/export_given.h"

#include <errno.h>
#include <string.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "cmd/formats/pieces/choose.h"
#include "cmd/messages.h"
#include "project/runs/digest_runs.h"
#include "project/runs/project.h"

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

static int read_needed(struct store *s, const struct run *r, bool with_trace, struct findings **ret_f, struct trace **ret_t,
		       struct diag *reterr)
{
	int e = findings_read(s, r->number, export_interval, ret_f, reterr);

	if (e == 0 && !(*ret_f)->interval.cnt)
		e = nothing(r, reterr);
	if (e == 0 && with_trace)
		e = run_trace_read(s, r, ret_t, reterr);
	if (e == 0 && *ret_t)
		trace_sort(*ret_t);
	return e;
}

int export_given(FILE *out, struct store *s, const struct run *r, const struct export_writer *w, struct diag *reterr)
{
	_cleanup_(findings_freep) struct findings *f = NULL;
	_cleanup_(trace_freep) struct trace *t = NULL;
	_cleanup_(freep) size_t *chosen = NULL;
	struct export_input in = { .run = r, .view = arg_view, .is_digest = run_is_digest(s, r) };
	struct choice choice;
	int e = choice_parse(arg_intervals, &choice, reterr);

	if (e == 0)
		e = take_metric(&in.metric, reterr);
	if (e == 0 && w->check)
		e = w->check(&in, reterr);
	if (e == 0 && w->is_of_run && w->is_of_run(&in))
		return w->write_run(out, s, &in, reterr);
	if (e == 0)
		e = read_needed(s, r, w->takes_intervals, &f, &t, reterr);
	if (e < 0)
		return e;
	in.trace = t;
	in.findings = f;
	if (w->takes_intervals) {
		in.chosen = chosen = choose_intervals(f, &choice, &in.chosen_cnt);
		if (in.chosen_cnt < f->interval.cnt)
			note_line("%zu of %zu intervals are written; --intervals chooses others, or all", in.chosen_cnt,
				  (size_t)f->interval.cnt);
	}
	return w->write(out, &in);
}
