/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * room.c - no room: in the arena, on the disk, for files, for memory.
 *
 * The program never notices.  Dropped records are counted; dropped and read ones together are all that happened.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/banned.h"
#include "tests/soak/soak.h"

static void expect_normal_end(const struct ordeal *o)
{
	CHECK(o->status == 0 && o->counts->ended, "the program ended with %d", o->status);
	CHECK(o->readable, "the trace cannot be read: %s", o->diag.text);
}

/* Ten blocks a second, and the threads' records of their shifts. */
enum { OF_EXPERIMENTS = 200 };

/* One thread: leafs, two events, and at the end its processor time, how often it left its CPU, and its STOP.  No other record can
 * be lost; whether the two of its CPU were does not show in the trace. */
static void expect_exact_losses(const struct ordeal *o, bool stop_lost)
{
	uint64_t counted = counted_leafs(o) + counted_events(o) + stop_lost;
	uint64_t read = recorded_leafs(o, 0) + recorded_events(o), told = read + o->stats.lost_records;

	CHECK(told >= counted && told <= counted + (has_experiments() ? OF_EXPERIMENTS : 2),
	      "%llu records: %llu read, %llu said to be lost", (unsigned long long)counted, (unsigned long long)read,
	      (unsigned long long)o->stats.lost_records);
}

static bool saw_stop(const struct ordeal *o)
{
	size_t victim = 0;

	if (has_experiments() && o->t->threads.cnt == 2)	/* the recorder's own, which notes blocks */
		victim = o->t->threads.items[0].tid != o->counts->cells[0].tid;
	else if (o->t->threads.cnt != 1)
		return false;
	return !o->t->threads.items[victim].open_end;
}

void soak_arena_full(long n)
{
	for (size_t chunks = 1; chunks < 1000 && all_held(); chunks *= 10) {
		struct ordeal o = { .program = "flood", .n = n, .arena_bytes = chunks << 14 };

		progress("arena of %zu chunks", chunks);
		ordeal_run(&o);
		expect_normal_end(&o);
		if (o.readable) {
			CHECK(o.stats.lost_records > 0 || chunks > 1, "nothing was lost");
			CHECK(o.stats.lost_records == o.t->losses.records,
			      "the trace says that %llu were lost, the recorder %llu",
			      (unsigned long long)o.t->losses.records,
			      (unsigned long long)o.stats.lost_records);
			expect_exact_losses(&o, !saw_stop(&o));
		}
		ordeal_release(&o);
	}
}

/* A disk of 256 kB, for root; NULL: not to be had. */
static const char *small_disk(void)
{
	static const char dir[] = "soak-disk";

	mkdir(dir, 0700);
	return mount("none", dir, "tmpfs", 0, "size=256k") ? NULL : dir;
}

static void drop_disk(const char *dir)
{
	umount(dir);
	rmdir(dir);
}

static void fill_disk(const char *dir, long n, size_t arena_bytes)
{
	struct ordeal o = { .program = "flood", .n = n, .trace_dir = dir, .arena_bytes = arena_bytes };

	ordeal_run(&o);
	expect_normal_end(&o);
	CHECK(arena_bytes || (o.stats.disk_error == ENOSPC && o.stats.dropped_records > 0), "the disk was not full");
	if (o.readable) {
		CHECK(o.stats.lost_records == o.t->losses.records, "the trace says that %llu were lost, the recorder %llu",
		      (unsigned long long)o.t->losses.records, (unsigned long long)o.stats.lost_records);
		CHECK(recorded_leafs(&o, 0) > 0, "nothing is in the trace");
		expect_exact_losses(&o, !saw_stop(&o));
	}
	unlink(o.trace_path);
	ordeal_release(&o);
}

/* Once more with an arena that is full as well, now and then: what says so has no room on the disk either. */
void soak_disk_full(long n)
{
	const char *dir = small_disk();

	if (!dir) {
		rmdir("soak-disk");
		progress("no disk of one's own: left out");
		return;
	}
	fill_disk(dir, n, 0);
	fill_disk(dir, n, 100 << 14);
	drop_disk(dir);
}

static struct rlimit limit;
static int limited;

static void set_limit(void)
{
	setrlimit(limited, &limit);
}

static void limit_victim(int resource, rlim_t value)
{
	limited = resource;
	limit = (struct rlimit){ value, value };
}

/* The program without a recorder: how it ends, and what it finds. */
static struct ordeal unrecorded(const char *program)
{
	char path[] = "soak-alone-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC), status = 0;
	struct ordeal o = { .counts = calloc(1, sizeof(*o.counts)) };
	pid_t pid;

	if (fd < 0 || ftruncate(fd, sizeof(*o.counts))) {
		perror("soak: counts");
		exit(99);
	}
	pid = fork();
	if (!pid) {
		set_limit();
		execl("tests/soak/victim", "victim", program, path, "0", (char *)NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	o.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	if (pread(fd, o.counts, sizeof(*o.counts), 0) != sizeof(*o.counts))
		exit(99);
	close(fd);
	unlink(path);
	return o;
}

static void compare_with_alone(const char *program, rlim_t value, bool must_record)
{
	struct ordeal o = { .program = program, .in_victim = set_limit };
	struct ordeal alone = unrecorded(program);

	ordeal_run(&o);
	CHECK(o.status == alone.status, "with a limit of %llu: it ends with %d, alone with %d",
	      (unsigned long long)value, o.status, alone.status);
	CHECK(o.counts->first_fd == alone.counts->first_fd && o.counts->threads == alone.counts->threads,
	      "with a limit of %llu files: it opens %lld..%llu, alone %lld..%llu",
	      (unsigned long long)value, (long long)o.counts->first_fd,
	      (unsigned long long)o.counts->threads, (long long)alone.counts->first_fd,
	      (unsigned long long)alone.counts->threads);
	CHECK(!must_record || (o.readable && recorded_leafs(&o, 0) == counted_leafs(&o)),
	      "with a limit of %llu: %s", (unsigned long long)value,
	      o.readable ? "not all was recorded" : o.diag.text);
	ordeal_release(&o);
	free(alone.counts);
}

/* With 3 there is not one for the arena, with 4 there is one for a moment. */
void soak_files(long n)
{
	for (rlim_t cnt = 3; cnt < 3 + (rlim_t)n && all_held(); cnt++) {
		progress("%llu files", (unsigned long long)cnt);
		limit_victim(RLIMIT_NOFILE, cnt);
		compare_with_alone("files", cnt, cnt >= 4);
	}
}

/* Whether this user may raise a hard limit, and so the runtime in the victim (vprof-record(1), LIMITS). */
static bool may_raise(void)
{
	int status = 1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 }) || setrlimit(RLIMIT_CORE, &(struct rlimit){ 1, 1 }));
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

void soak_memory(long n)
{
	bool raised = may_raise();

	for (rlim_t mb = 16; mb <= (rlim_t)n && all_held(); mb *= 2) {
		progress("%llu MB", (unsigned long long)mb);
		limit_victim(RLIMIT_AS, mb << 20);
		compare_with_alone("memory", mb << 20, raised && mb >= 512);
	}
}

/* Limits the program's own files; the recorder's trace is not one of them. */
void soak_file_size(long n)
{
	for (rlim_t bytes = 0; bytes < (rlim_t)n && all_held(); bytes = 2 * bytes + 4096) {
		progress("files of %llu bytes", (unsigned long long)bytes);
		limit_victim(RLIMIT_FSIZE, bytes);
		compare_with_alone("memory", bytes, true);
	}
}
