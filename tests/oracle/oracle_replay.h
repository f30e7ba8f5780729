/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * oracle_replay.h - random programs of threads, run one nanosecond after another: the definition that replays are compared with.
 *
 * A program's threads work in functions f0 to f3, sit on a device in one, take locks, post events and wait for them.
 */
#ifndef TESTS_ORACLE_ORACLE_REPLAY_H
#define TESTS_ORACLE_ORACLE_REPLAY_H

#include "analysis/causal/replay.h"

enum { ORACLE_FUNCTIONS = 4, ORACLE_NONE = 99, ORACLE_THREADS_MAX = 5, ORACLE_STEPS_MAX = 64 };

struct oracle_step {
	enum replay_op op;
	uint32_t index;			/* of the lock, event or interval; WORK, OFF: of the function */
	int64_t ns;
};

struct oracle_program {
	struct oracle_step steps[ORACLE_THREADS_MAX][ORACLE_STEPS_MAX];
	uint32_t step_cnt[ORACLE_THREADS_MAX];
	uint32_t thread_cnt, lock_cnt, event_cnt, interval_cnt;
	uint32_t cpu_cnt;		/* 0: one for each thread */
	int64_t slice_ns;
};

struct oracle_piece {			/* of a WORK: on a CPU, or waiting for one */
	uint32_t thread;
	bool runs;
	int64_t from_ns, to_ns;
};

/* How one step went: from the time at which its thread came to it. */
struct oracle_span {
	int64_t from_ns, to_ns;
	uint32_t waker, waker_step;	/* TAKE, AWAIT that waited; else ORACLE_NONE, 0 */
};

struct oracle_run {
	int64_t *begin_ns, *end_ns;
	struct oracle_span (*spans)[ORACLE_STEPS_MAX];
	VEC(struct oracle_piece) pieces;	/* with cpu_cnt */
	bool tie;			/* two threads were at one lock, or in one place of the run queue, in the same nanosecond */
	unsigned wait_cnt;
};

void oracle_random(struct oracle_program *ret, unsigned seed, bool has_locks);
void oracle_release(struct oracle_program *o);

/* That function takes quarters / 4 less. */
void oracle_run(const struct oracle_program *o, uint32_t function, unsigned quarters, struct oracle_run *ret);
void oracle_run_release(struct oracle_run *r);

/* Whether exactly the same steps wait in after as in before, each for the same step of another thread. */
bool oracle_same_waits(const struct oracle_program *o, const struct oracle_run *before, const struct oracle_run *after);

/* The same for waits for events alone. */
bool oracle_same_awaits(const struct oracle_program *o, const struct oracle_run *before, const struct oracle_run *after);

/* The program itself, for the engine; and what a recorder would have seen of a run, as tuples (the caller frees them); notes_locks: with
 * record --order. */
void oracle_strands(const struct oracle_program *o, struct replay_program *ret);
char *oracle_tuples(const struct oracle_program *o, const struct oracle_run *run, bool notes_locks);

#endif
