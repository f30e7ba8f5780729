/* SPDX-License-Identifier: Apache-2.0 */
/* slept.c - keeps the number of voluntary switches, plus 1, in thread_self.slept_cnt; 0: it has grown since, or is unknown. */
#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "runtime/rules/permit.h"
#include "runtime/thread.h"
#include "runtime/waits/slept.h"

static uint64_t count(void)
{
	int saved_errno = errno;
	struct rusage use;
	bool is_known = permitted(PERMIT_RUSAGE) && !syscall(SYS_getrusage, RUSAGE_THREAD, &use);

	errno = saved_errno;
	return is_known ? (uint64_t)use.ru_nvcsw + 1 : 0;
}

uint64_t slept_before(void)
{
	if (!thread_self.slept_cnt)
		thread_self.slept_cnt = count();
	return thread_self.slept_cnt;
}

bool slept_was_not(uint64_t before)
{
	thread_self.slept_cnt = count();
	return before && thread_self.slept_cnt == before;
}

void slept_uncounted(void)
{
	thread_self.slept_cnt = 0;
}
