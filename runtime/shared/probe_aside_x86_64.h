/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_aside_x86_64.h - both ends of a probe whose calls are mostly not recorded (vprof build --sampled).  Same rules as
 * probe.h: this text goes into units with such probes, behind that of probe_x86_64.h, which says the rest.
 *
 * In a function that is not recorded, no jump is taken:
 *
 *	xor %ebx, %ebx; mov site(%rip), %edx; test %dl, %dl; jne 3f; 2:	when it is entered
 *	test %rbx, %rbx; jne 3f; 2:						when it is left
 *
 * The rest stands behind all functions of its section (a subsection), for code in between that is jumped over
 * costs more than both tests: each jump taken needs a place in the processor's table of targets, and what is
 * executed lies further apart.
 *
 *	3: lea frame, %r11; call vprof_enter_aside; mov %rax, %rbx; jmp 2b
 *	3: mov %rbx, %r11; call vprof_leave_aside; jmp 2b
 *
 * Nobody could unwind from there, since the function's unwind entry ends with it.  So what is called says in its own
 * entry that it was called from where that jump leads: its distance, in four bytes, begins 4 or 1 behind the call
 * (runtime/calls.c).
 */
extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
struct vprof_span vprof_in_aside(struct vprof_site *site)
{
	struct vprof_span span;

	__asm__ __volatile__(
		"xor{l}\t{%k0, %k0|%k0, %k0}\n\t"
		"{movl\t%1, %%edx|lea\trdx, %1\n\tmov\tedx, DWORD PTR [rdx]}\n\t"
		"test{b}\t{%%dl, %%dl|dl, dl}\n\t"
		"jne\t3f\n"
		"2:\t.subsection 1\n"
		"3:\tlea{q}\t{%2, %%r11|r11, %2}\n\t"
		".weak\tvprof_enter_aside\n\t"
		"call{q}\t{*vprof_enter_aside@GOTPCREL(%%rip)|QWORD PTR [rip + vprof_enter_aside@GOTPCREL]}\n\t"
		"mov{q}\t{%%rax, %0|%0, rax}\n\t"
		".byte\t0xe9\n\t.long\t2b - . - 4\n\t"
		".previous"
		: "=&r"(span.call)
		: "m"(site->gate), "m"(*((char *)__builtin_dwarf_cfa() - 16))
		: "rax", "rdx", "r10", "r11", "cc", "memory");
	return span;
}

extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
void vprof_out_aside(struct vprof_span *span)
{
	__asm__ __volatile__(
		"test{q}\t{%0, %0|%0, %0}\n\t"
		"jne\t3f\n"
		"2:\t.subsection 1\n"
		"3:\tmov{q}\t{%0, %%r11|r11, %0}\n\t"
		".weak\tvprof_leave_aside\n\t"
		"call{q}\t{*vprof_leave_aside@GOTPCREL(%%rip)|QWORD PTR [rip + vprof_leave_aside@GOTPCREL]}\n\t"
		".byte\t0xe9\n\t.long\t2b - . - 4\n\t"
		".previous"
		: : "r"(span->call) : "rcx", "rdx", "rsi", "r10", "r11", "cc", "memory");
}
