/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * floor.c - programs of the kernel's that do next to nothing, so short that they are written down as the instructions they are:
 *
 *	r2 = the thread that leaves		FLOOR_OWN, at a switch; then once more for the one that comes
 *	if r2->tgid == server goto clock
 *	if r2->real_parent->tgid == server goto clock
 *	r0 = 0
 *	exit
 * clock:
 *	call bpf_ktime_get_ns			FLOOR_CLOCK begins here, at a switch or waking
 *	r0 = 0					FLOOR_EMPTY begins here
 *	exit
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include "base/banned.h"
#include "tests/bench/floor.h"

/* The hooks of record.bpf.c while no packet comes from outside, except those that run once in a thread's life. */
static const struct hook {
	const char *tracepoint;
	unsigned int task_cnt;		/* the event's threads: arguments of the tracepoint ... */
	unsigned int first_task;	/* ... from this one on */
} hooks[] = {
	{ "sched_switch", 2, 1 },
	{ "sched_waking", 1, 0 },
	{ "block_io_start", 0, 0 },
	{ "block_rq_issue", 0, 0 },
	{ "block_rq_complete", 0, 0 },
	{ "irq_handler_entry", 0, 0 },
	{ "irq_handler_exit", 0, 0 },
	{ "hrtimer_expire_entry", 0, 0 },
	{ "hrtimer_expire_exit", 0, 0 },
	{ "timer_expire_entry", 0, 0 },
};

enum { HOOK_CNT = sizeof(hooks) / sizeof(*hooks) };

struct attached {
	int program, link;		/* descriptors; 0: none */
};

static struct attached all[FLOOR_OWN + 1][HOOK_CNT];

enum { INSNS_MAX = 32 };

struct code {
	struct bpf_insn insns[INSNS_MAX];
	unsigned int cnt;
};

static void put(struct code *c, struct bpf_insn insn)
{
	c->insns[c->cnt++] = insn;
}

static void put_load(struct code *c, unsigned char size, unsigned char to, unsigned char from, size_t offset)
{
	put(c, (struct bpf_insn){ .code = BPF_LDX | BPF_MEM | size, .dst_reg = to & 15, .src_reg = from & 15,
				  .off = (short)offset });
}

/* Bytes from the beginning of a task_struct; negative: there is no such member. */
static long offset_in_task(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, "task_struct", BTF_KIND_STRUCT);
	const struct btf_type *type = id < 0 ? NULL : btf__type_by_id(btf, (__u32)id);

	for (__u32 i = 0; type && i < btf_vlen(type); i++)
		if (strcmp(btf__name_by_offset(btf, btf_members(type)[i].name_off), name) == 0)
			return btf_member_bit_offset(type, i) / 8;
	return -ENOENT;
}

/* A thread runs "clock" if its tgid or its parent's is the server's; write_code() sets the jump's target. */
static int put_own(struct code *c, const struct hook *hook, int server)
{
	struct btf *btf = btf__load_vmlinux_btf();
	long tgid = btf ? offset_in_task(btf, "tgid") : -ENOENT;
	long parent = btf ? offset_in_task(btf, "real_parent") : -ENOENT;
	const struct bpf_insn is_server = { .code = BPF_JMP32 | BPF_JEQ | BPF_K, .dst_reg = 3, .imm = server };

	btf__free(btf);
	if (tgid < 0 || parent < 0)
		return -ENOENT;
	for (unsigned int i = 0; i < hook->task_cnt; i++) {
		put_load(c, BPF_DW, 2, 1, (hook->first_task + i) * sizeof(__u64));
		put_load(c, BPF_W, 3, 2, (size_t)tgid);
		put(c, is_server);
		put_load(c, BPF_DW, 2, 2, (size_t)parent);
		put_load(c, BPF_W, 3, 2, (size_t)tgid);
		put(c, is_server);
	}
	return 0;
}

static void put_return(struct code *c)
{
	put(c, (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K });
	put(c, (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT });
}

static int write_code(struct code *c, const struct hook *hook, enum floor_kind kind, int server)
{
	int r = 0;

	if (kind == FLOOR_OWN && hook->task_cnt) {
		r = put_own(c, hook, server);
		put_return(c);
		for (unsigned int i = 0; i < c->cnt; i++)
			if (c->insns[i].code == (BPF_JMP32 | BPF_JEQ | BPF_K))
				c->insns[i].off = (short)(c->cnt - i - 1);
	}
	if (kind != FLOOR_EMPTY && hook->task_cnt)
		put(c, (struct bpf_insn){ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ktime_get_ns });
	put_return(c);
	return r;
}

static int load_one(const struct hook *hook, enum floor_kind kind, int server)
{
	int btf_id = libbpf_find_vmlinux_btf_id(hook->tracepoint, BPF_TRACE_RAW_TP);
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_TRACE_RAW_TP);
	struct code code = { .cnt = 0 };
	int r;

	if (btf_id < 0)
		return 0;		/* this kernel does not have it */
	r = write_code(&code, hook, kind, server);
	if (r < 0)
		return r;
	options.attach_btf_id = (__u32)btf_id;
	return bpf_prog_load(BPF_PROG_TYPE_TRACING, "vprof_floor", "GPL", code.insns, code.cnt, &options);
}

int floor_load(enum floor_kind kind, int server)
{
	for (int i = 0; i < HOOK_CNT; i++) {
		int fd = load_one(&hooks[i], kind, server);

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
