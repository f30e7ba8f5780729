/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_clang_x86_64.h - both ends of a probe, as clang compiles them fast.  The instructions are those of
 * probe_x86_64.h, which says the rest, and stands in units of every other compiler.
 *
 * clang's time for a block grows with the square of the asm statements in it, for two reasons, and both are taken away:
 *
 *	volatile	the passes that shorten live ranges begin anew at each.  "memory" is enough: such a statement is
 *			kept, and stays between the loads and stores around it.  (Not so in gcc.)
 *	vprof_sp	an output nobody uses, the stack pointer: the scheduler ends a region where that is written.  The
 *			statement leaves it as it was; a clobber instead would cost each function a frame pointer.
 *
 * doc/design/compile.md has the figures.
 */
extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
struct vprof_span vprof_in(struct vprof_site *site)
{
	struct vprof_span span;
	register void *vprof_sp __asm__("rsp");

	__asm__("xor{l}\t{%k0, %k0|%k0, %k0}\n\t"
		"{movl\t%2, %%edx|lea\trdx, %2\n\tmov\tedx, DWORD PTR [rdx]}\n\t"
		"test{b}\t{%%dl, %%dl|dl, dl}\n\t"
		"je\t2f\n\t"
		"lea{q}\t{%3, %%r11|r11, %3}\n\t"
		".weak\tvprof_enter\n\t"
		"call{q}\t{*vprof_enter@GOTPCREL(%%rip)|QWORD PTR [rip + vprof_enter@GOTPCREL]}\n\t"
		"mov{q}\t{%%rax, %0|%0, rax}\n"
		"2:"
		: "=&r"(span.call), "=r"(vprof_sp)
		: "m"(site->gate), "m"(*((char *)__builtin_dwarf_cfa() - 16))
		: "rax", "rdx", "r10", "r11", "cc", "memory");
	return span;
}

extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
void vprof_out(struct vprof_span *span)
{
	register void *vprof_sp __asm__("rsp");

	__asm__("test{q}\t{%1, %1|%1, %1}\n\t"
		"je\t2f\n\t"
		"mov{q}\t{%1, %%r11|r11, %1}\n\t"
		".weak\tvprof_leave\n\t"
		"call{q}\t{*vprof_leave@GOTPCREL(%%rip)|QWORD PTR [rip + vprof_leave@GOTPCREL]}\n"
		"2:"
		: "=r"(vprof_sp) : "r"(span->call) : "rcx", "rdx", "rsi", "r10", "r11", "cc", "memory");
}

/* Where the function returns nothing. */
extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
void vprof_out_void(struct vprof_span *span)
{
	register void *vprof_sp __asm__("rsp");

	__asm__("test{q}\t{%1, %1|%1, %1}\n\t"
		"je\t2f\n\t"
		"mov{q}\t{%1, %%r11|r11, %1}\n\t"
		".weak\tvprof_leave_void\n\t"
		"call{q}\t{*vprof_leave_void@GOTPCREL(%%rip)|QWORD PTR [rip + vprof_leave_void@GOTPCREL]}\n"
		"2:"
		: "=r"(vprof_sp) : "r"(span->call) : "rax", "rcx", "rdx", "r10", "r11", "cc", "memory");
}
