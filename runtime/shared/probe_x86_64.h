/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_x86_64.h - both ends of a probe.  Same rules as probe.h: this text goes into instrumented
 * units, just after that one.
 *
 *	xor %ebx, %ebx; mov site(%rip), %edx; test %dl, %dl; je 2f		when it is entered
 *	lea frame, %r11; call vprof_enter; mov %rax, %rbx; 2:
 *
 *	test %rbx, %rbx; je 2f					when it is left
 *	mov %rbx, %r11; call vprof_leave; 2:
 *
 * Where the function is recorded no jump is taken but the calls and their returns, and all that is executed lies side by
 * side.  A function that is called now and then finds neither in the processor's caches, and none of its jumps in the
 * tables of those that were taken before: there a jump that is taken costs more than the record.  For probes whose calls
 * are mostly not recorded it is the other way round: probe_aside_x86_64.h.
 *
 * The calls follow no ABI: edx (the site's gate, flags and fid) and r11 carry what there is to say.  The clock is read into
 * rax and rdx, so vprof_enter changes both, besides r10 and r11, and returns the call in rax; where a third argument is in
 * rdx, the compiler keeps it elsewhere, in one instruction.  vprof_leave changes rcx, rdx, rsi, r10 and r11.  What the
 * function returns, mostly in rax, it keeps: where nothing is recorded, two instructions in each function were dearer.  Where
 * nothing is returned vprof_leave_void need not, and changes rax instead of rsi.  All other registers come back as they were.
 * The calls go through the global offset table, for a procedure linkage table would use r11; the symbols are weak in each of
 * the statements, because LTO may take functions apart.  A call stores its return address below the stack pointer, where a leaf
 * function could have variables: units with probes are compiled with -mno-red-zone.
 *
 * It is one statement without a jump as far as the compiler knows: with the same in C, a unit in which
 * all functions have probes took a fifth longer to compile.  Labels are no 0 or 1, which are numbers in Intel's syntax.
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
		"{movl\t%1, %%edx|lea\trdx, %1\n\tmov\tedx, DWORD PTR [rdx]}\n\t"
		"test{b}\t{%%dl, %%dl|dl, dl}\n\t"
		"je\t2f\n\t"
		"lea{q}\t{%2, %%r11|r11, %2}\n\t"
		".weak\tvprof_enter\n\t"
		"call{q}\t{*vprof_enter@GOTPCREL(%%rip)|QWORD PTR [rip + vprof_enter@GOTPCREL]}\n\t"
		"mov{q}\t{%%rax, %0|%0, rax}\n"
		"2:"
		: "=&r"(span.call)
		: "m"(site->gate), "m"(*((char *)__builtin_dwarf_cfa() - 16))
		: "rax", "rdx", "r10", "r11", "cc", "memory");
	return span;
}

extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
void vprof_out(struct vprof_span *span)
{
	__asm__ __volatile__(
		"test{q}\t{%0, %0|%0, %0}\n\t"
		"je\t2f\n\t"
		"mov{q}\t{%0, %%r11|r11, %0}\n\t"
		".weak\tvprof_leave\n\t"
		"call{q}\t{*vprof_leave@GOTPCREL(%%rip)|QWORD PTR [rip + vprof_leave@GOTPCREL]}\n"
		"2:"
		: : "r"(span->call) : "rcx", "rdx", "rsi", "r10", "r11", "cc", "memory");
}

/* Where the function returns nothing. */
extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
void vprof_out_void(struct vprof_span *span)
{
	__asm__ __volatile__(
		"test{q}\t{%0, %0|%0, %0}\n\t"
		"je\t2f\n\t"
		"mov{q}\t{%0, %%r11|r11, %0}\n\t"
		".weak\tvprof_leave_void\n\t"
		"call{q}\t{*vprof_leave_void@GOTPCREL(%%rip)|QWORD PTR [rip + vprof_leave_void@GOTPCREL]}\n"
		"2:"
		: : "r"(span->call) : "rax", "rcx", "rdx", "r10", "r11", "cc", "memory");
}
