/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules.c - the calls by which a program restricts itself: prctl() and seccomp().
 *
 *	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)	permit.h first tests each of our own calls against program
 *	prctl(PR_SET_TSC, PR_TSC_SIGSEGV)			this thread stops taking part, and so does each later one
 *
 * Both come as functions, by syscall(), or as instructions (own_call.h).
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "runtime/causal/ticks.h"
#include "runtime/rules/filter.h"
#include "runtime/rules/limits.h"
#include "runtime/rules/permit.h"
#include "runtime/rules/readable.h"
#include "runtime/shared/invitation.h"
#include "runtime/thread.h"
#include "runtime/wrappers/own_call.h"
#include "runtime/wrappers/real.h"

REAL_NEEDS(prctl);

bool clock_is_off(void)
{
#if defined(__x86_64__) && !defined(VPROF_PORTABLE)
	int mode = PR_TSC_ENABLE;

	return permitted(PERMIT_TSC) && !real.prctl(PR_GET_TSC, (long)&mode, 0, 0, 0) && mode == PR_TSC_SIGSEGV;
#else
	return false;
#endif
}

static bool is_filter(const struct sock_fprog *p)
{
	return readable(p, sizeof(*p)) && readable(p->filter, p->len * sizeof(p->filter[0]));
}

static void note_permits(void)
{
	vprof_door.may_attach = permitted(PERMIT_OPEN) && permitted(PERMIT_READ) && permitted(PERMIT_FSTAT) &&
				permitted(PERMIT_CLOSE) && permitted(PERMIT_MMAP) && permitted(PERMIT_MUNMAP);
	if (process.arena->base && !process.is_filtered)
		__atomic_fetch_add(&process.arena->control->apart_cnt[APART_FILTERED], 1, __ATOMIC_RELAXED);
	process.is_filtered = true;
}

/* A call that the kernel refuses changes nothing. */
static long install(const struct own_call *c, own_maker make, const struct sock_fprog *program)
{
	uint32_t before = permits;
	long r;

	thread_ready();			/* reads its name and account, while that is still permitted */
	permit_filter(program && is_filter(program) ? program : NULL);
	if (before >> PERMIT_TICKS & 1 && !permitted(PERMIT_TICKS))
		ticks_end();
	r = make(c);
	if (r < 0) {
		permits = before;
	} else {
		vprof_door.filter_cnt++;
		if (permits != before && !permitted_all())
			note_permits();
	}
	return r;
}

long rules_call(const struct own_call *c, own_maker make)
{
	if (c->number == SYS_seccomp) {
		if (c->a[0] == SECCOMP_SET_MODE_FILTER && c->a[2])
			return install(c, make, (const struct sock_fprog *)c->a[2]);
		if (c->a[0] == SECCOMP_SET_MODE_STRICT && !c->a[1] && !c->a[2])
			return install(c, make, NULL);
	} else if (c->a[0] == PR_SET_SECCOMP) {
		if (c->a[1] == SECCOMP_MODE_FILTER && c->a[2])
			return install(c, make, (const struct sock_fprog *)c->a[2]);
		if (c->a[1] == SECCOMP_MODE_STRICT)
			return install(c, make, NULL);
	} else if (c->a[0] == PR_SET_TSC && c->a[1] == PR_TSC_SIGSEGV) {
		process_leave(APART_LEFT_NO_CLOCK, false);
	}
	return make(c);
}

static long by_library(const struct own_call *c)
{
	long r = real.prctl((int)c->a[0], c->a[1], c->a[2], c->a[3], c->a[4]);

	return r < 0 ? -errno : r;
}

int vprof_w_prctl(int op, long a, long b, long c, long d)
{
	const struct own_call call = { .number = SYS_prctl, .a = { op, a, b, c, d } };
	long r = rules_call(&call, by_library);

	if (r < 0)
		errno = (int)-r;
	return r < 0 ? -1 : (int)r;
}
