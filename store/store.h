/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * store.h - vprof.data/vprof.db: the project, its runs and their results.  The only room that
 * knows SQL.  schema.sql documents the tables; they are stable enough to query.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include "analysis/causal/experiments.h"
#include "analysis/findings/findings.h"
#include "base/diag.h"
#include "base/cleanup.h"
#include "instrumenter/scan/scan.h"
#include "trace/model.h"

struct store;

/* Opens DIR/vprof.db, creating directory (0700) and tables if create; else a missing one is
 * EXIT_NO_EVIDENCE ("no runs yet ... vprof record").  A newer schema, or one from before the first release, is EXIT_DATA.
 * A directory that other users may put something into (base/ours.h) is refused if create; else it is only looked at: no
 * file in it is made, locked for writing or changed. */
int store_open(const char *data_dir, bool create, struct store **ret, struct diag *reterr);

/* 0, or EXIT_ENVIRONMENT if the directory is only read, with the reason and a remedy.  Call it before anything is
 * written to the directory. */
int store_check_ours(const struct store *s, struct diag *reterr);
void store_close(struct store *s);
DEFINE_CLEANUP(struct store *, store_close);

/* ---- the project: functions and static call graph, from the scan records ---- */

/* Replaces the known functions and calls by those of the units; resolves calls to functions (static: same unit;
 * extern: by name).  Adds may-edges for calls through pointers by type among address-taken functions. */
int project_load(struct store *s, const units *list, struct diag *reterr);

struct project_function {		/* in order of file, line */
	uint64_t key;
	const char *name, *file;
	uint32_t line, end_line;	/* of the body; end_line is 0 in a run's own graph */
	bool releases, probed, is_static, no_return;
	bool address_taken;
	const char *type;		/* "void *(void *)"; NULL if unknown */
	bool left_out;			/* its calls do not count; set by the reader, project/runs/leave_out.h */
	bool looked_through;		/* not worth a probe; set by the reader, project/build/header_functions.h */
	const char *skipped;		/* reason, or NULL */
};
struct project_call {
	uint32_t caller, callee;	/* indexes into functions */
	const char *call_site;		/* "server.c:28"; NULL if unknown (observed) */
	bool may;			/* through a pointer */
	bool observed;			/* not in the sources, but seen in a run */
	bool is_tail;			/* the caller's span ends before it: a trace has it as a call of the caller's caller */
};
struct project_unit {
	const char *object, *source;
	const char *untouched;		/* why the unit was compiled as it is, or NULL */
	const char *misread;		/* FILE:LINE: what libclang did not understand there, or NULL */
};
struct project {
	struct arena *arena;
	VEC(struct project_unit) units;
	VEC(struct project_function) functions;
	VEC(struct project_call) calls;
};
int project_read(struct store *s, struct project **ret, struct diag *reterr);
void project_free(struct project *p);
DEFINE_CLEANUP(struct project *, project_free);

/* Into the order of caller, callee and call site. */
void project_sort_calls(struct project *p);

/* Keeps the calls that a run showed (struct observed_call) until their functions are gone from the sources. */
int project_add_observed(struct store *s, uint32_t run, const struct findings *f,
			 struct diag *reterr);

/* Adds the project's call graph and unknown files/lines to a trace that was read from a run. */
void project_add_to_trace(const struct project *p, struct trace *t);

/* Small settings of the project, e.g. "build.command".  NULL if absent. */
int setting_set(struct store *s, const char *name, const char *value, struct diag *reterr);
char *setting_get(struct store *s, const char *name);		/* the caller frees it */

/* ---- runs ---- */

enum run_status { RUN_RECORDING, RUN_RECORDED, RUN_ANALYSED, RUN_FAILED, RUN_KILLED };
const char *run_status_name(enum run_status status);

/* The largest clock or duration that is accepted: until the year 2096.  Two of them, plus seconds, do not overflow. */
#define CLOCK_MAX_NS INT64_C(4000000000000000000)

struct run {
	uint32_t number;		/* from 1 */
	char *name;			/* -o NAME, or NULL */
	char *command;			/* shell-quoted, or "import ..." */
	char *source;			/* "record", "import", "merge", "stitch", ... */
	int64_t started_ns;		/* CLOCK_REALTIME; 0 to CLOCK_MAX_NS */
	int64_t duration_ns;		/* the same */
	enum run_status status;
	int exit_status;		/* of the user's command */
	uint64_t interval_cnt, function_cnt, lost_records;
	const char *origin;		/* not kept: only the intervals of a merged run from that host or run; NULL: all */
};
void run_release(struct run *r);

/* Reserves the next number and creates runs/NNN; fills number. EXIT_USAGE if the name is taken. */
int run_create(struct store *s, struct run *r, struct diag *reterr);
int run_update(struct store *s, const struct run *r, struct diag *reterr);

/* Removes the run as if it had not begun. */
int run_remove(struct store *s, uint32_t number, struct diag *reterr);

/* text: number, name, or NULL for the latest that has not failed.  No such run: EXIT_USAGE naming those there are;
 * no runs at all: EXIT_NO_EVIDENCE. */
int run_find(struct store *s, const char *text, struct run *ret, struct diag *reterr);
typedef VEC(struct run) runs;

/* The same for one or more: a group "NAME" is its runs NAME.1, NAME.2, ...; "4,5,base" all of these, none of them twice.
 * run_find() refuses a group with EXIT_USAGE. */
int runs_find(struct store *s, const char *text, runs *ret, struct diag *reterr);
/* EXIT_USAGE: a run has that name, or one of the group's. */
int group_is_free(struct store *s, const char *group, struct diag *reterr);
int runs_read(struct store *s, runs *ret, struct diag *reterr);
void runs_release(runs *list);

/* Units of the build whose functions are not known, or carry no probe, since they were compiled untouched. */
int units_uncounted(struct store *s, int64_t *ret_cnt, struct diag *reterr);

/* What `vprof iterate` did in a run. */
struct iteration {
	uint32_t run, first_run;	/* first_run: of the same iteration */
	char *policy;			/* "budget", "paper" */
	uint32_t recorded_cnt, dormant_cnt;	/* functions of the plan */
	uint32_t added_cnt;		/* recorded now and not in the run before */
	double probe_cost;		/* estimated, as a fraction of the mean latency */
	char *selected;			/* labels of the k first factors, joined by ", " */
	char *stop;			/* why it was the last run, or NULL */
};
int iteration_write(struct store *s, const struct iteration *i, struct diag *reterr);
typedef VEC(struct iteration) iterations;
int iterations_read(struct store *s, iterations *ret, struct diag *reterr);	/* in order of run */
void iterations_release(iterations *list);

/* A function of a run's plan. */
enum planned_level { PLANNED_IN_INTERVALS, PLANNED_ALWAYS, PLANNED_DORMANT };
const char *planned_level_name(enum planned_level level);	/* "interval", "always", "dormant" */
struct planned_function {
	uint64_t key;
	enum planned_level level;
	uint32_t calls;			/* calls that were recorded; UINT32_MAX: no program of the run has its probe,
					 * or it is dormant */
};
typedef VEC(struct planned_function) planned_functions;	/* VEC_RELEASE frees it */

/* Replaces the plan of that run; planned_count() fills in the calls (of each of the trace's functions), and adds
 * the functions of a plan that names none ("all"). */
int planned_write(struct store *s, uint32_t run, const struct planned_function *list, size_t cnt,
		  struct diag *reterr);
int planned_count(struct store *s, uint32_t run, const struct trace *t, const uint32_t *calls,
		  struct diag *reterr);
/* In order of key, taken as signed. */
int planned_read(struct store *s, uint32_t run, planned_functions *ret, struct diag *reterr);

/* DIR/runs/NNN; the caller frees it.  It holds trace.vpt (recorded) or trace.tuples (imported). */
char *run_dir(const struct store *s, uint32_t number);

/* ---- results ---- */

/* Writes all or none, and waits for the disk once. */
int findings_write(struct store *s, uint32_t run, struct findings *const *list, size_t cnt, struct diag *reterr);
/* -ENOENT with a message if the run has none yet. interval: NULL for the one first written. */
int findings_read(struct store *s, uint32_t run, const char *interval, struct findings **ret, struct diag *reterr);
/* The same, but f->intervals is empty, as that of a run made of digests: with a million intervals it takes 5 ms instead of 0.3 s. */
int findings_read_sums(struct store *s, uint32_t run, const char *interval, struct findings **ret, struct diag *reterr);

/* ---- causal experiments ---- */

/* Replaces those of the run.  All or none. */
int experiments_write(struct store *s, uint32_t run, const struct experiments *e, struct diag *reterr);
/* -ENOENT with a message if the run has none. */
int experiments_read(struct store *s, uint32_t run, struct experiments **ret, struct diag *reterr);
/* The latest run that has some; 0: there is none. */
int experiments_latest(struct store *s, uint32_t *ret_run, struct diag *reterr);

#endif
