/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_sites.h - calls of one function from several places of another, told apart.  Same rules as probe.h: this text goes into
 * units with such calls, or such functions, after the probes.
 *
 *	(vprof_calls(&vprof_span_, &vprof_function_7, 0x1234ULL), log_append(a))	in the caller, at each of the places
 *	... vprof_span_ ... = vprof_in(vprof_called(&vprof_function_0));		in log_append(), whose key is 0x1234
 *
 * The place has a site of its own, as a function has, whose name is "log_append\001KEY\001server.c:28".  The caller leaves it with the runtime, if it is recorded itself, and the callee
 * takes it in place of its own: its record has the number of the place then.
 */
extern void vprof_leave_site(unsigned long long call, struct vprof_site *at, unsigned long long callee) __asm__("vprof_leave_site")
	__attribute__((weak, visibility("default")));
extern struct vprof_site *vprof_take_site(struct vprof_site *own) __asm__("vprof_take_site")
	__attribute__((weak, visibility("default")));

extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
void vprof_calls(struct vprof_span *caller, struct vprof_site *at, unsigned long long callee)
{
	if (caller->call && vprof_leave_site)
		vprof_leave_site(caller->call, at, callee);
}

extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function))
struct vprof_site *vprof_called(struct vprof_site *own)
{
	return own->gate && vprof_take_site ? vprof_take_site(own) : own;
}
