/* SPDX-License-Identifier: GPL-3.0-or-later */
/* record.h - run a scenario of the test program under the drainer, read the trace it leaves. */
#ifndef TESTS_RUNTIME_RECORD_H
#define TESTS_RUNTIME_RECORD_H

#include "drainer/drainer.h"
#include "trace/model.h"

struct recorded {
	int exit_status;		/* 128 + N for a signal */
	struct drainer_stats stats;
	struct trace *t;
};

/* program: path of the test program; arena_bytes 0: default.  Fails the running test on error. */
struct recorded record(const char *program, const char *scenario, uint8_t level,
		       size_t arena_bytes);
/* The same with any options; their trace_path is not used. */
struct recorded record_with(const char *program, const char *scenario,
			    const struct drainer_options *o);
void recorded_release(struct recorded *r);

/* How many invocations of a function there are; by name. */
size_t count_calls(const struct trace *t, const char *function);

/* The n-th invocation of a function, from 0, or NULL. */
const struct invocation *find_call(const struct trace *t, const char *function, size_t n);

#endif
