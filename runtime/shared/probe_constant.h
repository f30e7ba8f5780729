/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_constant.h - the probe of C++ functions that the compiler may compute.
 *
 *	constexpr int square(int x) { struct vprof_span vprof_span_ ... = vprof_in_constant(&vprof_function_0); ... }
 *	int a[square(3)];		as before: for the compiler there is no probe
 *	square(n)			recorded
 *
 * constexpr is said, or (lambdas, from C++17 on) not even that.  Same rules as probe.h, which it stands behind;
 * C++14 and later.
 */
inline constexpr __attribute__((always_inline, no_instrument_function))
struct vprof_span vprof_in_constant(struct vprof_site *site)
{
	return __builtin_is_constant_evaluated() ? vprof_span{ 0 } : vprof_in(site);
}

inline constexpr __attribute__((always_inline, no_instrument_function))
void vprof_out_constant(struct vprof_span *span)
{
	__builtin_is_constant_evaluated() || !span->call ? (void)0 : vprof_out(span);
}

/* As in probe_tail.h. */
inline constexpr __attribute__((always_inline, no_instrument_function))
void vprof_tail_constant(struct vprof_span *span)
{
	vprof_out_constant(span);
	span->call = 0;
}
