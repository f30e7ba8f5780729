/* SPDX-License-Identifier: Apache-2.0 */
/*
 * permit.c - the table of our own system calls, each as we make it, held against a filter.
 *
 * If the C library may make a call by either of two numbers, both have to be permitted.  vprof-record(1) has
 * the list for the user, SECCOMP.
 */
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "runtime/rules/filter.h"
#include "runtime/rules/permit.h"

#define ALL ((1U << PERMIT_CNT) - 1)
#define OF_LOADERS ((1U << (PERMIT_RLIMIT + 1)) - 1)

enum { STATUS_BYTES = 4096, A_FILE = 3, CALL_PRLIMIT = SYS_prlimit64 };

uint32_t permits = ALL;

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#else
#define OUR_ARCH 0			/* no filter knows this number, so none permits it */
#endif

/* glibc 2.33 to 2.37: fstat() and stat() are this call. */
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33) && !__GLIBC_PREREQ(2, 38)
#define STAT_BY_NEWFSTATAT_ALONE
#endif

struct sample {
	enum permit permit;
	int number;
	uint64_t args[6];
};

static const struct sample samples[] = {
	{ PERMIT_OPEN, SYS_openat, { (uint32_t)AT_FDCWD, 0, O_RDONLY | O_CLOEXEC } },
	{ PERMIT_OPEN, SYS_openat, { (uint32_t)AT_FDCWD, 0, O_RDWR | O_CLOEXEC } },
	{ PERMIT_READ, SYS_read, { A_FILE } },
	{ PERMIT_CLOSE, SYS_close, { A_FILE } },
#ifndef STAT_BY_NEWFSTATAT_ALONE
	{ PERMIT_FSTAT, SYS_fstat, { A_FILE } },
#endif
	{ PERMIT_FSTAT, SYS_newfstatat, { A_FILE, 0, 0, AT_EMPTY_PATH } },
#if defined(SYS_stat) && !defined(STAT_BY_NEWFSTATAT_ALONE)
	{ PERMIT_STAT, SYS_stat, { 0 } },
#endif
	{ PERMIT_STAT, SYS_newfstatat, { (uint32_t)AT_FDCWD } },
	{ PERMIT_MMAP, SYS_mmap, { 0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, (uint32_t)-1 } },
	{ PERMIT_MUNMAP, SYS_munmap, { 4096, 4096 } },
	{ PERMIT_MPROTECT, SYS_mprotect, { 4096, 4096, PROT_READ | PROT_WRITE } },
	{ PERMIT_MPROTECT, SYS_mprotect, { 4096, 4096, PROT_READ } },
	{ PERMIT_RLIMIT, CALL_PRLIMIT, { 0, RLIMIT_STACK } },
	{ PERMIT_GETTID, SYS_gettid, { 0 } },
	{ PERMIT_GETPID, SYS_getpid, { 0 } },
	{ PERMIT_GETPPID, SYS_getppid, { 0 } },
	{ PERMIT_NAME, SYS_prctl, { PR_GET_NAME } },
	{ PERMIT_CPUTIME, SYS_clock_gettime, { CLOCK_THREAD_CPUTIME_ID } },
	{ PERMIT_RUSAGE, SYS_getrusage, { RUSAGE_THREAD } },
	{ PERMIT_TSC, SYS_prctl, { PR_GET_TSC } },
	{ PERMIT_FLOCK, SYS_flock, { A_FILE, LOCK_SH | LOCK_NB } },
	{ PERMIT_FCNTL, SYS_fcntl, { A_FILE, F_GETFL } },
	{ PERMIT_MADVISE, SYS_madvise, { 4096, 4096, MADV_WIPEONFORK } },
#ifdef SYS_readlink
	{ PERMIT_READLINK, SYS_readlink, { 0 } },
#else
	{ PERMIT_READLINK, SYS_readlinkat, { (uint32_t)AT_FDCWD } },
#endif
	{ PERMIT_SOCKNAME, SYS_getsockname, { A_FILE } },
	{ PERMIT_PEERNAME, SYS_getpeername, { A_FILE } },
	{ PERMIT_DIAGNOSIS, SYS_socket, { AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 4 } },
	{ PERMIT_DIAGNOSIS, SYS_sendto, { A_FILE } },
	{ PERMIT_DIAGNOSIS, SYS_recvfrom, { A_FILE, 0, 0, MSG_DONTWAIT } },
	{ PERMIT_DIAGNOSIS, SYS_close, { A_FILE } },
	{ PERMIT_SIGMASK, SYS_rt_sigprocmask, { SIG_BLOCK, 0, 0, 8 } },
	{ PERMIT_SIGMASK, SYS_rt_sigprocmask, { ~0ULL, 4096, 0, 8 } },
	{ PERMIT_SIGALTSTACK, SYS_sigaltstack, { 0 } },
	{ PERMIT_SHMCTL, SYS_shmctl, { 0, IPC_STAT } },
	{ PERMIT_YIELD, SYS_sched_yield, { 0 } },
	{ PERMIT_SLEEP, SYS_nanosleep, { 0 } },
	{ PERMIT_SET_RLIMIT, CALL_PRLIMIT, { 0, RLIMIT_AS, 4096 } },
	{ PERMIT_MUNLOCK, SYS_munlock, { 4096, 4096 } },
	{ PERMIT_TICKS, SYS_rt_sigaction, { SIGURG, 0, 4096, 8 } },
	{ PERMIT_TICKS, SYS_rt_sigaction, { SIGURG, 4096, 0, 8 } },
	{ PERMIT_TICKS, SYS_rt_sigreturn, { 0 } },
	{ PERMIT_TICKS, SYS_gettid, { 0 } },
	{ PERMIT_TICKS, SYS_perf_event_open, { 4096, 0, (uint32_t)-1, (uint32_t)-1, PERF_FLAG_FD_CLOEXEC } },
	{ PERMIT_TICKS, SYS_fcntl, { A_FILE, F_DUPFD_CLOEXEC, 900 } },
	{ PERMIT_TICKS, SYS_fcntl, { A_FILE, F_SETFL, O_ASYNC | O_NONBLOCK } },
	{ PERMIT_TICKS, SYS_fcntl, { A_FILE, F_SETSIG, SIGURG } },
	{ PERMIT_TICKS, SYS_fcntl, { A_FILE, F_SETOWN_EX, 4096 } },
	{ PERMIT_TICKS, SYS_ioctl, { A_FILE, PERF_EVENT_IOC_ID, 4096 } },
	{ PERMIT_TICKS, SYS_ioctl, { A_FILE, PERF_EVENT_IOC_ENABLE } },
	{ PERMIT_TICKS, SYS_close, { A_FILE } },
};

void permit_filter(const struct sock_fprog *program)
{
	uint32_t none = 0;

	for (unsigned int i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		const struct sample *s = &samples[i];
		struct seccomp_data call = { .nr = s->number, .arch = OUR_ARCH };

		memcpy(call.args, s->args, sizeof(call.args));
		if (!program || !filter_permits(program, &call))
			none |= 1U << s->permit;
	}
	__atomic_fetch_and(&permits, ~none, __ATOMIC_RELAXED);
}

void permit_yield(void)
{
	if (permitted(PERMIT_YIELD))
		sched_yield();
}

/* The last number of "Name:\t1\t2\n", which is that of the innermost namespace. */
static uint32_t last_number(const char *text, const char *name)
{
	const char *line = strstr(text, name), *end = line ? strchr(line + 1, '\n') : NULL;

	if (!end)
		return 0;
	while (end > line && end[-1] != '\t' && end[-1] != ' ')
		end--;
	return (uint32_t)strtoul(end, NULL, 10);
}

/* "Name:\tcat\n", the first line. */
static void read_name(const char *text, char *ret, size_t size)
{
	const char *from = strchr(text, '\t'), *end = from ? strchr(from, '\n') : NULL;
	size_t len = end ? (size_t)(end - from - 1) : 0;

	memset(ret, 0, size);
	memcpy(ret, from ? from + 1 : text, len < size ? len : size - 1);
}

static bool read_status(char *text, size_t size)
{
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	text[len > 0 ? len : 0] = '\0';
	return len > 0 && strstr(text, "\nSeccomp:");
}

void permit_start(struct status *ret)
{
	char text[STATUS_BYTES];

	*ret = (struct status){ .is_known = read_status(text, sizeof(text)) };
	if (ret->is_known) {
		ret->pid = last_number(text, "\nNStgid:");
		ret->ppid = last_number(text, "\nPPid:");
		read_name(text, ret->name, sizeof(ret->name));
		ret->filters = last_number(text, "\nSeccomp:") ? last_number(text, "\nSeccomp_filters:") : 0;
		if (!ret->filters && last_number(text, "\nSeccomp:"))
			ret->filters = 1;
	}
	if (!ret->is_known || ret->filters)
		__atomic_fetch_and(&permits, OF_LOADERS, __ATOMIC_RELAXED);
}
