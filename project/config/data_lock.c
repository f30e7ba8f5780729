/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * data_lock.c - each lock is a byte of DATA_DIR/lock, by fcntl(), which reports the holder and is not inherited by
 * children.
 *
 *	vprof: waiting for 'vprof build -- make' (process 4711, since 14:02:31): it has /home/u/p/vprof.data
 *
 * The file is opened once: closing any descriptor of it would release all locks.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/file.h"
#include "base/ours.h"
#include "base/proc.h"
#include "project/config/data_lock.h"
#include "project/config/locate.h"
#include "project/notices.h"

enum { COMMAND_SHOWN = 80, TRIES = 5 };

bool lock_no_wait;
static int lock_fd = -1;

static struct flock lock_of(int64_t what, short type)
{
	return (struct flock){ .l_type = type, .l_whence = SEEK_SET, .l_start = what, .l_len = 1 };
}

/* "vprof build -- make"; NULL: the process has ended, or is not visible from here. */
static char *command_of(pid_t pid)
{
	_cleanup_(freep) char *path = xasprintf("/proc/%d/cmdline", (int)pid), *text = NULL;
	_cleanup_(str_release) struct str shown = STR_INIT;
	size_t len;

	if (pid <= 0 || file_read(path, &text, &len) < 0 || !len)
		return NULL;
	str_add(&shown, path_base(text));
	for (size_t at = strlen(text) + 1; at < len && shown.len < COMMAND_SHOWN; at += strlen(text + at) + 1) {
		str_addc(&shown, ' ');
		str_add_shell_quoted(&shown, text + at);
	}
	if (shown.len > COMMAND_SHOWN) {
		shown.data[shown.len = COMMAND_SHOWN] = '\0';
		str_add(&shown, "...");
	}
	return str_take(&shown);
}

/* "14:02:31"; "" if it is unknown. */
static void start_of(pid_t pid, char ret[16])
{
	_cleanup_(freep) char *path = xasprintf("/proc/%d/stat", (int)pid), *text = NULL, *up = NULL;
	const char *at = file_read(path, &text, NULL) < 0 ? NULL : strrchr(text, ')');
	double ticks = 0, up_s;
	struct tm tm;
	time_t start;

	*ret = '\0';
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (!at || file_read("/proc/uptime", &up, NULL) < 0)
		return;
	ticks = strtod(at, NULL);
	up_s = strtod(up, NULL);
	start = time(NULL) - (time_t)(up_s - ticks / (double)sysconf(_SC_CLK_TCK));
	if (localtime_r(&start, &tm))
		strftime(ret, 16, "%H:%M:%S", &tm);
}

static bool is_above_us(pid_t pid)
{
	pid_t at = getpid();
	char state;

	while (at > 1 && at != pid)
		if (proc_stat(at, &state, &at))
			return false;
	return at == pid && pid > 0;
}

/* Names the holder; false: there is none any more. */
static bool name_holder(int64_t what, struct str *ret, bool *ret_above)
{
	struct flock lock = lock_of(what, F_WRLCK);
	_cleanup_(freep) char *command = NULL;
	char since[16];

	*ret_above = false;
	if (fcntl(lock_fd, F_GETLK, &lock) < 0 || lock.l_type == F_UNLCK)
		return false;
	*ret_above = is_above_us(lock.l_pid);
	command = command_of(lock.l_pid);
	start_of(lock.l_pid, since);
	if (command)
		str_addf(ret, "'%s' (process %d, since %s)", command, (int)lock.l_pid, since);
	else
		str_add(ret, "a process of another container or machine");
	return true;
}

/* 1: there is no data directory, or we must not write to it. */
static int open_lock(void)
{
	_cleanup_(freep) char *why = NULL, *too = NULL;
	_cleanup_(closep) int dir = -1;

	if (lock_fd >= 0)
		return 0;
	dir = ours_open(data_dir(), false, &why);
	if (dir < 0 || ours_alone(dir, data_dir(), &too) < 0)
		return 1;
	lock_fd = openat(dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	return lock_fd < 0 ? -errno : 0;
}

static int wait_for(int64_t what, struct diag *reterr)
{
	_cleanup_(str_release) struct str holder = STR_INIT;
	struct flock lock = lock_of(what, F_WRLCK);
	bool above;

	if (!name_holder(what, &holder, &above))
		return -EAGAIN;
	if (above)
		return 0;
	if (lock_no_wait) {
		diag_set(reterr, EXIT_ENVIRONMENT, -EBUSY, "%s has '%s'", str_cstr(&holder), data_dir());
		return diag_remedy(reterr, -EBUSY, "wait for it to end, or leave out --no-wait");
	}
	if (what == LOCK_BUILD)
		note_line("waiting for %s: it has '%s'", str_cstr(&holder), data_dir());
	else
		note_line("waiting for %s: it analyses run %" PRId64, str_cstr(&holder), what);
	while (fcntl(lock_fd, F_SETLKW, &lock) < 0)
		if (errno != EINTR)
			return -errno;
	return 1;
}

int data_lock(int64_t what, struct diag *reterr)
{
	struct flock lock = lock_of(what, F_WRLCK);
	int r = open_lock();

	if (r > 0)
		return 0;
	for (int i = 0; r == 0 && i < TRIES; i++) {
		if (fcntl(lock_fd, F_SETLK, &lock) == 0)
			return 0;
		if (errno != EAGAIN && errno != EACCES) {
			r = -errno;
			break;
		}
		r = wait_for(what, reterr);
		if (r != -EAGAIN)
			break;
		r = 0;			/* its holder has just ended */
	}
	if (r >= 0 || r == -EBUSY)
		return r;
	warn_line("'%s/lock' cannot be locked (%s): run one vprof build, record or analyze at a time there", data_dir(), strerror(-r));
	return 0;
}

void data_unlock(int64_t what)
{
	struct flock lock = lock_of(what, F_UNLCK);

	if (lock_fd >= 0)
		fcntl(lock_fd, F_SETLK, &lock);
}
