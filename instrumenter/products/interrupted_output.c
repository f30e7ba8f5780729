/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * interrupted_output.c - finds, in the next build, the half-written files of compilers that were killed.
 *
 * Most products are made elsewhere and renamed (product.c).  With --coverage the compiler names other files after -o,
 * so it has to write in place, and when it is killed
 *
 *	gcc --coverage -c log.c		log.o is there, empty, and newer than log.c
 *
 * make would link that.  So BUILD_DIR/<log.o>.making contains the path while the compiler runs, locked by the
 * launcher: an unlocked one belongs to a launcher that is gone.  The file is removed if it was written since, and
 * make makes it again.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "instrumenter/products/interrupted_output.h"
#include "instrumenter/scan/scan.h"

#define SUFFIX ".making"
#define NEW_SUFFIX ".new"

static char *mark_path(const char *path, const char *build_dir)
{
	_cleanup_(freep) char *real = path_real(path);

	return unit_path(build_dir, real, SUFFIX);
}

int unfinished_mark(const char *path, const char *build_dir)
{
	_cleanup_(freep) char *mark = mark_path(path, build_dir), *real = path_real(path);
	struct stat st;
	int fd;

	if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return -1;
	fd = open(mark, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0600);
	if (fd >= 0 && (flock(fd, LOCK_EX) < 0 || write(fd, real, strlen(real)) != (ssize_t)strlen(real))) {
		unfinished_done(path, build_dir, fd);
		return -1;
	}
	return fd;
}

void unfinished_done(const char *path, const char *build_dir, int fd)
{
	_cleanup_(freep) char *mark = mark_path(path, build_dir);

	if (fd < 0)
		return;
	unlink(mark);
	close(fd);
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec >= b->tv_nsec;
}

/* A mark that is not locked: removes the file that it names. */
static bool remove_named(const char *mark)
{
	_cleanup_(freep) char *path = NULL;
	struct stat st, marked;
	size_t len;
	bool removed = false;

	if (stat(mark, &marked) == 0 && file_read(mark, &path, &len) == 0 && len > 0 &&
	    lstat(path, &st) == 0 && S_ISREG(st.st_mode) && is_later(&st.st_mtim, &marked.st_mtim))
		removed = unlink(path) == 0;
	unlink(mark);
	return removed;
}

/* "<path>.4711.new", or ".i" (text_name.h), of a launcher that is gone. */
static bool is_left(const char *name)
{
	static const char *const suffixes[] = { NEW_SUFFIX, ".i", ".ii" };
	const char *dot = NULL, *at;
	pid_t pid;

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (ends_with(name, suffixes[i]))
			dot = name + strlen(name) - strlen(suffixes[i]);
	at = dot;

	while (at && at > name && at[-1] >= '0' && at[-1] <= '9')
		at--;
	if (!at || at == dot || at == name || at[-1] != '.')
		return false;
	pid = (pid_t)strtol(at, NULL, 10);
	return pid > 0 && kill(pid, 0) < 0 && errno == ESRCH;
}

static int is_ours(const struct dirent *d)
{
	return ends_with(d->d_name, SUFFIX) || is_left(d->d_name);
}

size_t unfinished_remove(const char *build_dir)
{
	struct dirent **names;
	int found = scandir(build_dir, &names, is_ours, NULL);
	size_t cnt = 0;

	for (int i = 0; i < found; i++) {
		_cleanup_(freep) char *mark = path_join(build_dir, names[i]->d_name);
		int fd = ends_with(mark, SUFFIX) ? file_open_plain(mark, O_RDONLY) : -1;

		if (!ends_with(mark, SUFFIX))
			unlink(mark);
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
			cnt += remove_named(mark);
		if (fd >= 0)
			close(fd);
		free(names[i]);
	}
	if (found >= 0)
		free(names);
	return cnt;
}
