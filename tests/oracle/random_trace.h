/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * random_trace.h - small random traces, the same for the same seed.
 *
 * RANDOM_ANY: anything the text form allows, sense or not: wake-ups from the future, creations
 * out of order, threads of which nothing is known, holes.  RANDOM_PROGRAM: what a program with a
 * producer, workers, a queue and a lock does, tick by tick; nothing is left to guess there.
 */
#ifndef TESTS_ORACLE_RANDOM_TRACE_H
#define TESTS_ORACLE_RANDOM_TRACE_H

#include "trace/model.h"

#define RANDOM_TIME_MAX 400		/* every time is below, in ns */
#define RANDOM_SEED_PEERS 1800		/* later seeds have many peers, and waits for files instead of locks */

enum random_style { RANDOM_ANY, RANDOM_PROGRAM };

struct random {
	uint64_t state;
};

uint32_t random_below(struct random *r, uint32_t limit);
struct trace *random_trace(unsigned int seed, enum random_style style);

/* Shuffles every array of t; invocations of equal span keep their order. */
void shuffle_trace(struct trace *t, unsigned int seed);

#endif
