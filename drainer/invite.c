/* SPDX-License-Identifier: Apache-2.0 */
/*
 * invite.c - finds the door of a process and writes to it, as a debugger would, without stopping it.
 *
 *	/proc/4711/maps		5581..3000-5581..8000 rw-p ... /srv/bin/server
 *				its data: the two magic words at 5581..4020, and there: "I am at 5581..4020"
 *	write			path "/dev/shm/vprof-aW3xQ1", then invited = 1
 *
 * Processes that it forks later inherit the invitation, or the arena.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/proc.h"
#include "drainer/drain.h"
#include "runtime/shared/invitation.h"

enum { WINDOW_BYTES = 1 << 16, TREE_MAX = 4096 };

static bool read_memory(pid_t pid, uint64_t at, void *data, size_t len)
{
	struct iovec ours = { data, len }, theirs = { (void *)(uintptr_t)at, len };

	return process_vm_readv(pid, &ours, 1, &theirs, 1, 0) == (ssize_t)len;
}

static bool write_memory(pid_t pid, uint64_t at, const void *data, size_t len)
{
	struct iovec ours = { (void *)(uintptr_t)data, len }, theirs = { (void *)(uintptr_t)at, len };

	return process_vm_writev(pid, &ours, 1, &theirs, 1, 0) == (ssize_t)len;
}

/* The door in [start, end) of its memory, or 0.  errno is EPERM if we may not look. */
static uint64_t search(pid_t pid, uint64_t start, uint64_t end)
{
	_cleanup_(freep) char *window = xmalloc(WINDOW_BYTES + sizeof(struct door));
	struct door door;

	for (uint64_t at = start; at < end; at += WINDOW_BYTES) {
		size_t len = end - at < WINDOW_BYTES + 32 ? end - at : WINDOW_BYTES + 32;

		errno = 0;
		if (!read_memory(pid, at, window, len)) {
			if (errno == EPERM)
				return 0;
			continue;
		}
		for (size_t i = 0; i + 32 <= len; i += 8) {
			memcpy(&door, window + i, 24);
			if (door.magic == DOOR_MAGIC && door.magic_2 == DOOR_MAGIC_2 &&
			    (uint64_t)(uintptr_t)door.self == at + i)
				return at + i;
		}
	}
	return 0;
}

/* The invitation is in initialised data, which is a private, writable mapping of a file. */
static int find_door(pid_t pid, uint64_t *ret)
{
	char path[64], line[4352];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	if (!maps)
		return errno == ENOENT ? -ESRCH : errno == EACCES ? -EPERM : -errno;
	*ret = 0;
	errno = 0;
	while (!*ret && errno != EPERM && fgets(line, sizeof(line), maps)) {
		char *at = NULL, *flags;
		uint64_t start = strtoull(line, &at, 16), end = *at == '-' ? strtoull(at + 1, &flags, 16) : 0;

		if (end > start && !strncmp(flags, " rw-p ", 6) && strchr(flags, '/'))
			*ret = search(pid, start, end);
	}
	fclose(maps);
	if (*ret)
		return 0;
	return errno == EPERM ? -EPERM : -ENOENT;
}

/* Number of system call filters of the process; kernels before 5.10 report only whether there are any. */
static uint32_t filter_cnt(pid_t pid)
{
	char path[64], line[256];
	uint32_t mode = 0, cnt = 0;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	status = fopen(path, "re");
	while (status && fgets(line, sizeof(line), status)) {
		if (!strncmp(line, "Seccomp:", 8))
			mode = (uint32_t)strtoul(line + 8, NULL, 10);
		else if (!strncmp(line, "Seccomp_filters:", 16))
			cnt = (uint32_t)strtoul(line + 16, NULL, 10);
	}
	if (status)
		fclose(status);
	return cnt ? cnt : mode != 0;
}

/* All its filters permit what attaching needs: the runtime has checked all of them. */
static bool permits(pid_t pid, const struct door *door)
{
	uint32_t cnt = filter_cnt(pid);

	return !cnt || (cnt == door->filter_cnt && door->may_attach);
}

/* If it has an arena, that has no drainer; else the process is taken. */
static int is_free(pid_t pid, uint64_t at)
{
	struct door door;

	if (!read_memory(pid, at, &door, sizeof(door)))
		return -errno;
	door.path[sizeof(door.path) - 1] = '\0';
	if (!permits(pid, &door))
		return -ENOTSUP;
	return !door.attached || drain_give_up(door.path) ? 0 : -EBUSY;
}

/* Whether it is the same file, seen from the process's root. */
static bool sees(pid_t pid, const char *path)
{
	char theirs_path[64 + 4096];
	struct stat ours, theirs;

	snprintf(theirs_path, sizeof(theirs_path), "/proc/%d/root%s", (int)pid, path);
	return stat(path, &ours) || (!stat(theirs_path, &theirs) && theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino);
}

static int invite(struct drainer *d, pid_t pid)
{
	uint32_t yes = 1;
	uint64_t at;
	int r = find_door(pid, &at);

	if (!r)
		r = is_free(pid, at);
	if (!r && !sees(pid, d->arena_path))
		r = -ENXIO;
	if (!r && (!write_memory(pid, at + offsetof(struct door, path), d->arena_path, strlen(d->arena_path) + 1) ||
		   !write_memory(pid, at + offsetof(struct door, invited), &yes, sizeof(yes))))
		r = -errno;
	return r;
}

static int refused(pid_t pid, int r, struct diag *reterr)
{
	const char *why = strerror(-r), *remedy = NULL;

	if (r == -ENOENT) {
		why = "neither it nor what it started was built with vprof and linked through it";
		remedy = "vprof build -- make   (and start it anew; or start it under vprof record)";
	} else if (r == -EBUSY) {
		why = "another vprof record is at it";
		remedy = "vprof record --snapshot RUN analyses what that recording has";
	} else if (r == -EPERM) {
		why = "that needs a debugger's permissions";
		remedy = "become its user, or root; where debugging is restricted, sysctl kernel.yama.ptrace_scope=0";
	} else if (r == -ENOTSUP) {
		why = "it has a system call filter that may end it when it attaches: one that the runtime did not see being installed, "
		      "or that does not permit it";
		remedy = "start it under vprof record: then what the filter permits is known before it is in force";
	} else if (r == -ENXIO) {
		why = "it does not see the recording buffer: its root, or its /dev/shm, is another";
		remedy = "vprof record --arena DIR -p PID, a directory that both see by the same name";
	} else if (r == -ESRCH) {
		why = "there is no such process";
	}
	diag_set(reterr, EXIT_ENVIRONMENT, r, "process %d cannot be recorded: %s", (int)pid, why);
	return remedy ? diag_remedy(reterr, r, "%s", remedy) : r;
}

int drainer_invite(struct drainer *d, pid_t pid, unsigned *ret_cnt, struct diag *reterr)
{
	_cleanup_(freep) pid_t *tree = xmalloc(TREE_MAX * sizeof(*tree));
	size_t cnt = proc_tree(pid, tree, TREE_MAX);
	int worst = 0;

	*ret_cnt = 0;
	if (cnt == TREE_MAX) {
		diag_set(reterr, EXIT_ENVIRONMENT, -E2BIG, "process %ld has %d descendants or more, and all of them cannot be "
			 "invited", (long)pid, TREE_MAX - 1);
		return diag_remedy(reterr, -E2BIG, "give -p those that serve the requests");
	}
	for (size_t i = 0; i < cnt; i++) {
		int r = invite(d, tree[i]);

		*ret_cnt += r == 0;
		if (r == -ESRCH && i > 0)
			continue;		/* a short-lived child that is gone by now */
		if (r && (!worst || worst == -ENOENT))
			worst = r;
	}
	return *ret_cnt ? 0 : refused(pid, worst, reterr);
}
