/* SPDX-License-Identifier: Apache-2.0 */
/* pause.c - see pause.h.  A sleep ends some 50 us late, so a short debt is paid by spinning. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "runtime/causal/pause.h"
#include "runtime/rules/permit.h"
#include "runtime/thread.h"

enum { SLEEP_MIN_NS = 150000, SPIN_MOST_NS = 70000, SLEEP_LATE_NS = 60000, HOLD_NS = 20000 };

#define GET(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)

static struct arena_experiment *experiment(void)
{
	return &process.arena->control->experiment;
}

uint64_t pause_now_ns(void)
{
	return arena_experiment_ns(process.arena, clock_ticks());
}

uint64_t pause_cpu_ns(void)
{
	struct timespec t;

	if (!permitted(PERMIT_CPUTIME) || syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void sleep_ns(uint64_t ns)
{
	struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	if (permitted(PERMIT_SLEEP))
		syscall(SYS_nanosleep, &t, NULL);
}

static void spin_until(uint64_t until)
{
	while (pause_now_ns() < until)
#ifdef __x86_64__
		__builtin_ia32_pause();
#else
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
#endif
}

/* How long to pause for a debt that still grows: the debt, minus what would be too much if it stopped growing now.  Checking more
 * often would take CPU time, which the program may see in its own CPU clock. */
static uint64_t until_gone(uint64_t debt)
{
	uint32_t speed = GET(&experiment()->all.speed);
	uint64_t ns = speed < SHIFT_WHOLE ? debt * SHIFT_WHOLE / (SHIFT_WHOLE - speed) : SLEEP_MIN_NS;

	return ns < SLEEP_MIN_NS ? ns : SLEEP_MIN_NS;
}

uint64_t pause_for(uint64_t debt)
{
	uint64_t from = pause_now_ns(), cpu;
	bool is_growing;

	if (GET(&experiment()->currency) == EXPERIMENT_HOLD && (cpu = pause_cpu_ns())) {
		spin_until(from + (debt < HOLD_NS ? debt : HOLD_NS));
		return pause_cpu_ns() - cpu;
	}
	is_growing = GET(&experiment()->open_cnt);
	if (is_growing && debt < SLEEP_MIN_NS)
		debt = until_gone(debt);
	if (is_growing || debt > SPIN_MOST_NS)
		sleep_ns(debt > SLEEP_LATE_NS ? debt - SLEEP_LATE_NS : 1);
	else
		spin_until(from + debt);
	return pause_now_ns() - from;
}
