/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.c - what a probe calls when its function is recorded: vprof_enter() and vprof_leave(), or vprof_leave_void() where
 * the function returns nothing, or, where the probe stands aside (probe_aside_x86_64.h), vprof_enter_aside() and
 * vprof_leave_aside(), which are the same as the first two but for unwinding.
 *
 *	rdx = gate, fid << 8 of the site, r11 = address of the frame;  call vprof_enter;  rax = the call, or 0
 *	r11 = the call;  call vprof_leave
 *
 * vprof_enter() changes rdx, r10 and r11 as well, vprof_leave() rcx, rdx, rsi, r10 and r11, vprof_leave_void() rax instead
 * of rsi; all other registers come back as they were.  What happens nearly always is written out here: push a frame, read the
 * clock; read the clock, write a record, pop the frame.  So is the least: a call that is recorded inside intervals only, met
 * outside, or in one that is root-only, takes five instructions.  The rest is thread_enter() and thread_leave()
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
 * A frame counts from when top is beyond it, but is not open before its start is stored, last of all: a signal handler
 * whose probe finds none there looks further down (thread.c).  A handler's frames may have used the same place before
 * we did, so nothing is stored earlier.  A record is two words, start, then length << 32 | fid << 8 | gate.  The first is written last: a
 * record that a killed thread left half made reads as none.
 */
#include "runtime/calls.h"
#include "runtime/causal/causal.h"
#include "runtime/thread.h"

#if defined(__x86_64__) && !defined(VPROF_PORTABLE)
#include <cpuid.h>
#include <stddef.h>

/* The offsets that the assembler code uses. */
_Static_assert(offsetof(struct vprof_site, gate) == 0 && offsetof(struct vprof_site, fid) == 1, "site");
_Static_assert(offsetof(struct vprof_self, top) == 0 && offsetof(struct vprof_self, cursor) == 8 &&
	       offsetof(struct vprof_self, gate) == 16 && offsetof(struct vprof_self, low) == 24, "self");
_Static_assert(offsetof(struct vprof_frame, start) == 0 && offsetof(struct vprof_frame, address) == 8 &&
	       offsetof(struct vprof_frame, caller) == 16 && offsetof(struct vprof_frame, function) == 24 &&
	       sizeof(struct vprof_frame) == 32, "frame");
_Static_assert(VPROF_STACK_BYTES == 4096 && VPROF_STACK_FRAMES == 128, "shadow stack");
_Static_assert(VPROF_CHUNK_BYTES == 0x4000 && VPROF_CHUNK_REST == 1024, "chunk");

#define OSXSAVE (1u << 27)

unsigned char vprof_has_xsave __attribute__((visibility("hidden")));

void calls_prepare(void)
{
	unsigned int a, b, c = 0, d;

	vprof_has_xsave = __get_cpuid(1, &a, &b, &c, &d) && (c & OSXSAVE);
}

#define PUSH(reg) "push %" #reg "\n.cfi_adjust_cfa_offset 8\n"
#define POP(reg) "pop %" #reg "\n.cfi_adjust_cfa_offset -8\n"

/*
 * A probe that stands aside is in no unwind entry, but goes on with a jump to a place in the user's function, after a
 * move of n bytes.  So for unwinding that place is the return address, DW_CFA_val_expression says: a = *(CFA - 8), and then
 * a + n + 5 + (int32)*(a + n + 1).
 */
#define FROM_INSIDE(n)									\
	".cfi_escape 0x16, 16, 17, "		/* of the return address, in 17 bytes */	\
	"0x38, 0x1c, 0x06, "			/* lit8, minus, deref */			\
	"0x12, 0x31 + " #n ", 0x22, 0x94, 4, "	/* dup, lit(n + 1), plus, deref_size 4 */	\
	"0x08, 32, 0x24, 0x08, 32, 0x26, "	/* shl 32, shra 32 */				\
	"0x22, 0x35 + " #n ", 0x22\n"		/* plus, lit(n + 5), plus */

/* The instruction at which indirect calls must arrive, with -fcf-protection. */
#if defined(__CET__) && __CET__ & 1
#define LANDING "endbr64\n"
#else
#define LANDING
#endif

#define FUNCTION(name)								\
	".type " #name ", @function\n.p2align 6\n" #name ":\n.cfi_startproc\n"
#define END(name) ".cfi_endproc\n.size " #name ", .-" #name "\n"

/* The same code by two names: FROM_INSIDE, for probes that stand aside, and nothing. */
#define PROBE_CALL(name, caller, code)							\
	__asm__(".text\n.globl " #name "\n" FUNCTION(name) caller LANDING code END(name))

/* rdx: the site's first word, rax: where vprof_self is, r10: top; then rax: the call. */
#define ENTER										\
	"mov vprof_self@gottpoff(%rip), %rax\n"						\
	"cmp %fs:16(%rax), %dl\n"		/* a gate that is not open here */	\
	"ja 3f\n"									\
	"mov %fs:(%rax), %r10\n"		/* top */				\
	"test $4095, %r10d\n"			/* a full stack, or none */		\
	"jz 5f\n"									\
	"cmp %fs:24(%rax), %r11\n"		/* is this another stack? */		\
	"jb 5f\n"									\
	"cmp %r11, -24(%r10)\n"			/* is the frame below top left behind? */ \
	"jbe 4f\n"									\
	"1: addq $32, %fs:(%rax)\n"							\
	"mov %r11, 8(%r10)\n"								\
	"mov %rdx, 24(%r10)\n"								\
	"mov 8(%r11), %rax\n"			/* the return address: the caller */	\
	"mov %rax, 16(%r10)\n"								\
	"rdtsc\n"									\
	"shl $32, %rdx\n"								\
	"or %rdx, %rax\n"				/* frame_call() */			\
	"mov %rax, (%r10)\n"								\
	"2: ret\n"									\
	"3: test %dl, %dl\n"			/* of an experiment's target? */	\
	"js 5f\n"									\
	"xor %eax, %eax\n"								\
	"ret\n"										\
	"4: jb 5f\n"				/* of the same address: an inlined callee, if it has the same caller */ \
	"mov 8(%r11), %rax\n"								\
	"cmp %rax, -16(%r10)\n"								\
	"mov vprof_self@gottpoff(%rip), %rax\n"						\
	"je 1b\n"									\
	"5: mov %edx, %r10d\n"								\
	PUSH(rcx)									\
	"mov 8(%r11), %rcx\n"								\
	"lea thread_enter(%rip), %rax\n"						\
	"call call_c\n"									\
	POP(rcx)									\
	"mov %r11, %rax\n"								\
	"jmp 2b\n"

/* rcx: where vprof_self is, r10: the innermost frame, rdx: the record's place.  A thread that has left finds no frame, and
 * reads no clock, which may be switched off.  Where C goes on, r11 is the call and rax the
 * end again.  What the user's function returns in rax is kept meanwhile, if it does. */
#define LEAVE(keep, give_back)								\
	keep										\
	"mov vprof_self@gottpoff(%rip), %rcx\n"						\
	"mov %fs:(%rcx), %r10\n"		/* top */				\
	"sub $32, %r10\n"								\
	"jb 6f\n"				/* there was none */			\
	"cmp %r11, (%r10)\n"			/* frame_call() of the innermost frame? */ \
	"jne 6f\n"									\
	"rdtsc\n"									\
	"shl $32, %rdx\n"								\
	"or %rdx, %rax\n"								\
	"sub %r11, %rax\n"								\
	"rol $32, %rax\n"			/* length << 32, if that is not too much */ \
	"test %eax, %eax\n"								\
	"jnz 2f\n"									\
	"or 24(%r10), %rax\n"			/* the function */			\
	"mov $16, %edx\n"			/* room for the record, in one instruction */ \
	"xadd %rdx, %fs:8(%rcx)\n"							\
	"test $0x3c00, %edx\n"								\
	"jz 1f\n"									\
	"mov %rax, -1016(%rdx)\n"							\
	"mov %r11, -1024(%rdx)\n"							\
	"movq $0, (%r10)\n"								\
	"mov %r10, %fs:(%rcx)\n"							\
	"5:" give_back "\n"								\
	"ret\n"										\
	"1: shr $32, %rax\n"			/* no function's number any more */	\
	"jmp 3f\n"									\
	"2: ror $32, %rax\n"								\
	"3: add %r11, %rax\n"								\
	"jmp 4f\n"									\
	"6: xor %eax, %eax\n"			/* C reads the clock, if that may be read */ \
	"4: mov %r11, %r10\n"								\
	"mov %rax, %r11\n"								\
	"lea thread_leave(%rip), %rax\n"						\
	"call call_c\n"									\
	"jmp 5b\n"

#define LEAVE_VALUE LEAVE("mov %rax, %rsi\n", "mov %rsi, %rax")
#define LEAVE_VOID LEAVE("", "")

PROBE_CALL(vprof_enter, "", ENTER);
PROBE_CALL(vprof_leave, "", LEAVE_VALUE);
PROBE_CALL(vprof_leave_void, "", LEAVE_VOID);
PROBE_CALL(vprof_enter_aside, FROM_INSIDE(3), ENTER);
PROBE_CALL(vprof_leave_aside, FROM_INSIDE(0), LEAVE_VALUE);

/*
 * Calls rax(r10, r11, rcx), the result in r11; of rax, rcx and rdx nothing is left.  xsave has XMM, YMM,
 * ZMM and the masks (bits 1, 2, 5, 6, 7) in at most 2688 bytes, of which the header at 512 has to be
 * cleared before.
 */
#define VECTORS "xor %edx, %edx\nmov $0xe6, %eax\n"

__asm__(".text\n"
	".globl vprof_call_c\n.hidden vprof_call_c\n.set vprof_call_c, call_c\n"	/* own_stub.c */
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
	return site->gate > vprof_self.gate && !(site->gate & CAUSAL_GATE) ? 0 : thread_enter(site_word(site), address, caller);
}

void vprof_leave(unsigned long long call)
{
	thread_leave(call, 0);
}

#endif
