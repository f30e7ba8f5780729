/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * soak.h - a victim, a recorder, and what happens to them.
 *
 *	struct ordeal o = { .program = "flood", .n = 1000000, .arena_bytes = 1 };
 *	ordeal_run(&o);
 *	CHECK(o.status == 0, "ended with %d", o.status);
 *	ordeal_release(&o);
 *
 * The recorder is a process of its own, as `vprof record` is, so that it can be killed as well.  Its final state
 * (struct drainer_stats) comes back through shared memory.
 */
#ifndef TESTS_SOAK_SOAK_H
#define TESTS_SOAK_SOAK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "drainer/drainer.h"
#include "tests/soak/counts.h"
#include "trace/model.h"

struct ordeal {
	const char *program;		/* of victim.c */
	long n;
	size_t arena_bytes;		/* 0: default */
	const char *trace_dir;		/* NULL: here */
	const char *arena_dir;		/* NULL: the recorder's default */
	void (*in_recorder)(void);	/* before it opens anything */
	void (*in_victim)(void);	/* before it is executed */
	/* While both run; true: the recorder was killed, do not expect anything from it. */
	bool (*meanwhile)(struct ordeal *o);
	unsigned int random;		/* for meanwhile */

	pid_t recorder, victim;
	struct counts *counts;
	bool refused;			/* the recorder could not begin; diag says why */
	bool readable;			/* the trace is */
	int status;			/* of the victim: 128 + N for a signal */
	struct drainer_stats stats;
	struct diag diag;
	struct trace *t;
	char trace_path[256];
	char arena_path[256];
	struct shared *shared;
};

/* SOAK_EXPERIMENTS: causal experiments are under way in all programs (runtime/causal/causal.h). */
bool has_experiments(void);

void ordeal_run(struct ordeal *o);
void ordeal_abandon(void);		/* from a signal handler: no process goes on */
void ordeal_read(struct ordeal *o);	/* the trace once more */
bool is_recording(const struct ordeal *o);	/* the recorder has not ended */
void ordeal_release(struct ordeal *o);	/* also removes the files */

/* Counts from the trace and its losses, and the victim's own. */
uint64_t recorded_leafs(const struct ordeal *o, uint32_t tid);	/* tid 0: of all threads */
uint64_t recorded_events(const struct ordeal *o);		/* begins and ends, also stray ones */
uint64_t counted_leafs(const struct ordeal *o);
uint64_t counted_events(const struct ordeal *o);		/* begins and ends */

/* A condition that must hold; the first that does not is the scenario's result. */
bool check(bool held, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define CHECK(condition, ...) check(condition, __VA_ARGS__)
bool all_held(void);

/* A scenario: n is how often or how many; a line of progress now and then. */
void expect_end(void);			/* of what begins now, or it hangs */
void progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void wait_ns(long ns);

void soak_kills(long n);		/* kills.c */
void soak_killed_recorders(long n);
void soak_killed_both(long n);
void soak_arena_full(long n);		/* room.c */
void soak_disk_full(long n);
void soak_files(long n);
void soak_memory(long n);
void soak_file_size(long n);
void soak_live_threads(long n);		/* crowds.c */
void soak_short_threads(long n);
void soak_fork_tree(long n);
void soak_execs(long n);
void soak_storm(long n);
void soak_stopped(long n);		/* clocks.c */
void soak_other_monotonic(long n);
void soak_clock_set(long n);

#endif
