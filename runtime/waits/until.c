/* SPDX-License-Identifier: Apache-2.0 */
/* until.c - see until.h. */
#include "runtime/rules/readable.h"
#include "runtime/waits/until.h"

#define SECOND 1000000000ULL

const struct timespec *until_move(struct until *u, const struct timespec *until, const struct wait *of)
{
	uint64_t ns;

	if (!readable(until, sizeof(*until)) || until->tv_sec < 0 || until->tv_sec > INT64_MAX / 2 || until->tv_nsec < 0 ||
	    until->tv_nsec >= (long)SECOND)
		return until;
	u->behind = virtual_clock_behind();
	u->of = of;
	ns = (uint64_t)until->tv_nsec + u->behind;
	u->at.tv_sec = until->tv_sec + (time_t)(ns / SECOND);
	u->at.tv_nsec = (long)(ns % SECOND);
	return &u->at;
}

void until_end(struct until *u)
{
	if (u->of && u->of->ended && (u->came || u->of->timed_out))
		virtual_clock_came(u->behind, u->of->ended);
}
