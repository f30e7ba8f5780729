/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switched.c - uses a restartable sequence that no thread executes as a mark.
 *
 * The kernel reads the four bytes before the address where an interrupted sequence would go on, and kills the
 * program if they are not the signature that was registered: the C library's, if that registered.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>
#include "runtime/shared/switched.h"

#if __has_include(<sys/rseq.h>) && UINTPTR_MAX == UINT64_MAX
#include <sys/rseq.h>

/* Missing in C libraries older than 2.35, and in some static programs. */
#pragma weak __rseq_offset
#pragma weak __rseq_size

enum { LONGEST_TRIAL_NS = 100000000 };

static const uint32_t elsewhere[2] = { RSEQ_SIG };

/* An empty stretch: no address is inside. */
static const struct rseq_cs nowhere = {
	.start_ip = (uintptr_t)&nowhere,
	.abort_ip = (uintptr_t)&elsewhere[1],
};

/* In old kernel headers the field is a union. */
static volatile uint64_t *sequence(struct rseq *area)
{
	return (void *)&area->rseq_cs;
}

/* NULL: this thread's is not registered.  An area without a CPU belongs to a thread that the C library did
 * not create. */
static struct rseq *own_area(void)
{
	struct rseq *area;

	if (!&__rseq_offset || !&__rseq_size || !__rseq_size)
		return NULL;
	area = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
	return (int32_t)area->cpu_id >= 0 ? area : NULL;
}

void switched_mark(void)
{
	struct rseq *area = own_area();

	if (area)
		*sequence(area) = (uintptr_t)&nowhere;
}

bool switched_was_not(void)
{
	struct rseq *area = own_area();

	if (!area || *sequence(area) != (uintptr_t)&nowhere)
		return false;
	*sequence(area) = 0;
	return true;
}

static long switches_so_far(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw : 0;
}

/*
 * A sleep can end before its thread is switched off: the timer fires while the host has taken the processor
 * away.  So a sleep counts only if the kernel counted a switch.
 */
bool switched_is_told(void)
{
	for (long sleep_ns = 1000; own_area() && sleep_ns < LONGEST_TRIAL_NS; sleep_ns *= 4) {
		const struct timespec moment = { 0, sleep_ns };
		long before = switches_so_far();
		bool stayed;

		switched_mark();
		nanosleep(&moment, NULL);
		stayed = switched_was_not();
		if (switches_so_far() != before)
			return !stayed;
	}
	return false;
}

#else

void switched_mark(void)
{
}

bool switched_was_not(void)
{
	return false;
}

bool switched_is_told(void)
{
	return false;
}
#endif
