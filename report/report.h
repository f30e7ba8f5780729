/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report.h - turns findings into text for people and documents for programs.
 *
 * A view is a struct view of its own file: what it needs, its options, what it makes of that, and how it is worded in
 * each format.  cmd/show reads what is needed into a struct view_input; no view reads a file.
 *
 * Text answers first, with a sentence; JSON is that of vprof-formats(5); CSV is RFC 4180 with lines that end in '\n'.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/tree/execution_table.h"
#include "analysis/path/explain.h"
#include "analysis/whole_run/blocked_samples.h"
#include "analysis/tree/causes.h"
#include "analysis/whole_run/criticality.h"
#include "analysis/findings/findings.h"
#include "analysis/whole_run/wait_graph.h"
#include "base/option.h"
#include "store/store.h"

/* Where text goes, and which characters and colours it may use. */
struct style {
	FILE *out;
	unsigned width;			/* columns; 0: no limit */
	bool utf8, colour;
};

/* UTF-8 as the locale says, colour and width as the terminal allows:
 * NO_COLOR, TERM=dumb, COLUMNS are honoured. */
void style_init(struct style *s, FILE *out, bool ascii);

/* Options that several files read; an option of one view is a variable of its file. */
struct view_options {
	struct select_options ranking;		/* of factors; ranking.all: everything, of other views too */
	unsigned depth;			/* tree, call graph: levels below the root; 0: all */
	double min_share;		/* tree: smaller ones are summed up in one line */
	unsigned slowest;		/* intervals: how many, in JSON and CSV, too; 0: not given */
	const char *above, *below;	/* call graph: callers, callees of that function */
	bool no_collapse;		/* tree: a line for every function of a chain */
	const char *by;			/* "cause": the view's by_cause instead; NULL: not given */
	const char *interval;		/* its name, or SID; NULL: not given */
	const char *origin;		/* of a merged run: only the intervals from that host or run; NULL: not given */
	double quantile;		/* slow is what is above it */
	double threshold;		/* NAN: each view has its own default */
};

#define VIEW_OPTIONS_INIT {										\
	.ranking = { FACTORS_K_DEFAULT, FACTORS_THRESHOLD_DEFAULT, false, false }, .min_share = 0.01,	\
	.quantile = TAIL_QUANTILE_DEFAULT, .threshold = NAN }

/* The user's options: the tables of options write here. */
extern struct view_options view_given;

enum view_needs {
	NEEDS_FINDINGS = 1,		/* of a run's intervals of one name */
	NEEDS_SID = 2,			/* with NEEDS_FINDINGS: --interval may be the SID of one */
	NEEDS_TRACE = 4,		/* the run's trace is read again */
	NEEDS_RUNS = 8,			/* all runs and iterations */
	NEEDS_PROJECT = 16,		/* project and heights, of the last build; planned, of a run */
	NEEDS_INTERVALS = 64,		/* with NEEDS_FINDINGS: each of them, which a run made of digests has not */
	NEEDS_CALL_GRAPH = 32,		/* project and heights, of the last build, or of a run */
	NEEDS_EXPERIMENTS = 128,	/* causal experiments of a run */
	NEEDS_PATHS = 256		/* with NEEDS_FINDINGS: explain(), which reads what it needs of the trace */
};

/* The input of a view: the members that its `needs` name, and the run; the others are NULL. */
struct view_input {
	struct view_options options;
	const struct run *run;
	const struct findings *findings;
	const uint64_t *sid;			/* NEEDS_SID; NULL: --interval was none */
	struct trace *trace;
	/*
	 * NEEDS_PATHS: the critical paths of the intervals of these rows of the findings, pieces by row, in the arena; names: of
	 * threads, valid as long as the input.
	 */
	int (*explain)(void *explainer, const struct interval_row *const *rows, size_t cnt, struct arena *a, path_pieces *ret,
		       const struct trace **ret_names, struct diag *reterr);
	void *explainer;
	const runs *runs;
	const iterations *iterations;		/* in order of run */
	const struct project *project;
	const planned_functions *planned;
	const uint32_t *heights;		/* of project->functions */
	struct experiments *experiments;	/* the view may leave some out */
	const void *made;			/* by the view's make() */
};

struct view {
	const char *name, *summary;
	unsigned needs;				/* enum view_needs, or-ed */
	const struct option_desc *options;	/* its own; ends in OPT_END; NULL: none */
	int (*check)(struct diag *reterr);	/* checks its options, before a run is looked up; NULL: nothing to check */
	/* Makes the data to show from the input; NULL: shows the input.  *ret is released whatever make() returns, if
	 * it is not NULL. */
	int (*make)(const struct view_input *in, void **ret, struct diag *reterr);
	void (*release)(void *made);
	const struct view *by_cause;		/* of --by cause; NULL: the view has none */
	/* NULL: the view lacks that format; all have text and json. */
	void (*text)(const struct style *s, const struct view_input *in);
	json_t *(*json)(const struct view_input *in);
	void (*csv)(FILE *out, const struct view_input *in);
	void (*dot)(FILE *out, const struct view_input *in);
	void (*folded)(FILE *out, const struct view_input *in);
	void (*svg)(FILE *out, const struct view_input *in);
};

/* The view of that name, or NULL. */
const struct view *view_find(const char *name);

extern const struct view *const report_views[];
extern const size_t report_view_cnt;

/* Writes what a view's json function made. */
void report_write_json(FILE *out, const json_t *document);

#endif
