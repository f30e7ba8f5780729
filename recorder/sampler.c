/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sampler.c - a clock on each CPU that calls a program at every tick: not the processor's counters, which
 * virtual machines seldom have, but the kernel's own timer.  Periods are drawn, so that no load keeps step with them.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/banned.h"
#include "recorder/recorder_internal.h"
#include "recorder/sample_periods.h"

struct sampler {
	unsigned int hz;
	uint64_t next_ns, holds_ns, random;
	bool is_second;			/* of the pair of periods */
	VEC(struct sample_periods) periods;	/* the clocks' */
	VEC(struct bpf_link *) links;
	VEC(int) clocks;		/* the links' */
};

/* cpu -1: the calling thread, on whichever. */
static int add_clock(struct sampler *s, const struct bpf_program *program, int cpu)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(a), .config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000 / s->hz,
	};
	int fd = (int)syscall(SYS_perf_event_open, &a, cpu < 0 ? 0 : -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	struct bpf_link *link;

	if (fd < 0)
		return errno == ENODEV ? 0 : -errno;	/* the CPU is off */
	link = bpf_program__attach_perf_event(program, fd);
	if (!link) {
		int e = -errno;

		close(fd);
		return e;
	}
	VEC_ADD(&s->links, link);	/* closes fd as well */
	VEC_ADD(&s->clocks, fd);
	VEC_ADD(&s->periods, (struct sample_periods){ .random = (uint64_t)fd });
	return 0;
}

static int open_clocks(const struct bpf_program *program, unsigned int hz, int first, int end, struct sampler **ret)
{
	struct sampler *s = xcalloc(1, sizeof(*s));
	int e = 0;

	s->hz = hz;
	for (int cpu = first; cpu < end && !e; cpu++)
		e = add_clock(s, program, cpu);
	if (e) {
		sampler_close(s);
		return e;
	}
	*ret = s;
	return 0;
}

int sampler_open(const struct bpf_program *program, unsigned int hz, struct sampler **ret)
{
	return open_clocks(program, hz, 0, (int)sysconf(_SC_NPROCESSORS_CONF), ret);
}

int sampler_open_own(const struct bpf_program *program, unsigned int hz, struct sampler **ret)
{
	return open_clocks(program, hz, -1, 0, ret);
}

void sampler_draw(struct sampler *s, uint64_t now_ns)
{
	if (!s || now_ns < s->next_ns)
		return;
	if (!s->is_second) {
		s->random ^= now_ns;
		s->holds_ns = sample_pair_holds_ns(&s->random);
	}
	s->is_second = !s->is_second;
	for (size_t i = 0; i < s->clocks.cnt; i++) {
		struct sample_periods *p = &s->periods.items[i];
		uint64_t period_ns;

		if (!p->is_second)
			p->random ^= now_ns;
		period_ns = sample_next_period_ns(p, 1000000000 / s->hz);
		ioctl(s->clocks.items[i], PERF_EVENT_IOC_PERIOD, &period_ns);
	}
	s->next_ns = now_ns + s->holds_ns;
}

void sampler_rest(struct sampler *s, bool rest)
{
	for (size_t i = 0; s && i < s->clocks.cnt; i++)
		ioctl(s->clocks.items[i], rest ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE, 0);
}

void sampler_close(struct sampler *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->links.cnt; i++)
		bpf_link__destroy(s->links.items[i]);
	VEC_RELEASE(&s->links);
	VEC_RELEASE(&s->clocks);
	VEC_RELEASE(&s->periods);
	free(s);
}
