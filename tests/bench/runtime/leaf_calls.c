/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * leaf_calls.c - replaces the runtime: probes whose calls read the clock and do nothing else.
 *
 * The leaf takes longer with them than with a pair of rdtsc by the two calls, the jumps that lead to them and
 * back, and saving the return value (runtime/shared/probe_x86_64.h): the cost of our probes if they
 * record nothing.
 */
#include "runtime/shared/probe.h"

void vprof_register(struct vprof_site *sites, struct vprof_site *end, const char *note)
{
	(void)note;
	for (; sites < end; sites++)
		sites->gate = 1;
}

#if defined(__x86_64__)
__asm__(".text\n.globl vprof_enter\n.type vprof_enter, @function\n.p2align 6\nvprof_enter:\n"
	"rdtsc\n"
	"shl $32, %rdx\n"
	"or %rdx, %rax\n"
	"ret\n.size vprof_enter, .-vprof_enter");

__asm__(".globl vprof_leave, vprof_leave_void\n.type vprof_leave, @function\n.p2align 6\nvprof_leave: vprof_leave_void:\n"
	"mov %rax, %rsi\n"
	"rdtsc\n"
	"shl $32, %rdx\n"
	"or %rdx, %rax\n"
	"sub %r11, %rax\n"
	"mov vprof_ticks_sum@gottpoff(%rip), %rdx\n"
	"add %rax, %fs:(%rdx)\n"
	"mov %rsi, %rax\n"
	"ret\n.size vprof_leave, .-vprof_leave");

__thread unsigned long long vprof_ticks_sum;
#endif
