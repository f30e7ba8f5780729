/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_stub.c - where an instruction `syscall` of the program's own goes first (instrumenter/insert/own_calls.c).
 *
 *	lea 1f, %rcx;  jmp vprof_own_call;  1: syscall
 *
 * No call: the stack may not be ours to push on (a red zone), and the call that comes may be a clone().  rcx and r11 are
 * the instruction's to change, as are the flags.  All other registers come back as they were, the vector registers, too.
 * A call that counts is made here and its instruction is passed over; every other goes on with the instruction.  For unwinding
 * the instruction's address is the return address, in rcx.
 */
#include <sys/syscall.h>
#include "runtime/calls.h"
#include "runtime/thread.h"
#include "runtime/wrappers/own_call.h"

#if defined(__x86_64__) && defined(__LP64__) && !defined(VPROF_PORTABLE)
#include <stddef.h>

_Static_assert(offsetof(struct vprof_self, gate) == 16, "as the assembler knows it");
_Static_assert(offsetof(struct own_call, number) == 0 && offsetof(struct own_call, a) == 8 &&
	       offsetof(struct own_call, saved) == 56 && offsetof(struct own_call, caller) == 72, "as it is pushed");

/* The instruction itself, here. */
static long make(const struct own_call *c)
{
	register long r10 __asm__("r10") = c->a[3];
	register long r8 __asm__("r8") = c->a[4];
	register long r9 __asm__("r9") = c->a[5];
	long r;

	__asm__ volatile("syscall" : "=a"(r)
			 : "0"(c->number), "D"(c->a[0]), "S"(c->a[1]), "d"(c->a[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return r;
}

/* For the code below, by its name. */
__attribute__((used)) unsigned long long own_stub_call(const struct own_call *c);

unsigned long long own_stub_call(const struct own_call *c)
{
	return (unsigned long long)own_call(c, make);
}

#define COUNTS(number) [number] = 1

/* own_call_counts() as a table, without a call; numbers missing here do not count. */
__attribute__((used)) const unsigned char own_stub_counts[512] = {
	COUNTS(SYS_futex), COUNTS(449), COUNTS(454), COUNTS(455), COUNTS(456),
	COUNTS(SYS_read), COUNTS(SYS_readv), COUNTS(SYS_recvfrom), COUNTS(SYS_recvmsg), COUNTS(SYS_accept), COUNTS(SYS_accept4),
	COUNTS(SYS_write), COUNTS(SYS_writev), COUNTS(SYS_sendto), COUNTS(SYS_sendmsg),
	COUNTS(SYS_poll), COUNTS(SYS_ppoll), COUNTS(SYS_select), COUNTS(SYS_pselect6),
	COUNTS(SYS_epoll_wait), COUNTS(SYS_epoll_pwait), COUNTS(441),
	COUNTS(SYS_nanosleep), COUNTS(SYS_clock_nanosleep), COUNTS(426),
	COUNTS(SYS_prctl), COUNTS(SYS_seccomp),
	COUNTS(SYS_kill), COUNTS(SYS_tgkill), COUNTS(SYS_rt_sigqueueinfo),
};

#if defined(__CET__) && __CET__ & 1
#define LANDING "endbr64\n"
#define NOTRACK "notrack "
#else
#define LANDING
#define NOTRACK
#endif

#define PUSH(reg) "push %" #reg "\n.cfi_adjust_cfa_offset 8\n"
#define POP(reg) "pop %" #reg "\n.cfi_adjust_cfa_offset -8\n"

__asm__(".text\n.globl vprof_own_call\n.type vprof_own_call, @function\n.p2align 4\n"
	"vprof_own_call:\n"
	".cfi_startproc\n"
	".cfi_def_cfa %rsp, 0\n"
	".cfi_register %rip, %rcx\n"
	LANDING
	"mov vprof_self@gottpoff(%rip), %r11\n"
	"cmpb $0, %fs:16(%r11)\n"
	"je 1f\n"
	"cmp $511, %rax\n"
	"ja 1f\n"
	"lea own_stub_counts(%rip), %r11\n"
	"cmpb $0, (%r11,%rax)\n"
	"je 1f\n"
	"lea -128(%rsp), %rsp\n.cfi_adjust_cfa_offset 128\n"
	PUSH(rcx)
	".cfi_offset %rip, -136\n"
	PUSH(rdx) PUSH(r10)
	PUSH(r9) PUSH(r8) PUSH(r10) PUSH(rdx) PUSH(rsi) PUSH(rdi) PUSH(rax)	/* struct own_call, with the three before */
	"mov %rsp, %r10\n"
	"lea own_stub_call(%rip), %rax\n"
	"call vprof_call_c\n"
	"mov %r11, %rax\n"
	"lea 56(%rsp), %rsp\n.cfi_adjust_cfa_offset -56\n"
	POP(r10) POP(rdx) POP(rcx)
	".cfi_register %rip, %rcx\n"
	"lea 128(%rsp), %rsp\n.cfi_adjust_cfa_offset -128\n"
	"lea 2(%rcx), %rcx\n"		/* past the instruction */
	"1: " NOTRACK "jmp *%rcx\n"
	".cfi_endproc\n"
	".size vprof_own_call, .-vprof_own_call\n");
#endif
