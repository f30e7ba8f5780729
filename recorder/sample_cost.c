/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sample_cost.c - how much longer a thread takes for each sample of it: the interrupt, and the copy of its stack.
 *
 * The program cannot measure it, for most of it is the interrupt's, before and after the program; on a virtual machine that is many times
 * as much.  So a loop that reads the clock is sampled for a moment, before anything is recorded: the time that it stood still around
 * a sample is the sample's.
 *
 *	the clock was read at ..., 4,012, 4,040, 37,300, 37,328, ...; a sample at 9,100	-> 33,260
 *
 * The median counts: at some of the samples another thread took the CPU.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <time.h>
#include "base/alloc.h"
#include "base/banned.h"
#include "recorder/bpf/record.h"
#include "recorder/bpf/record.skel.h"
#include "recorder/recorder_internal.h"
#include "recorder/sample_cost.h"

#define LONGEST_NS 1500000000ULL		/* of the clock: on a busy machine the loop waits for a CPU, too */
#define ENOUGH_NS 120000000ULL		/* of CPU time */
#define GAP_NS 500			/* reading the clock takes a tenth of that */

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void stand_still(gaps_in_time *gaps)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + LONGEST_NS, enough_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ENOUGH_NS;
	uint64_t before_ns = clock_ns(CLOCK_MONOTONIC), now_ns;

	for (unsigned i = 1; before_ns < end_ns; before_ns = now_ns, i++) {
		now_ns = clock_ns(CLOCK_MONOTONIC);
		if (now_ns - before_ns > GAP_NS)
			VEC_ADD(gaps, (struct gap_in_time){ before_ns, now_ns });
		if (i % 4096)
			continue;
		if (clock_ns(CLOCK_THREAD_CPUTIME_ID) > enough_ns)
			break;
		now_ns = clock_ns(CLOCK_MONOTONIC);	/* that call's is no sample's */
	}
}

struct taken {
	VEC(uint64_t) samples_ns;
};

static int take(void *arg, void *record, size_t len)
{
	const struct record_stack *r = record;
	struct taken *t = arg;

	if (len >= __builtin_offsetof(struct record_stack, kernel_cnt))
		VEC_ADD(&t->samples_ns, r->ns);
	return 0;
}

uint32_t sample_cost_measure(struct record_bpf *p, unsigned int hz)
{
	gaps_in_time gaps = { NULL, 0, 0 };
	struct taken taken = { { NULL, 0, 0 } };
	struct sampler *s = NULL;
	struct ring_buffer *ring = ring_buffer__new(bpf_map__fd(p->maps.stack_records), take, &taken, NULL);
	uint32_t cost_ns = 0;

	if (ring && sampler_open_own(p->progs.on_sample, hz, &s) == 0) {
		stand_still(&gaps);
		sampler_close(s);
		while (ring_buffer__consume(ring) == -EAGAIN)
			;
		cost_ns = sample_cost_of(&gaps, taken.samples_ns.items, taken.samples_ns.cnt);
	}
	ring_buffer__free(ring);	/* NULL is fine */
	VEC_RELEASE(&gaps);
	VEC_RELEASE(&taken.samples_ns);
	return cost_ns;
}
