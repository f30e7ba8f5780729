/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_sites.c - from which of several places a function is called (runtime/shared/probe_sites.h).
 *
 *	f(f(x)) in g	g leaves outer, g leaves inner; f takes inner, f takes outer
 *
 * A noted place counts only while its caller is the innermost recorded call, and only for its callee.  The latest one
 * is taken, and those above it are dropped: their calls never came to be recorded (a longjmp, an exception).
 */
#include "runtime/causal/causal.h"
#include "runtime/shared/site.h"
#include "runtime/thread.h"

__attribute__((visibility("default"))) void vprof_leave_site(unsigned long long call, struct vprof_site *at, unsigned long long callee);
__attribute__((visibility("default"))) struct vprof_site *vprof_take_site(struct vprof_site *own);

void vprof_leave_site(unsigned long long call, struct vprof_site *at, unsigned long long callee)
{
	struct thread *t = &thread_self;

	t->left[t->left_cnt++ % THREAD_LEFT] = (struct thread_left){ call, callee, at };
}

struct vprof_site *vprof_take_site(struct vprof_site *own)
{
	struct thread *t = &thread_self;
	struct vprof_frame *top = vprof_self.top;
	unsigned long long innermost;

	if (!t->left_cnt || !((uintptr_t)top & (VPROF_STACK_BYTES - 1)) || own->gate & CAUSAL_GATE)
		return own;
	innermost = frame_call(top - 1);
	for (unsigned int back = 1; back <= THREAD_LEFT && back <= t->left_cnt; back++) {
		const struct thread_left *l = &t->left[(t->left_cnt - back) % THREAD_LEFT];

		if (l->call != innermost || l->callee != own->key)
			continue;
		t->left_cnt -= back;
		return l->at->gate && site_fid(l->at) ? l->at : own;
	}
	return own;
}
