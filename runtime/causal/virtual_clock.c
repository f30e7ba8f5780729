/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtual_clock.c - see virtual_clock.h.
 *
 * A clock's lag may grow as fast as time passes, and no faster, or the clock would go back: when a thread joins a block,
 * its shift jumps.  The lag then catches up step by step.
 */
#include <errno.h>
#include "runtime/causal/causal.h"
#include "runtime/causal/pause.h"
#include "runtime/causal/virtual_clock.h"
#include "runtime/thread.h"

#define SLEW 4096			/* clocks and ticks may differ by 1/SLEW */

uint32_t clock_is_virtual;
static uint64_t last_behind;		/* of any thread: for threads that begin after the experiments */
static __thread struct {
	uint64_t behind, read_ns;	/* when a clock was read last; 0: never */
} self __attribute__((tls_model("initial-exec")));

/* When the experiments are over, clocks stay behind: they cannot catch up without a jump. */
static bool is_over(void)
{
	return !causal_on || !process.arena->base;
}

void virtual_clock_is_out_of_reach(void)
{
	if (__atomic_exchange_n(&clock_is_virtual, 0, __ATOMIC_ACQ_REL) && process.arena->base)
		__atomic_fetch_add(&process.arena->control->experiment.real_clock_cnt, 1, __ATOMIC_RELAXED);
}

uint64_t virtual_clock_behind(void)
{
	uint64_t behind = self.behind, now, most;
	int saved_errno = errno;

	if (is_over())
		return self.read_ns ? behind : __atomic_load_n(&last_behind, __ATOMIC_RELAXED);
	if (causal_clock(&behind, &now) && self.read_ns) {
		most = now > self.read_ns ? self.behind + (now - self.read_ns) - (now - self.read_ns) / SLEW : self.behind;
		behind = behind < most ? behind : most;
	}
	self.behind = behind;
	__atomic_store_n(&last_behind, behind, __ATOMIC_RELAXED);
	errno = saved_errno;
	return behind;
}

void virtual_clock_was_read(void)
{
	if (!is_over())
		self.read_ns = pause_now_ns();
}

bool virtual_clock_has(clockid_t clock)
{
	switch (clock) {
	case CLOCK_REALTIME:
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_BOOTTIME:
	case CLOCK_TAI:
		return true;
	}
	return false;
}

/* Pauses paid since then took as much time; a shift that jumped meanwhile, as at the begin of a block, is caught up. */
void virtual_clock_came(uint64_t behind, uint64_t ticks)
{
	uint64_t shift = behind, now, then;

	if (is_over())
		return;
	causal_clock(&shift, &now);
	then = arena_experiment_ns(process.arena, ticks);
	behind += now > then ? now - then : 0;
	self.behind = shift < behind ? shift : behind;
	self.read_ns = now;
}
