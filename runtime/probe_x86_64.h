/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_x86_64.h - both ends of a probe.  Same rules as probe.h: this text goes into instrumented
 * units, just after that one.
 *
 * In a function that is not recorded:
 *
 *	xor %ebx, %ebx; cmpb $0, site(%rip); je 1f; ... 1:	when it is entered
 *	test %rbx, %rbx; je 1f; ... 1:				when it is left
 *
 * The calls in between follow no ABI: r10 and r11 carry what there is to say, and all other registers
 * come back as they were (runtime/calls.c).  So the user's function keeps nothing out of registers for
 * the sake of a call that is hardly ever made.  They go through the global offset table, for a
 * procedure linkage table would use r11; the symbols are weak in each of the statements, because LTO
 * may take functions apart.  A call stores its return address below the stack pointer, where a
 * leaf function could have variables: units with probes are compiled with -mno-red-zone.
 *
 * The frame's address is 16 below the value of the stack pointer before the call, which is
 * __builtin_frame_address(0), but needs no frame pointer in gcc.  "memory": what the function loads and
 * stores is done between the two.
 */
extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
struct vprof_span vprof_in(struct vprof_site *site)
{
	struct vprof_span span;

	__asm__ __volatile__(
		"xor{l}\t{%k0, %k0|%k0, %k0}\n\t"
		"{cmpb\t$0, %1|lea\tr10, %1\n\tcmp\tBYTE PTR [r10], 0}\n\t"
		"je\t1f\n\t"
		".weak\tvprof_enter\n\t"
		"lea{q}\t{%1, %%r10|r10, %1}\n\t"
		"lea{q}\t{%2, %%r11|r11, %2}\n\t"
		"call{q}\t{*vprof_enter@GOTPCREL(%%rip)|QWORD PTR [rip + vprof_enter@GOTPCREL]}\n\t"
		"mov{q}\t{%%r11, %0|%0, r11}\n"
		"1:"
		: "=&r"(span.call)
		: "m"(site->level), "m"(*((char *)__builtin_dwarf_cfa() - 16))
		: "r10", "r11", "cc", "memory");
	return span;
}

extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
void vprof_out(struct vprof_span *span)
{
	__asm__ __volatile__(
		"test{q}\t{%0, %0|%0, %0}\n\t"
		"je\t1f\n\t"
		".weak\tvprof_leave\n\t"
		"mov{q}\t{%0, %%r11|r11, %0}\n\t"
		"call{q}\t{*vprof_leave@GOTPCREL(%%rip)|QWORD PTR [rip + vprof_leave@GOTPCREL]}\n"
		"1:"
		: : "r"(span->call) : "r10", "r11", "cc", "memory");
}
