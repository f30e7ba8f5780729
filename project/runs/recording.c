/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recording.c - an fcntl() lock, because it reports its holder.
 *
 *	runs/007/recorder	locked by 4711	run 7 is "recording", and 4711 takes requests
 *				not locked	4711 was killed: run 7 becomes "killed", its trace is read to
 *						the last whole block
 *
 * The file holds the path of the recording's arena.  A command that finds that 4711 was killed adds the arena's
 * records to the trace (drainer/recover.c): analyze, show runs, and the next record.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "drainer/drainer.h"
#include "project/notices.h"
#include "project/runs/recording.h"
#include "trace/parts.h"

static int open_file(const struct store *s, uint32_t run, int flags)
{
	_cleanup_(freep) char *dir = run_dir(s, run), *path = path_join(dir, "recorder");

	return open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
}

int recording_begin(const struct store *s, uint32_t run)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open_file(s, run, O_RDWR | O_CREAT);

	if (fd >= 0 && fcntl(fd, F_SETLK, &lock)) {
		close(fd);
		return -1;
	}
	return fd;
}

void recording_end(int lock)
{
	if (lock >= 0)
		close(lock);
}

void recording_note_arena(int lock, const char *path)
{
	if (lock >= 0 && (ftruncate(lock, 0) || pwrite(lock, path, strlen(path), 0) < 0)) {
		/* Without it, a kill loses the records in the arena. */
	}
}

pid_t recording_pid(const struct store *s, uint32_t run)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open_file(s, run, O_RDONLY | O_NONBLOCK);
	bool asked = fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0;

	if (fd >= 0)
		close(fd);
	return asked && lock.l_type != F_UNLCK ? lock.l_pid : 0;
}

static void look_at(const char *path, int64_t *last_ns)
{
	struct stat st;

	if (stat(path, &st) == 0 && (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec > *last_ns)
		*last_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

/* Time of the last write. */
static int64_t last_write_ns(const struct store *s, uint32_t run)
{
	_cleanup_(freep) char *dir = run_dir(s, run), *path = path_join(dir, "trace.vpt");
	size_t cnt;
	_cleanup_(trace_parts_release) char **parts = trace_parts(path, &cnt);
	int64_t last_ns = 0;

	look_at(path, &last_ns);
	for (size_t i = 0; i < cnt; i++)
		look_at(parts[i], &last_ns);
	return last_ns;
}

static int recover(const struct store *s, const struct run *r, struct diag *reterr)
{
	_cleanup_(freep) char *dir = run_dir(s, r->number), *file = path_join(dir, "recorder");
	_cleanup_(freep) char *trace = path_join(dir, "trace.vpt"), *arena = NULL;
	size_t len, part_cnt;
	_cleanup_(trace_parts_release) char **parts = trace_parts(trace, &part_cnt);
	struct drainer_stats stats = { 0 };
	int e;

	if (file_read(file, &arena, &len) < 0 || !len)
		return 0;
	/* A trace in parts goes on in the last one. */
	e = drainer_recover(arena, part_cnt ? parts[part_cnt - 1] : trace, &stats, reterr);
	if (e == 0)
		note_line("run %" PRIu32 ": its recorder was killed; %" PRIu64 " records that it had not written yet "
			  "are in the trace now", r->number, stats.records);
	return e == -ENOENT || e == -EBUSY || e == -EBADMSG ? 0 : e;
}

int recordings_settle(struct store *s, runs *ret, struct diag *reterr)
{
	int r = runs_read(s, ret, reterr);

	for (size_t i = 0; r == 0 && i < ret->cnt; i++)
		r = recording_settle(s, &ret->items[i], reterr);
	return r;
}

int recording_settle(struct store *s, struct run *r, struct diag *reterr)
{
	int64_t last_ns;
	int e;

	if (r->status != RUN_RECORDING || recording_pid(s, r->number))
		return 0;
	r->status = RUN_KILLED;
	last_ns = last_write_ns(s, r->number);
	if (last_ns > r->started_ns)
		r->duration_ns = last_ns - r->started_ns;
	if (store_check_ours(s, NULL) < 0)	/* the directory is only read: its owner recovers the trace */
		return 0;
	e = recover(s, r, reterr);
	return e < 0 ? e : run_update(s, r, reterr);
}
