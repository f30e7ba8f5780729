/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report.h - findings -> what people and programs read.
 *
 * A view is one row of report_views[]: what it needs and how it is worded in each format.  cmd/show
 * fetches what is needed into a struct view_input and calls the function; no view reads a file.
 *
 * Text answers first, with a sentence; JSON is CONTRACT section 4; CSV is RFC 4180 with lines
 * that end in '\n'.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/execution_table.h"
#include "analysis/explain.h"
#include "analysis/blocked_samples.h"
#include "analysis/causes.h"
#include "analysis/criticality.h"
#include "analysis/findings.h"
#include "analysis/wait_graph.h"
#include "report/sentence.h"
#include "store/store.h"

/* Where text goes and what may be used there. */
struct style {
	FILE *out;
	unsigned width;			/* columns; 0: no limit */
	bool utf8, colour;
};

/* UTF-8 as the locale says, colour and width as the terminal allows:
 * NO_COLOR, TERM=dumb, COLUMNS are honoured. */
void style_init(struct style *s, FILE *out, bool ascii);

struct view_options {
	struct select_options ranking;		/* of factors; ranking.all: everything, of other views too */
	unsigned depth;			/* tree, call graph: levels below the root; 0: all */
	double min_share;		/* tree: smaller ones are summed up in one line */
	unsigned slowest;		/* intervals: how many */
	bool slowest_given;		/* by the user: holds for JSON and CSV, too */
	const char *above, *below;	/* call graph: callers, callees of that function */
	bool no_collapse;		/* tree: a line for every function of a chain */
};

#define VIEW_OPTIONS_INIT \
	{ { FACTORS_K_DEFAULT, FACTORS_THRESHOLD_DEFAULT, false, false }, 0, 0.01, 20, false, NULL, NULL, false }

/* One interval, explained. */
struct explained {
	const struct interval_row *row;
	size_t rank;			/* 1: the slowest of interval.cnt */
	path_pieces pieces;
};

/* What a view is made from; a view uses the parts that its `needs` names. */
struct view_input {
	struct view_options options;
	const struct run *run;
	const struct findings *findings;
	const struct trace *trace;		/* for names of threads */
	const struct explained *paths;		/* slowest first */
	size_t path_cnt;
	const execution_rows *rows;
	enum charge charge;
	const caused_list *causes;
	const runs *runs;
	const iterations *iterations;	/* in order of run; NULL: none */
	const struct project *project;
	const planned_functions *planned;	/* of run; NULL or empty: none */
	const uint32_t *heights;		/* of project->functions */
	const struct wait_graph *wait_graph;
	const struct criticality *criticality;
	const struct blocked_samples *samples;
};

enum view_needs {
	NEEDS_FINDINGS, NEEDS_PATHS, NEEDS_EXECUTION_TABLE, NEEDS_CAUSES, NEEDS_RUNS,
	NEEDS_PROJECT,			/* project and heights, of the last build */
	NEEDS_CALL_GRAPH,		/* the same, or of a run */
	NEEDS_WAIT_GRAPH, NEEDS_CRITICALITY, NEEDS_SAMPLES	/* of a run's trace, no interval */
};

struct view {
	const char *name, *summary;
	enum view_needs needs;
	void (*text)(const struct style *s, const struct view_input *in);
	json_t *(*json)(const struct view_input *in);
	void (*csv)(FILE *out, const struct view_input *in);
	void (*dot)(FILE *out, const struct view_input *in);
	void (*folded)(FILE *out, const struct view_input *in);
};

/* Of --by cause; not in the list. */
extern const struct view view_by_cause;

/* The view of that name, or NULL. */
const struct view *view_find(const char *name);

extern const struct view report_views[];
extern const size_t report_view_cnt;

/* Writes what a view's json function made. */
void report_write_json(FILE *out, const json_t *document);

#endif
