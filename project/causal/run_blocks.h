/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run_blocks.h - runs the user's program with rounds of blocks.  In each block one target is virtually faster by some per mille;
 * in one block of each round, the baseline, nothing is.
 *
 *	o.next(o.arg, NULL, &points)		before the first round: points = parse 50 %, log_flush 50 %
 *	the program runs; blocks in random order:	log_flush 50 %, baseline, parse 50 %
 *	o.next(o.arg, &round, &points)		gets what that round measured, says what the next one asks
 *	...					until it returns false, the time is over, or Control-C
 *
 * The baseline is in every round by itself.  A program that ends by itself is started again until all is known; a round in
 * which it ended is thrown away and counted; so is one in which the recorder was held up for longer than a block is in force.  One that goes on gets SIGTERM when all is known, and SIGKILL 10 s later.
 * Processes that were there before (-p) go on undisturbed.
 *
 * A round counts even if a block of it has no interval: the callback decides how few are too few.
 */
#ifndef PROJECT_CAUSAL_RUN_BLOCKS_H
#define PROJECT_CAUSAL_RUN_BLOCKS_H

#include "project/causal/causal_target.h"
#include "project/record/record_steps.h"
#include "trace/causal/virtual.h"

struct causal_point {
	uint32_t target;		/* index into targets */
	uint32_t speed;			/* speedup per mille, 1..1000 */
};

typedef VEC(struct causal_point) causal_points;

struct causal_block {			/* the measurements of one block */
	uint32_t target, speed;		/* BLOCK_NO_TARGET, 0: the baseline */
	const int64_t *latency_ns;	/* virtual, of the intervals that count, by their begin */
	size_t interval_cnt;
	uint64_t late_cnt;		/* intervals that began in it and did not end in time */
	int64_t real_ns;		/* from its begin to its end */
	int64_t delay_ns;		/* growth of G during the block; its virtual duration is real_ns - delay_ns */
	uint64_t target_cnt;		/* times that a thread was in the target: calls, waits or ticks */
	double cpu_wait;		/* share of the run's running time spent in the run queue; negative: not known */
	double others;			/* CPUs that other programs used; negative: not known */
};

struct causal_round {
	uint32_t number;		/* from 1 */
	const struct causal_block *blocks;	/* in the order in which they ran; one is the baseline */
	size_t block_cnt;
	uint64_t elapsed_ns;		/* since run_blocks() began */
};

enum causal_currency { CAUSAL_AUTO, CAUSAL_SLEEP, CAUSAL_CPU };

enum causal_ended {
	CAUSAL_ENDED_ENOUGH,		/* next() ended it */
	CAUSAL_ENDED_TIME,		/* --for is over */
	CAUSAL_ENDED_INTERRUPT,		/* Control-C: the rounds so far count */
	CAUSAL_ENDED_PROGRAM		/* the program failed (ret_status), or ended too soon several times in a row */
};

struct run_blocks_options {
	const struct causal_target *targets;	/* all that points may name; causal_target_find() has found them */
	size_t target_cnt;
	const char *interval;		/* NULL: the one that ends most often */
	uint64_t block_ns;		/* 0: 30 intervals, at least 150 ms, at most 2 s */
	uint64_t for_ns;		/* 0: no limit */
	uint64_t seed;			/* 0: a random one */
	enum causal_currency currency;
	/*
	 * Chooses the next round.  done: what the last round measured; NULL before the first.  ret is empty.  Returns false, or no
	 * points, to end.
	 */
	bool (*next)(void *arg, const struct causal_round *done, causal_points *ret);
	/* A block of that point (speed 0: the baseline) is about to be in force; or NULL. */
	void (*set)(void *arg, const struct causal_point *p);
	/* A new start of the program, or a round that did not come to its end, for a progress line; or NULL. */
	void (*notice)(void *arg, const char *text);
	void *arg;
	bool virtual_clock;		/* the program's clocks show virtual time */
	bool kernel;			/* with the kernel's recorder, or not at all */
	const struct record_options *record;	/* buffer, arena, processes to attach to ... */
};

struct run_blocks_result {
	enum causal_ended ended;
	uint32_t round_cnt, lost_round_cnt;	/* lost: cut by the program's end, or the recorder was held up */
	uint32_t start_cnt;		/* times that the program was started */
	char *interval;			/* its name; NULL: none began */
	int exit_status;		/* of the program's last end by itself */
	bool has_ticks;			/* false: no perf events, so threads pause only at their waits and releases */
	int ticks_error;		/* errno of that */
	uint64_t until_cnt;		/* sleeps until a time */
	double unfair_share;		/* see drainer/experiments.h */
	char *unfair_function;
	uint64_t real_clock_cnt;	/* processes whose clocks cannot be virtual */
	uint64_t blind_cnt;		/* processes that do not see what the kernel sees of their waits */
	uint64_t locks_lost;		/* locks of a lock:FUNCTION beyond the limit; each time counts */
	uint64_t outside_cnt;		/* waits for a program outside of the run (outside-clients) */
};

void run_blocks_release(struct run_blocks_result *r);

/*
 * name: of the run; may be NULL.  ret_run is the run that holds the last start's trace, as record_once() leaves it, but not
 * analyzed.  Negative on an error; -ENOTSUP with EXIT_ENVIRONMENT and the reason if the kernel or the program refuses.
 */
int run_blocks(struct store *s, const char *name, const struct args *command, const struct run_blocks_options *o,
	       struct run *ret_run, struct run_blocks_result *ret, struct diag *reterr);

#endif
