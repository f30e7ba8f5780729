/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plant.h - what the planted causes of `make exam-servers` share: which of them is on (EXAM_CAUSE, read once), and chance.
 * C and C++.
 */
#ifndef EXAM_PLANT_H
#define EXAM_PLANT_H

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static __inline__ int plant_is(const char *cause)
{
	static const char *on;

	if (!on) {
		const char *given = getenv("EXAM_CAUSE");

		on = given ? given : "none";
	}
	return strcmp(on, cause) == 0;
}

/* A number from least to most. */
static __inline__ int plant_between(int least, int most)
{
	static __thread unsigned int seed;

	if (!seed) {
		struct timespec now;

		clock_gettime(CLOCK_MONOTONIC, &now);
		seed = (unsigned int)now.tv_nsec ^ (unsigned int)getpid();
	}
	return least + rand_r(&seed) % (most - least + 1);
}

#endif
