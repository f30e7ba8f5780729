/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sampler.c - a clock on each CPU that calls a program at every tick: not the processor's counters, which
 * virtual machines seldom have, but the kernel's own timer.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/banned.h"
#include "recorder/recorder_internal.h"

struct sampler {
	VEC(struct bpf_link *) links;
	VEC(int) clocks;		/* the links' */
};

static int add_cpu(struct sampler *s, const struct bpf_program *program, int cpu, unsigned int hz)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(a), .config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000 / hz,
	};
	int fd = (int)syscall(SYS_perf_event_open, &a, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
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
	return 0;
}

int sampler_open(const struct bpf_program *program, unsigned int hz, struct sampler **ret)
{
	struct sampler *s = xcalloc(1, sizeof(*s));
	long cpu_cnt = sysconf(_SC_NPROCESSORS_CONF);
	int e = 0;

	for (int cpu = 0; cpu < cpu_cnt && !e; cpu++)
		e = add_cpu(s, program, cpu, hz);
	if (e) {
		sampler_close(s);
		return e;
	}
	*ret = s;
	return 0;
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
	free(s);
}
