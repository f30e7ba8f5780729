/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_called_x86_64.h - both ends of a probe as calls, for compilers without optimization. Each variable of an inline
 * function then has a place of its own on the stack: 32 to 64 bytes a frame by gcc, where this form has 16. And to clang an asm
 * statement costs as much to compile as ten lines of C: each unit has two of them, here, and not two in every function.  Same
 * rules as probe.h; stands in place of probe_x86_64.h, which says what vprof_enter() and vprof_leave_void() expect.
 *
 *	struct vprof_span vprof_span_ __attribute__((cleanup(vprof_out_called), unused)) =
 *		vprof_in_called(&vprof_function_0, __builtin_frame_address(0));
 *
 * To the compiler they are functions like any other.  Whoever asks for a frame's address gets a frame pointer: 8 above it is
 * the return address.  Both jump on to the runtime, which returns to the user's function.
 */
__asm__(".pushsection .text\n"
	".type vprof_in_called, @function\n"
	"vprof_in_called:\n"
	".cfi_startproc\n"
	"xorl %eax, %eax\n"
	"movl (%rdi), %edx\n"
	"testb %dl, %dl\n"
	"je 2f\n"
	"movq %rsi, %r11\n"
	".weak vprof_enter\n"
	"jmpq *vprof_enter@GOTPCREL(%rip)\n"
	"2: retq\n"
	".cfi_endproc\n"
	".size vprof_in_called, .-vprof_in_called\n"
	".type vprof_out_called, @function\n"
	"vprof_out_called:\n"
	".cfi_startproc\n"
	"movq (%rdi), %r11\n"
	"testq %r11, %r11\n"
	"je 2f\n"
	".weak vprof_leave_void\n"
	"jmpq *vprof_leave_void@GOTPCREL(%rip)\n"
	"2: retq\n"
	".cfi_endproc\n"
	".size vprof_out_called, .-vprof_out_called\n"
	".type vprof_tail_called, @function\n"
	"vprof_tail_called:\n"
	".cfi_startproc\n"
	"movq (%rdi), %r11\n"
	"movq $0, (%rdi)\n"
	"testq %r11, %r11\n"
	"je 2f\n"
	".weak vprof_leave_void\n"
	"jmpq *vprof_leave_void@GOTPCREL(%rip)\n"
	"2: retq\n"
	".cfi_endproc\n"
	".size vprof_tail_called, .-vprof_tail_called\n"
	".popsection\n");

extern struct vprof_span vprof_in_called(struct vprof_site *site, void *frame) __asm__("vprof_in_called")
	__attribute__((nothrow));
extern void vprof_out_called(struct vprof_span *span) __asm__("vprof_out_called") __attribute__((nothrow));

/* What probe_tail.h has elsewhere: the span ends before a call in tail position. */
extern void vprof_tail(struct vprof_span *span) __asm__("vprof_tail_called") __attribute__((nothrow));

/* For the form that stands on these: probe_constant.h. */
extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
struct vprof_span vprof_in(struct vprof_site *site)
{
	return vprof_in_called(site, __builtin_frame_address(0));
}

extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
void vprof_out(struct vprof_span *span)
{
	vprof_out_called(span);
}
