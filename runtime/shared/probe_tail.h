/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_tail.h - the end of a probe in functions that call themselves last, and shall go on doing that
 * in one frame.  Same rules as probe.h: this text goes into units with such functions, just after the
 * probes.
 *
 *	return n ? (vprof_tail(&vprof_span_), count(n - 1)) : 0;
 *
 * The compiler sees that after the call nothing is left to do: call is 0.
 */
extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
void vprof_out_tail(struct vprof_span *span)
{
	if (span->call)
		vprof_out(span);
}

extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
void vprof_tail(struct vprof_span *span)
{
	vprof_out_tail(span);
	span->call = 0;
}
