/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rounds.h - one start of the program: its rounds and blocks by the clock.  Private to project/causal/.
 *
 *	warm-up		until intervals have ended, which shows how long a block has to be
 *	a round		next() chooses its points; then, for each block in random order:
 *			set, 20 ms, open, block_ns, shut, tail_ns, over
 *	the end		next() ends it, the time is over, or Control-C: the program gets SIGTERM
 */
#ifndef PROJECT_CAUSAL_ROUNDS_H
#define PROJECT_CAUSAL_ROUNDS_H

#include "drainer/experiments.h"
#include "project/causal/lock_names.h"
#include "project/causal/run_blocks.h"

enum rounds_state { ROUNDS_WARM_UP, ROUNDS_SET, ROUNDS_OPEN, ROUNDS_SHUT, ROUNDS_ENDING };

struct block_facts {
	uint64_t hit_cnt;
	double cpu_wait, others;	/* as in struct causal_block */
};

struct rounds {
	const struct run_blocks_options *o;
	struct run_blocks_result *ret;
	enum rounds_state state;
	uint64_t began_ns, due_ns;	/* CLOCK_MONOTONIC; run_blocks() began; the next change is due */
	uint64_t block_ns, tail_ns;
	uint64_t warm_since_ns;		/* when the first interval ended; 0: none has */
	uint64_t random;
	uint64_t label;			/* of the interval; 0: not known yet */
	causal_points points;		/* of the round, shuffled; the baseline has speed 0 and some target */
	size_t at;			/* the current block */
	uint32_t block_number;
	uint64_t hits, opened_ns;	/* when it was opened */
	uint64_t deadline_ns;		/* nothing is in force any more then, whatever is said */
	bool is_overdue;		/* a block of the round was */
	struct drainer_cpu cpu;		/* then; or when the warm-up began */
	virtual_events events;		/* of the round */
	VEC(struct block_facts) facts;	/* of the round's blocks */
	VEC(uint64_t) ended;		/* labels of the intervals that ended during the warm-up */
	struct lock_names locks;
	const struct causal_target *missing;	/* a lock that no program of the run has; the experiments end then */
	uint64_t killed_ns;		/* when the program, already asked to end, will be killed; 0: not asked */
};

/* Call it before each start of the program. */
void rounds_start(struct rounds *r);
void rounds_release(struct rounds *r);

/* Control-C: ends the rounds and the program. */
void rounds_interrupt(struct rounds *r, struct drainer *d);

/* Callbacks for struct drainer_experiments. */
void rounds_turn(void *arg, struct drainer *d, uint64_t now_ns);
void rounds_take(void *arg, uint64_t serial, enum trace_event kind, uint64_t ticks, const uint64_t *words);

/* Whether the end interrupted a round. */
bool rounds_is_cut(const struct rounds *r);

#endif
