/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sample_periods.h - the periods between samples, drawn so that no load keeps step with them.
 *
 * Shares count on one sample in each mean period.  A period that holds for a while gives too many or too few for as long; over
 * a run of seconds such errors do not go away by themselves, and neighbouring blocks of time have the same one, so that the
 * confidence intervals would be too narrow.  So periods come in pairs that hold for the same time: what the first gives too
 * many, the second gives too few.
 *
 *	mean 1000: 5 % more samples for 100 ms at a period of 952, then 5 % fewer for 100 ms at 1053
 *
 * A new period begins as it is set, and what had passed of the one before is lost, half a period on average: all are shorter by as
 * much as makes up for it.
 */
#ifndef RECORDER_SAMPLE_PERIODS_H
#define RECORDER_SAMPLE_PERIODS_H

#include <stdbool.h>
#include <stdint.h>

#define SAMPLE_PERIOD_HOLDS_NS 100000000ULL	/* on average */

struct sample_periods {			/* of one clock; .random is set, the rest is zero */
	uint64_t random;
	int64_t more;			/* samples in a thousand than on average, of the first of the pair */
	bool is_second;
};

static inline uint64_t sample_random(uint64_t *random, uint64_t below)
{
	*random = *random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (*random >> 33) % below;
}

/* For how long the two of the next pair hold, each: the same on all clocks. */
static inline uint64_t sample_pair_holds_ns(uint64_t *random)
{
	return SAMPLE_PERIOD_HOLDS_NS * 4 / 5 + sample_random(random, SAMPLE_PERIOD_HOLDS_NS * 2 / 5);
}

/* Up to a tenth more or fewer samples than one in mean_ns. */
static inline uint64_t sample_next_period_ns(struct sample_periods *s, uint64_t mean_ns)
{
	uint64_t lost_ns = mean_ns * mean_ns / (2 * SAMPLE_PERIOD_HOLDS_NS), period_ns;

	s->more = s->is_second ? -s->more : (int64_t)sample_random(&s->random, 201) - 100;
	s->is_second = !s->is_second;
	period_ns = mean_ns * 1000 / (uint64_t)(1000 + s->more);
	return period_ns > lost_ns ? period_ns - lost_ns : period_ns;
}

#endif
