/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * config.h - vprof.conf(5): git-config style INI, read by inih.
 *
 *	[interval "request"]  start end resume (may repeat) key trace span parent
 *	[sync]     acquire release enqueue dequeue (may repeat)
 *	[build]    command
 *	[run]      command
 *	[callgraph] leave-out (may repeat)
 *	[record]   sample
 *	[iterate]  k threshold overhead max-runs
 *
 * An unknown section or key is an error that names the nearest one.
 */
#ifndef PROJECT_CONFIG_CONFIG_H
#define PROJECT_CONFIG_CONFIG_H

#include "annotations/primitives.h"
#include "base/cleanup.h"
#include "instrumenter/plan/location.h"

/* Approximately `full` of `of` intervals are recorded in full, chosen at random; 0 of 0: all. */
struct sample {
	unsigned full, of;
	bool automatic;			/* the budget decides the rate, which may change; full < of then */
	double budget;			/* given with auto; 0: overhead */
};

/* "1/10", "10" (the same), "15/16", "auto" or "auto=0.1"; false: none of these. */
bool sample_parse(const char *text, struct sample *ret);

/* Most intervals will not be recorded in full: one in eight at most, or as few as a budget says. */
bool sample_is_rare(const struct sample *s);

struct config {
	char *path;			/* NULL: there is no vprof.conf */
	VEC(struct interval_directive) intervals;
	primitives sync;
	char *build_command, *run_command;	/* NULL: not given */
	VEC(char *) leave_out;		/* shell patterns of functions whose calls do not count */
	bool leave_out_no_return;	/* their calls and those of noreturn functions do not count; see
					 * project/runs/leave_out.h */
	struct sample sample;
	unsigned k, max_runs;
	double threshold, overhead;
	bool threshold_given;		/* threshold stands in the file */
};

void config_release(struct config *c);		/* also a _cleanup_ function */

/* Reads path; NULL gives the defaults.  EXIT_USAGE with FILE:LINE on a mistake. */
int config_read(int fd, const char *path, struct config *ret, struct diag *reterr);

/* The same from memory. */
int config_parse(const char *text, const char *path, struct config *ret, struct diag *reterr);

#endif
