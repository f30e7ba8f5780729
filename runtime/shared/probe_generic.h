/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_generic.h - as probe_x86_64.h, for every other machine: ordinary calls.
 */
extern unsigned long long vprof_enter(struct vprof_site *site, unsigned long address,
				      unsigned long caller)
	__asm__("vprof_enter") __attribute__((weak, cold, visibility("default")));
extern void vprof_leave(unsigned long long call)
	__asm__("vprof_leave") __attribute__((weak, cold, visibility("default")));

extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
struct vprof_span vprof_in(struct vprof_site *site)
{
	struct vprof_span span;

	span.call = 0;
	if (__builtin_expect(site->gate != 0, 0))
		span.call = vprof_enter(site, (unsigned long)__builtin_frame_address(0),
					(unsigned long)__builtin_return_address(0));
	return span;
}

extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
void vprof_out(struct vprof_span *span)
{
	if (__builtin_expect(span->call != 0, 0))
		vprof_leave(span->call);
}

/* Where the function returns nothing. */
extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
void vprof_out_void(struct vprof_span *span)
{
	vprof_out(span);
}
