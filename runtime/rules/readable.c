/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readable.c - asks the kernel whether memory can be read.
 *
 * The call causes no fault or signal and needs no file, and every sandbox permits it: with an invalid "how",
 * rt_sigprocmask() copies the eight bytes of the set, and changes nothing.
 *
 *	rt_sigprocmask(~0, (sigset_t *)8, NULL, 8)	EFAULT: not readable
 *	rt_sigprocmask(~0, a variable's, NULL, 8)	EINVAL: readable, and no such "how"
 *
 * Eight aligned bytes are in one page, so one question a page is enough.
 */
#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "runtime/rules/permit.h"
#include "runtime/rules/readable.h"
#include "runtime/wrappers/real.h"

REAL_NEEDS(syscall);

enum { WORD = 8, PAGE = 4096 };		/* where pages are larger, some are tested twice */

static bool word_is_readable(uintptr_t at)
{
	long word = (long)(at & ~(uintptr_t)(WORD - 1));

	return real.syscall(SYS_rt_sigprocmask, ~0L, word, 0, WORD, 0, 0) < 0 && errno == EINVAL;
}

bool readable(const void *at, size_t len)
{
	uintptr_t first = (uintptr_t)at, end = first + len;
	int saved_errno = errno;
	bool is = end > first && permitted(PERMIT_SIGMASK);

	for (uintptr_t p = first; is && p < end; p = (p & ~(uintptr_t)(PAGE - 1)) + PAGE)
		is = word_is_readable(p);
	errno = saved_errno;
	return is;
}
