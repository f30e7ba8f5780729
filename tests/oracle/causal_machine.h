/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * causal_machine.h - a machine that executes small programs in steps of 10 us, really faster or virtually faster.
 *
 * Each thread executes its list of operations again and again; one of them is in a function that is never made faster.
 * Durations are drawn by program, thread, iteration and operation alone, so the same work is done whatever is made faster.
 * There is a CPU for each thread.
 *
 *	T0: cpu f 2.0 ms, barrier	T1: cpu g 1.0 ms, barrier
 *	really: f takes half.  Virtually: while T0 is in f, T1 is held up (runtime/shared/shift.h)
 *	both: the iteration of T0 takes 1.0 ms
 */
#ifndef TESTS_ORACLE_CAUSAL_MACHINE_H
#define TESTS_ORACLE_CAUSAL_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

enum { MACHINE_THREADS = 4, MACHINE_OPS = 12, MACHINE_FUNCTIONS = 3, MACHINE_LOCKS = 2, MACHINE_QUEUES = 3, STEP_NS = 10000 };

enum machine_op_kind { OP_CPU, OP_IO, OP_LOCK, OP_UNLOCK, OP_BARRIER, OP_PUSH, OP_POP };

struct machine_op {
	enum machine_op_kind kind;
	uint32_t what;			/* function, lock or queue */
	uint32_t ns;			/* mean duration */
};

struct machine_program {
	uint64_t seed;
	uint32_t thread_cnt, observed;	/* whose iterations are the intervals */
	uint32_t op_cnt[MACHINE_THREADS];
	struct machine_op ops[MACHINE_THREADS][MACHINE_OPS];
};

struct machine_rules {
	bool counts_io;			/* time off the CPU counts */
	bool counts_live;		/* ... while it goes on; else by ticks, and at the end of the wait */
	bool until_gone;		/* a debt is paid until it is gone; else what it was when one began to pay */
	bool settles_first;		/* before a thread is let go */
	bool settles_to_lock;		/* before a lock is asked for */
	bool credits;			/* a thread that another one wakes does not owe the delays from before */
	bool at_release;		/* ... the release; else until it runs again */
	bool by_table;			/* time off the CPU is in the kernel's table, and no code of ours runs at its end */
};

extern const struct machine_rules machine_ours, machine_table, machine_coz, machine_bcoz;

void machine_random(struct machine_program *ret, uint64_t seed);

/* A target that is no function: while a thread holds that lock. */
enum { MACHINE_LOCK = 100 };

/* Mean time of an observed iteration: real time with function really faster, or virtual time with it virtually faster, by
 * per mille.  function: or MACHINE_LOCK + lock.  rules NULL: really. */
double machine_run(const struct machine_program *p, uint32_t function, uint32_t speed, const struct machine_rules *rules);

#endif
