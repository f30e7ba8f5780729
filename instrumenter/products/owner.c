/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * owner.c - finds the processes that a launcher works for.
 *
 * A server that an earlier build started (bazel, gradle) keeps that build's variables: an owner that ended before the
 * launcher began does not count.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/str.h"
#include "instrumenter/products/owner.h"

#define ANCESTORS_MAX 32
#define START_FIELD 22			/* of /proc/PID/stat; the name, which may have blanks, is the second */

static const char *const shells[] = { "sh", "dash", "bash", "zsh", "ksh", "mksh", "ash", "busybox", "rbash", "fish" };

/* "PID:when it started:namespace"; NULL if that is unknown. */
static char *name_of(pid_t pid)
{
	_cleanup_(freep) char *path = xasprintf("/proc/%d/stat", (int)pid), *text = NULL;
	_cleanup_(freep) char *ns_path = xasprintf("/proc/%d/ns/pid", (int)pid);
	const char *field;
	char ns[64];
	ssize_t len = readlink(ns_path, ns, sizeof(ns) - 1);

	if (file_read(path, &text, NULL) < 0)
		return NULL;
	ns[len > 0 ? len : 0] = '\0';
	field = strrchr(text, ')');
	for (int i = 2; field && i < START_FIELD; i++)
		field = strchr(field + 1, ' ');
	return field ? xasprintf("%d:%.*s:%s", (int)pid, (int)strcspn(field + 1, " "), field + 1, ns) : NULL;
}

char *owner_name(void)
{
	return name_of(getpid());
}

static int open_process(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

static bool is_shell(pid_t pid)
{
	_cleanup_(freep) char *path = xasprintf("/proc/%d/exe", (int)pid), *program = path_real(path);

	for (size_t i = 0; i < ARRAY_SIZE(shells); i++)
		if (strcmp(path_base(program), shells[i]) == 0)
			return true;
	return false;
}

/* -1: the only one is init. */
static int open_driver(void)
{
	pid_t pid = getppid(), parent;
	char state;

	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		if (!is_shell(pid))
			return open_process(pid);
		if (proc_stat(pid, &state, &parent) < 0)
			return -1;
		pid = parent;
	}
	return -1;
}

static int open_build(void)
{
	const char *wanted = getenv(OWNER_VARIABLE);
	pid_t pid = wanted ? (pid_t)strtol(wanted, NULL, 10) : 0;
	int fd = pid > 1 ? open_process(pid) : -1;
	_cleanup_(freep) char *name = fd >= 0 ? name_of(pid) : NULL;

	if (fd >= 0 && (!name || strcmp(name, wanted) != 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

int owners_open(int ret_fds[OWNERS_MAX])
{
	const int fds[OWNERS_MAX] = { open_driver(), open_build() };
	int cnt = 0;

	for (int i = 0; i < OWNERS_MAX; i++)
		if (fds[i] >= 0)
			ret_fds[cnt++] = fds[i];
	return cnt;
}
