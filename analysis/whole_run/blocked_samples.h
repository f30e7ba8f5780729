/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * blocked_samples.h - samples of threads on and off the processor alike (bperf, OSDI '24).
 *
 * Samples every thread once per period, whatever it does; computed from the trace afterwards, so any period is
 * possible.  A sample off the processor has the functions that were open when the thread left it.
 */
#ifndef ANALYSIS_WHOLE_RUN_BLOCKED_SAMPLES_H
#define ANALYSIS_WHOLE_RUN_BLOCKED_SAMPLES_H

#include "trace/model.h"

#define SAMPLES_PERIOD_DEFAULT_NS 1000000

/* A thread's activity, or the kind of its wait. */
#define SAMPLE_TYPES(X)		\
	X(CPU,   "cpu")		\
	X(IO,    "io")		\
	X(LOCK,  "lock")	\
	X(SCHED, "sched")	\
	X(OTHER, "other")

enum sample_type {
#define X(id, name) SAMPLE_##id,
	SAMPLE_TYPES(X)
#undef X
	SAMPLE_TYPE_CNT
};

const char *sample_type_name(enum sample_type type);

struct sample_row {
	const char *function;		/* innermost; NULL: none was open */
	const char *file;		/* NULL if unknown */
	uint32_t line;
	enum sample_type type;
	uint64_t samples;
	int64_t time_ns;		/* exact, whatever the period */
};

struct sample_stack {
	const char *thread;		/* its name, or NULL; threads of one name are one */
	const char **frames;		/* outermost first */
	size_t frame_cnt;
	enum sample_type type;
	uint64_t samples;
	int64_t time_ns;
};

/* Most samples first; paths without samples are left out. */
struct blocked_samples {
	struct arena *arena;
	int64_t period_ns, start_ns;	/* points at start + k * period */
	size_t thread_cnt;
	uint64_t samples[SAMPLE_TYPE_CNT];
	int64_t time_ns[SAMPLE_TYPE_CNT];
	VEC(struct sample_row) rows;
	VEC(struct sample_stack) stacks;
};

/* Sorts t, which must outlive the result.  period_ns > 0. */
struct blocked_samples *blocked_samples_new(struct trace *t, int64_t period_ns);
void blocked_samples_free(struct blocked_samples *s);	/* NULL is fine */
DEFINE_CLEANUP(struct blocked_samples *, blocked_samples_free);

#endif
