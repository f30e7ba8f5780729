/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * project.h - what the commands share about a profiled project: its configuration and plan
 * (launcher_context.h), and the trace of a run made ready for analysis.
 */
#ifndef PROJECT_RUNS_PROJECT_H
#define PROJECT_RUNS_PROJECT_H

#include "project/config/launcher_context.h"
#include "store/store.h"
#include "trace/read/reader.h"

/* In the project's directory paths begin there. */
void project_shorten_paths(struct project *p);

/* [interval "request"] start = mark:enqueue: events named "enqueue" belong to "request".  The texts
 * are the configuration's. */
typedef VEC(struct name_alias) name_aliases;
void config_aliases(const struct config *c, name_aliases *ret);

/* The trace of a run with the project's call graph added, not yet sorted. */
int run_trace_read(struct store *s, const struct run *r, struct trace **ret, struct diag *reterr);
/* The same of one of its parts (run_parts.h). */
struct run_part;
int run_part_read(struct store *s, const struct run_part *part, struct trace **ret, struct diag *reterr);

/* The parts of the configuration that matter for reading a recorded trace; release in any case. */
struct recorded_options {
	struct config config;
	name_aliases aliases;
	VEC(const char *) inner;
	struct reader_options reader;
};
/* kernel: the file of the kernel's side, or NULL. */
int recorded_options_read(struct recorded_options *ret, const char *kernel, struct diag *reterr);
void recorded_options_release(struct recorded_options *o);
/* Adds the project's call graph. */
int recorded_complete(struct store *s, const struct recorded_options *o, const char *path, struct trace *t,
		      struct diag *reterr);

/* Notes the recording host in a trace whose intervals have ids, or call other services. */
void recorded_note_host(const char *path, struct trace *t);

/* Trace to results (run_analysis.c): analyses the run, stores the findings, updates r.  All names in the trace,
 * the one with the most intervals first; *ret holds that first one.  jobs: threads at most; 0: one a CPU. */
int run_analyze(struct store *s, struct run *r, unsigned jobs, struct findings **ret, struct diag *reterr);
/* The same of one kind of interval and with another quantile; nothing is stored. */
int run_analyze_at(struct store *s, const struct run *r, const char *interval, double quantile,
		   struct findings **ret, struct diag *reterr);
/* The same with the bins of latencies that begin at the edges, ascending (struct latency_bin). */
int run_analyze_bins(struct store *s, const struct run *r, const char *interval, const int64_t *edges, size_t edge_cnt,
		     struct findings **ret, struct diag *reterr);

/* On stderr: the warning that matters most, and how to see the others. */
void announce_warnings(const struct run *r, const struct findings *f);

/* Reports on stderr what a run found; EXIT_DONE, or EXIT_NO_EVIDENCE with the reason and remedy. */
int announce_findings(struct store *s, const struct run *r, const struct findings *f);

#endif
