/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spool.c - see spool.h.
 *
 * The command may fail for days.  After a failure the sender waits, from one second on twice as long each time up to a minute, and
 * tries the same file again: windows arrive in their order.
 */
#include "project/digests/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/file.h"
#include "base/proc.h"
#include "project/config/locate.h"
#include "project/notices.h"

enum { LOOK_MS = 200, AGAIN_MS = 1000, AGAIN_MAX_MS = 60000 };

char *spool_dir(void)
{
	return path_join(data_dir(), "spool");
}

/* ---- files ---- */

static int is_digest_file(const struct dirent *e)
{
	return ends_with(e->d_name, ".vpd");
}

/* In order of their names. */
static int list(const char *dir, struct dirent ***ret)
{
	int cnt = scandir(dir, ret, is_digest_file, alphasort);

	return cnt < 0 ? 0 : cnt;
}

static void list_release(struct dirent **files, int cnt)
{
	for (int i = 0; i < cnt; i++)
		free(files[i]);
	free(files);
}

size_t spool_cnt(void)
{
	_cleanup_(freep) char *dir = spool_dir();
	struct dirent **files = NULL;
	int cnt = list(dir, &files);

	list_release(files, cnt);
	return (size_t)cnt;
}

/* Without the file of that name: it may be written again. */
static uint64_t bytes_in(const char *dir, const char *name)
{
	struct dirent **files = NULL;
	int cnt = list(dir, &files);
	uint64_t bytes = 0;

	for (int i = 0; i < cnt; i++) {
		_cleanup_(freep) char *path = path_join(dir, files[i]->d_name);
		struct stat st;

		bytes += strcmp(files[i]->d_name, name) != 0 && stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
	}
	list_release(files, cnt);
	return bytes;
}

int spool_add(uint32_t run, int64_t until_ns, const char *bytes, size_t len, uint64_t limit, struct diag *reterr)
{
	_cleanup_(freep) char *dir = spool_dir(), *path = xasprintf("%s/%06" PRIu32 "-%020" PRId64 ".vpd", dir, run, until_ns);
	int r = make_dirs(dir, 0700);

	if (r == 0 && bytes_in(dir, path_base(path)) + len > limit)
		return -ENOSPC;
	if (r == 0)
		r = file_write(path, bytes, len, 0600);
	if (r < 0)
		return diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot write '%s': %s", path, strerror(-r));
	return 0;
}

/* ---- the sender's process ---- */

/* Its standard output is for the program that is recorded. */
static void become(const char *command, const char *path)
{
	sigset_t none;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	if (fd < 0 || dup2(fd, STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		_exit(126);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static int run(const char *command, const char *path)
{
	int wait_status = 0;
	pid_t pid = fork();

	if (pid == 0)
		become(command, path);
	while (pid > 0 && waitpid(pid, &wait_status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return pid < 0 ? -errno : proc_status(wait_status);
}

/* 0, or what the command ended with. */
static int send_all(const char *command, const char *dir)
{
	struct dirent **files = NULL;
	int cnt = list(dir, &files), status = 0;

	for (int i = 0; i < cnt && !status; i++) {
		_cleanup_(freep) char *path = path_join(dir, files[i]->d_name);

		status = run(command, path);
		if (!status)
			unlink(path);
	}
	list_release(files, cnt);
	return status;
}

static void tell(const char *command, const char *dir, int status, bool was_failing)
{
	if (status < 0 && !was_failing)
		warn_line("cannot run '%s' (%s): digests stay in '%s', and are tried again", command, strerror(-status), dir);
	else if (status && !was_failing)
		warn_line("'%s' ended with status %d: the digest stays in '%s', and is tried again", command, status, dir);
	else if (!status && was_failing)
		note_line("'%s' works again: the digests that waited are sent", command);
}

/* Whether this process is the sender of the data directory; another recording's may be. */
static bool take_lock(const char *dir, int *lock)
{
	_cleanup_(freep) char *path = path_join(dir, "lock");

	if (*lock < 0)
		*lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	return *lock >= 0 && flock(*lock, LOCK_EX | LOCK_NB) == 0;
}

/* Waits for the time, or the end of the recorder; whether it has ended. */
static bool has_ended(int fd, int ms)
{
	struct pollfd end = { .fd = fd, .events = POLLIN };

	return poll(&end, 1, ms) > 0;
}

static void send_until_end(const char *command, const char *dir, int fd)
{
	int lock = -1, again_ms = AGAIN_MS;
	bool is_failing = false, is_over = false;

	while (!is_over) {
		is_over = has_ended(fd, is_failing ? again_ms : LOOK_MS);
		if (take_lock(dir, &lock)) {	/* kept until this process ends */
			int status = send_all(command, dir);

			tell(command, dir, status, is_failing);
			again_ms = !is_failing ? AGAIN_MS : again_ms * 2 < AGAIN_MAX_MS ? again_ms * 2 : AGAIN_MAX_MS;
			is_failing = status;
		}
	}
}

int spool_sender_start(struct spool_sender *s, const char *command, struct diag *reterr)
{
	_cleanup_(freep) char *dir = spool_dir();
	int ends[2], r = make_dirs(dir, 0700);

	s->fd = -1;
	if (r == 0 && pipe2(ends, O_CLOEXEC))
		r = -errno;
	if (r < 0)
		return diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot make '%s': %s", dir, strerror(-r));
	s->pid = fork();
	if (s->pid == 0) {
		close(ends[1]);
		setpgid(0, 0);		/* Control-C is for the program, also where a supervisor sends it to all */
		signal(SIGINT, SIG_IGN);
		send_until_end(command, dir, ends[0]);
		_exit(0);
	}
	r = s->pid < 0 ? -errno : 0;
	close(ends[0]);
	s->fd = ends[1];
	return r < 0 ? diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot start a process that sends digests: %s", strerror(-r)) : 0;
}

void spool_sender_end(struct spool_sender *s)
{
	if (s->fd >= 0)
		close(s->fd);
	if (s->pid > 0)
		while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
			;
	*s = (struct spool_sender){ 0, -1 };
}
