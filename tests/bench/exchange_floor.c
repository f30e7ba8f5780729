/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * exchange_floor.c - what the least possible programs take at the tracepoints of exchanges, by the kernel's own statistics:
 *
 *	exchange_floor SECONDS
 *	sk_data_ready 100000 8000000 9000000
 *	...
 *
 * Per tracepoint: how often it came, the nanoseconds of a program that returns at once (two instructions), and of one that asks for the
 * time first, which an event cannot be without.  Exit 77: not permitted, or not on this kernel.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/banned.h"

enum kind { EMPTY, CLOCK, KIND_CNT };

static const char *const tracepoints[] = { "sk_data_ready", "sock_recv_length", "sock_send_length" };

enum { TRACEPOINT_CNT = sizeof(tracepoints) / sizeof(*tracepoints) };

/* A descriptor of the program, attached as those of record.bpf.c are; or a negative errno. */
static int attach(const char *tracepoint, enum kind kind)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ktime_get_ns },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	size_t skipped = kind == EMPTY;
	int btf_id = libbpf_find_vmlinux_btf_id(tracepoint, BPF_TRACE_RAW_TP), program, link;
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_TRACE_RAW_TP);

	if (btf_id < 0)
		return btf_id;
	options.attach_btf_id = (__u32)btf_id;
	program = bpf_prog_load(BPF_PROG_TYPE_TRACING, "vprof_floor", "GPL", insns + skipped,
				sizeof(insns) / sizeof(*insns) - skipped, &options);
	if (program < 0)
		return program;
	link = bpf_raw_tracepoint_open(NULL, program);		/* goes with the process */
	return link < 0 ? link : program;
}

static struct bpf_prog_info info_of(int program)
{
	struct bpf_prog_info info = { 0 };
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(program, &info, &len) < 0)
		exit(1);
	return info;
}

int main(int argc, char **argv)
{
	int programs[TRACEPOINT_CNT][KIND_CNT];
	double seconds = argc == 2 ? strtod(argv[1], NULL) : 0;

	if (seconds <= 0)
		return 2;
	for (size_t i = 0; i < TRACEPOINT_CNT; i++)
		for (enum kind k = EMPTY; k < KIND_CNT; k++) {
			programs[i][k] = attach(tracepoints[i], k);
			if (programs[i][k] < 0) {
				fprintf(stderr, "exchange_floor: no program at %s here\n", tracepoints[i]);
				return 77;
			}
		}
	if (bpf_enable_stats(BPF_STATS_RUN_TIME) < 0)
		return 77;
	usleep((useconds_t)(seconds * 1e6));
	for (size_t i = 0; i < TRACEPOINT_CNT; i++) {
		struct bpf_prog_info empty = info_of(programs[i][EMPTY]), timed = info_of(programs[i][CLOCK]);

		printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", tracepoints[i], (uint64_t)empty.run_cnt, (uint64_t)empty.run_time_ns,
		       (uint64_t)timed.run_time_ns);
	}
	return 0;
}
