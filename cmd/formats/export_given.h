/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_given.h - the common part of formats for other tools: reads what they need of a run, and parses --interval, --intervals,
 * --metric and --view.  Private to cmd/formats/ and cmd/export.c.
 */
#ifndef CMD_FORMATS_EXPORT_GIVEN_H
#define CMD_FORMATS_EXPORT_GIVEN_H

#include <stdio.h>
#include "analysis/findings/findings.h"
#include "analysis/path/explain.h"
#include "base/diag.h"
#include "base/option.h"
#include "store/store.h"
#include "trace/model.h"

enum export_metric { EXPORT_VARIANCE, EXPORT_TAIL, EXPORT_MEAN, EXPORT_METRIC_CNT };

struct export_input {
	const struct run *run;
	bool is_digest;			/* the run has sums and no single intervals */
	struct trace *trace;		/* sorted; NULL: the writer takes no intervals, or paths.  All of it, or an excerpt
					 * (trace/windows/excerpt.h) if some intervals were chosen */
	int64_t first_ns;		/* the first moment of the whole trace; INT64_MAX: it has none */
	const struct findings *findings;
	const size_t *chosen;		/* indexes into findings->intervals, in order of start */
	size_t chosen_cnt;
	const path_pieces *paths;	/* by chosen, of those that take paths, if not all were chosen; else NULL */
	enum export_metric metric;	/* --metric */
	const char *view;		/* --view; NULL: not given */
};

struct export_writer {
	bool takes_intervals;		/* needs the single intervals that --intervals chooses, and the trace; else only findings */
	bool takes_paths;		/* ... and only their critical paths of the trace */
	int (*check)(const struct export_input *in, struct diag *reterr);	/* checks the options before reading; or NULL */
	int (*write)(FILE *out, const struct export_input *in);	/* 0, or a negative errno */
	/* If is_of_run() holds for the options, write_run() replaces the above: it reads the run by itself. */
	bool (*is_of_run)(const struct export_input *in);
	int (*write_run)(FILE *out, struct store *s, const struct export_input *in, struct diag *reterr);
};

/* Reads what the writer needs, then calls it. */
int export_given(FILE *out, struct store *s, const struct run *r, const struct export_writer *w, struct diag *reterr);

extern const char *export_interval;	/* --interval; NULL: not given */
extern const struct option_desc export_intervals_options[], export_metric_options[], export_view_options[];
bool export_intervals_given(void);
bool export_metric_given(void);
bool export_view_given(void);

#endif
