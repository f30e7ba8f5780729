/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * floor.c - programs of the kernel's that do nothing, so short that they are written down as the instructions they are:
 *
 *	call bpf_ktime_get_ns		FLOOR_CLOCK, at a switch or waking
 *	r0 = 0
 *	exit
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <unistd.h>
#include "base/banned.h"
#include "tests/bench/floor.h"

/* Where record.bpf.c is attached while no packet comes from outside, but for what happens once in a thread's life. */
static const struct hook {
	const char *tracepoint;
	bool is_event;
} hooks[] = {
	{ "sched_switch", true },
	{ "sched_waking", true },
	{ "block_io_start", false },
	{ "block_rq_issue", false },
	{ "block_rq_complete", false },
	{ "irq_handler_entry", false },
	{ "irq_handler_exit", false },
	{ "hrtimer_expire_entry", false },
	{ "hrtimer_expire_exit", false },
	{ "timer_expire_entry", false },
};

enum { HOOK_CNT = sizeof(hooks) / sizeof(*hooks) };

struct attached {
	int program, link;		/* descriptors; 0: none */
};

static struct attached all[FLOOR_CLOCK + 1][HOOK_CNT];

static int load_one(const struct hook *hook, bool asks_for_the_time)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ktime_get_ns },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int btf_id = libbpf_find_vmlinux_btf_id(hook->tracepoint, BPF_TRACE_RAW_TP);
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_TRACE_RAW_TP);
	int skipped = asks_for_the_time ? 0 : 1;

	if (btf_id < 0)
		return 0;		/* this kernel does not have it */
	options.attach_btf_id = (__u32)btf_id;
	return bpf_prog_load(BPF_PROG_TYPE_TRACING, "vprof_floor", "GPL", insns + skipped,
			     sizeof(insns) / sizeof(*insns) - (size_t)skipped, &options);
}

int floor_load(enum floor_kind kind)
{
	for (int i = 0; i < HOOK_CNT; i++) {
		int fd = load_one(&hooks[i], kind == FLOOR_CLOCK && hooks[i].is_event);

		if (fd < 0)
			return fd;
		all[kind][i].program = fd;
	}
	return 0;
}

int floor_attach(enum floor_kind kind)
{
	for (struct attached *a = all[kind]; a < all[kind] + HOOK_CNT; a++) {
		a->link = a->program ? bpf_raw_tracepoint_open(NULL, a->program) : 0;
		if (a->link < 0)
			return a->link;
	}
	return 0;
}

void floor_detach(enum floor_kind kind)
{
	for (struct attached *a = all[kind]; a < all[kind] + HOOK_CNT; a++) {
		if (a->link > 0)
			close(a->link);
		a->link = 0;
	}
}
