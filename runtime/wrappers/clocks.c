/* SPDX-License-Identifier: Apache-2.0 */
/* clocks.c - wrappers of clocks, and of timers that are set to a time, for vprof causal --virtual-clock.  Without it no call leads here. */
#include <stdint.h>
#include "runtime/rules/readable.h"
#include "runtime/waits/until.h"
#include "runtime/wrappers/real.h"

enum { SECOND = 1000000000, US = 1000 };

static void put_back(struct timespec *t, uint64_t ns)
{
	t->tv_sec -= (time_t)(ns / SECOND);
	t->tv_nsec -= (long)(ns % SECOND);
	if (t->tv_nsec < 0) {
		t->tv_nsec += SECOND;
		t->tv_sec--;
	}
}

int vprof_w_clock_gettime(clockid_t clock, struct timespec *ret)
{
	uint64_t behind = clock_is_virtual && virtual_clock_has(clock) ? virtual_clock_behind() : 0;
	int r = real.clock_gettime(clock, ret);

	if (!r && behind)
		put_back(ret, behind);
	if (clock_is_virtual)
		virtual_clock_was_read();
	return r;
}

int vprof_w_timespec_get(struct timespec *ret, int base)
{
	uint64_t behind = clock_is_virtual ? virtual_clock_behind() : 0;
	int r = real.timespec_get(ret, base);

	if (r && behind)
		put_back(ret, behind);
	if (clock_is_virtual)
		virtual_clock_was_read();
	return r;
}

int vprof_w_gettimeofday(struct timeval *ret, void *zone)
{
	uint64_t behind = clock_is_virtual ? virtual_clock_behind() : 0;
	int r = real.gettimeofday(ret, zone);

	if (!r && ret && behind) {
		struct timespec t = { ret->tv_sec, ret->tv_usec * US };

		put_back(&t, behind);
		ret->tv_sec = t.tv_sec;
		ret->tv_usec = t.tv_nsec / US;
	}
	if (clock_is_virtual)
		virtual_clock_was_read();
	return r;
}

time_t vprof_w_time(time_t *ret)
{
	struct timespec t;

	if (!clock_is_virtual || !real.clock_gettime || vprof_w_clock_gettime(CLOCK_REALTIME, &t))
		return real.time(ret);
	if (ret)
		*ret = t.tv_sec;
	return t.tv_sec;
}

int vprof_w_timerfd_settime(int fd, int flags, const struct itimerspec *set, struct itimerspec *old)
{
	struct until u = { .of = NULL };
	struct itimerspec moved;

	if (!clock_is_virtual || !(flags & TFD_TIMER_ABSTIME) || !readable(set, sizeof(*set)) ||
	    (!set->it_value.tv_sec && !set->it_value.tv_nsec))
		return real.timerfd_settime(fd, flags, set, old);
	moved.it_interval = set->it_interval;
	moved.it_value = *until_move(&u, &set->it_value, NULL);
	return real.timerfd_settime(fd, flags, &moved, old);
}
