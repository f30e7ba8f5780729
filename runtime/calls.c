/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.c - what a probe calls when its function is recorded: vprof_enter() and vprof_leave().
 *
 *	r10 = site, r11 = address of the frame;  call vprof_enter;  r11 = the call, or 0
 *	r11 = the call;                          call vprof_leave
 *
 * All registers but r10, r11 and the flags come back as they were, so that a probe costs the function
 * around it none.  What happens nearly always is written out here: push a frame, read the clock; read the
 * clock, write a record, pop the frame.  So is the least: a call that is recorded inside intervals only, met outside, or
 * in one that is root-only, takes one register and nine instructions.  The rest is thread_enter() and thread_leave()
 * in C: first call of a thread, full stack, full chunk, frames left behind.  C may use any register that a call may
 * change, so all of them are saved around it, the vector registers by xsave as the dynamic linker does it.
 *
 * A shadow stack with main and parse open, and now item is entered:
 *
 *	[0] ~0  [1] main 0xf00  [2] parse 0xe00  [3] <- top
 *
 * 0xd00 is not above 0xe00: parse is still there, item is its callee and becomes [3].  At 0xe80 it
 * would not be: thread_enter() closes parse first.
 *
 * The frame's address is stored before the frame counts (a signal handler's probes look at it) and
 * everything again afterwards (they may have used the same place in between).  A record is two words,
 * start, then length << 16 | fid.  The first is written last: a record that a killed thread left
 * half made reads as none.
 */
#include "runtime/calls.h"
#include "runtime/thread.h"

#if defined(__x86_64__) && !defined(VPROF_PORTABLE)
#include <cpuid.h>
#include <stddef.h>

/* As the assembler knows them. */
_Static_assert(offsetof(struct vprof_site, level) == 0 && offsetof(struct vprof_site, fid) == 2, "site");
_Static_assert(offsetof(struct vprof_self, top) == 0 && offsetof(struct vprof_self, cursor) == 8 &&
	       offsetof(struct vprof_self, gate) == 16, "self");
_Static_assert(offsetof(struct vprof_frame, start) == 0 && offsetof(struct vprof_frame, address) == 8 &&
	       offsetof(struct vprof_frame, caller) == 16 && offsetof(struct vprof_frame, fid) == 24 &&
	       sizeof(struct vprof_frame) == 32, "frame");
_Static_assert(VPROF_STACK_BYTES == 4096 && VPROF_STACK_FRAMES == 128, "shadow stack");
_Static_assert(VPROF_CHUNK_BYTES == 16384 && VPROF_CHUNK_LIMIT == 15360, "chunk");

#define OSXSAVE (1u << 27)

unsigned char vprof_has_xsave __attribute__((visibility("hidden")));

void calls_prepare(void)
{
	unsigned int a, b, c = 0, d;

	vprof_has_xsave = __get_cpuid(1, &a, &b, &c, &d) && (c & OSXSAVE);
}

#define PUSH(reg) "push %" #reg "\n.cfi_adjust_cfa_offset 8\n"
#define POP(reg) "pop %" #reg "\n.cfi_adjust_cfa_offset -8\n"

#define FUNCTION(name)								\
	".type " #name ", @function\n.p2align 4\n" #name ":\n.cfi_startproc\n"
/* Above the return address, on the stack, is the place in the user's function that we are called from as far as
 * unwinding is concerned (probe_x86_64.h). */
#define FROM_INSIDE ".cfi_adjust_cfa_offset 8\n"
#define END(name) ".cfi_endproc\n.size " #name ", .-" #name "\n"

/* r10 and r11 are changed, the site and the address; r11 comes back.  rax: where vprof_self is. */
__asm__(".text\n.globl vprof_enter\n"
	FUNCTION(vprof_enter)
	FROM_INSIDE
	"endbr64\n"
	PUSH(rax)
	"mov vprof_self@gottpoff(%rip), %rax\n"
	"mov %fs:16(%rax), %eax\n"
	"add (%r10), %al\n"			/* level + gate < 3: not here */
	"cmp $3, %al\n"
	"jae 3f\n"
	".cfi_remember_state\n"
	"xor %r11d, %r11d\n"
	POP(rax)
	"ret\n"
	".cfi_restore_state\n"
	"3: mov vprof_self@gottpoff(%rip), %rax\n"
	PUSH(rcx) PUSH(rdx)
	"mov 8(%r11), %rcx\n"			/* the return address: the caller */
	"mov %fs:(%rax), %rdx\n"		/* top */
	"test $4095, %edx\n"			/* a full stack, or none */
	"jz 4f\n"
	"cmp %r11, -24(%rdx)\n"			/* is the frame below top left behind? */
	"jb 4f\n"
	"jne 1f\n"
	"cmp %rcx, -16(%rdx)\n"
	"jne 4f\n"
	"1: mov %r11, 8(%rdx)\n"
	"add $32, %rdx\n"
	"mov %rdx, %fs:(%rax)\n"
	"mov %r11, -24(%rdx)\n"
	"mov %rcx, -16(%rdx)\n"
	"movzwl 2(%r10), %ecx\n"
	"mov %rcx, -8(%rdx)\n"
	"lea -32(%rdx), %r11\n"
	"rdtsc\n"
	"shl $32, %rdx\n"
	"or %rdx, %rax\n"
	"mov %rax, (%r11)\n"
	"shr $5, %r11\n"			/* frame_call() */
	"and $127, %r11d\n"
	"shl $7, %rax\n"
	"or %rax, %r11\n"
	"2:\n.cfi_remember_state\n"
	POP(rdx) POP(rcx) POP(rax)
	"ret\n"
	".cfi_restore_state\n"
	"4: lea thread_enter(%rip), %rax\n"
	"call call_c\n"
	"jmp 2b\n"
	END(vprof_enter));

__asm__(".text\n.globl vprof_leave\n"
	FUNCTION(vprof_leave)
	FROM_INSIDE
	"endbr64\n"
	PUSH(rax) PUSH(rcx) PUSH(rdx) PUSH(rsi)
	"rdtsc\n"
	"shl $32, %rdx\n"
	"or %rdx, %rax\n"
	"mov vprof_self@gottpoff(%rip), %rcx\n"
	"mov %fs:(%rcx), %rdx\n"		/* top */
	"test %rdx, %rdx\n"
	"jz 3f\n"
	"lea -32(%rdx), %esi\n"			/* frame_call() of the innermost frame */
	"shr $5, %esi\n"
	"and $127, %esi\n"
	"mov -32(%rdx), %r10\n"
	"shl $7, %r10\n"
	"or %rsi, %r10\n"
	"cmp %r11, %r10\n"
	"jne 3f\n"
	"mov -32(%rdx), %rsi\n"			/* start */
	"sub %rsi, %rax\n"			/* length */
	"mov $16, %r10d\n"			/* room for the record, in one instruction */
	"xadd %r10, %fs:8(%rcx)\n"
	"mov %r10d, %edx\n"
	"and $16383, %edx\n"
	"cmp $15360, %edx\n"
	"jae 2f\n"
	"mov %rax, %rdx\n"
	"shr $48, %rdx\n"
	"jnz 2f\n"
	"mov %fs:(%rcx), %rdx\n"
	"shl $16, %rax\n"
	"or -8(%rdx), %rax\n"
	"mov %rax, 8(%r10)\n"
	"mov %rsi, (%r10)\n"
	"movq $0, -32(%rdx)\n"
	"sub $32, %rdx\n"
	"mov %rdx, %fs:(%rcx)\n"
	"1:\n.cfi_remember_state\n"
	POP(rsi) POP(rdx) POP(rcx) POP(rax)
	"ret\n"
	".cfi_restore_state\n"
	"2: add %rsi, %rax\n"			/* the end */
	"3: mov %r11, %r10\n"
	"mov %rax, %r11\n"
	"lea thread_leave(%rip), %rax\n"
	"call call_c\n"
	"jmp 1b\n"
	END(vprof_leave));

/*
 * Calls rax(r10, r11, rcx), the result in r11; of rax, rcx and rdx nothing is left.  xsave has XMM, YMM,
 * ZMM and the masks (bits 1, 2, 5, 6, 7) in at most 2688 bytes, of which the header at 512 has to be
 * cleared before.
 */
#define VECTORS "xor %edx, %edx\nmov $0xe6, %eax\n"

__asm__(".text\n"
	FUNCTION(call_c)
	PUSH(rbp)
	".cfi_rel_offset %rbp, 0\n"
	"mov %rsp, %rbp\n"
	".cfi_def_cfa_register %rbp\n"
	"push %rdi\n"
	"push %rsi\n"
	"push %r8\n"
	"push %r9\n"
	"sub $2688, %rsp\n"
	"and $-64, %rsp\n"
	"mov %r10, %rdi\n"
	"mov %r11, %rsi\n"
	"mov %rax, %r10\n"
	"cmpb $0, vprof_has_xsave(%rip)\n"
	"jne 1f\n"
	"fxsave64 (%rsp)\n"
	"mov %rcx, %rdx\n"
	"call *%r10\n"
	"mov %rax, %r11\n"
	"fxrstor64 (%rsp)\n"
	"jmp 2f\n"
	"1: xor %eax, %eax\n"
	"mov %rax, 512(%rsp)\n"
	"mov %rax, 520(%rsp)\n"
	"mov %rax, 528(%rsp)\n"
	"mov %rax, 536(%rsp)\n"
	"mov %rax, 544(%rsp)\n"
	"mov %rax, 552(%rsp)\n"
	"mov %rax, 560(%rsp)\n"
	"mov %rax, 568(%rsp)\n"
	VECTORS
	"xsave64 (%rsp)\n"
	"mov %rcx, %rdx\n"
	"call *%r10\n"
	"mov %rax, %r11\n"
	VECTORS
	"xrstor64 (%rsp)\n"
	"2: lea -32(%rbp), %rsp\n"
	"pop %r9\n"
	"pop %r8\n"
	"pop %rsi\n"
	"pop %rdi\n"
	"pop %rbp\n"
	".cfi_def_cfa %rsp, 8\n"
	"ret\n"
	END(call_c));

#else

void calls_prepare(void)
{
}

unsigned long long vprof_enter(struct vprof_site *site, unsigned long address, unsigned long caller)
{
	return site->level + vprof_self.gate < 3 ? 0 : thread_enter(site, address, caller);
}

void vprof_leave(unsigned long long call)
{
	thread_leave(call, vprof_ticks());
}

#endif
