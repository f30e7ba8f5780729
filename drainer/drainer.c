/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drainer.c - opens, drains until the program has ended, closes; in between it keeps the clock's anchors and
 * writes what the program has registered.
 *
 * It looks for full chunks every 0.2 ms while there are many, and ever more seldom, up to every 5 ms, while
 * they are few of all: waking up takes longer than emptying one.  Few means 1 of 256: 32 of 8,192 chunks, so
 * if threads fill 1,000 a second, about 5 are emptied every 5 ms.  As long as no process records, as in a run
 * of which only the kernel's side is wanted, it looks every 50 ms: waking 200 times a second would take a CPU
 * from another thread each time.  Collected records are written when they fill a block or are 100 ms old,
 * which limits the loss if the drainer is killed.  Once a second it writes an anchor, and reclaims the chunks
 * of ended processes.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "drainer/drain.h"

enum {
	FIRST_ANCHOR_NS = 20000000,
	FLUSH_NS = 100000000,
	PAUSE_MIN_NS = 200000,
	PAUSE_MAX_NS = 5000000,
	PAUSE_ALONE_MAX_NS = 50000000,	/* while no process records, and a chunk's share of it: the chunks of
					 * a small arena fill soon */
	PAUSE_ALONE_A_CHUNK_NS = 6000,
	MANY_SHARE = 256,
	HURRY_SHARE = 8,
	RECORDS_CAP = 1 << 20,
	TABLE_CAP = 1 << 20,
	LIMIT_REST_SHARE = 16,
	LIMIT_REST_BYTES = 1 << 17,
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool encoder_open(struct encoder *e, size_t cap)
{
	e->data = malloc(cap);
	e->cap = cap;
	return e->data;
}

void drain_free(struct drainer *d)
{
	if (d->arena.base)
		munmap(d->arena.base, d->arena_bytes);
	drain_remove_arena(d);
	if (d->arena_fd >= 0)
		close(d->arena_fd);
	if (d->inherited_fd >= 0)
		close(d->inherited_fd);
	if (d->waits.table)
		close(d->waits.fd);
	trace_file_close(&d->file);
	free(d->drained);
	free(d->looked);
	free(d->records.data);
	free(d->table.data);
	ring_release(&d->ring);
	objects_release(&d->objects);
	VEC_RELEASE(&d->pauses);
	contents_release(&d->contents);
	VEC_RELEASE(&d->anchors);
	budget_release(&d->budget);
	accounts_release(&d->accounts);
	cpu_users_release(&d->cpu_users);
	free(d->trace_path);
	free(d);
}

static int cannot_write(const char *path, int r, struct diag *reterr)
{
	return diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot write trace '%s': %s", path, strerror(-r));
}

struct drainer *drain_new(const char *trace_path)
{
	struct drainer *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->file.fd = d->arena_fd = d->inherited_fd = -1;
	d->trace_path = strdup(trace_path);
	if (d->trace_path && encoder_open(&d->records, RECORDS_CAP) &&
	    encoder_open(&d->table, TABLE_CAP))
		return d;
	drain_free(d);
	return NULL;
}

int drainer_open(const struct drainer_options *o, struct drainer **ret, struct diag *reterr)
{
	struct drainer *d = drain_new(o->trace_path);
	int r;

	if (!d)
		return diag_set(reterr, EXIT_ENVIRONMENT, -ENOMEM, "out of memory");
	r = trace_file_open(&d->file, o->trace_path, TRACE_MAGIC, TRACE_VERSION);
	if (r) {
		drain_free(d);
		return cannot_write(o->trace_path, r, reterr);
	}
	r = drain_make_arena(d, o);
	if (r) {
		drain_free(d);
		if (o->arena_dir)
			diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot allocate the recording buffer, in '%s': %s",
				 o->arena_dir, strerror(-r));
		else
			diag_set(reterr, EXIT_ENVIRONMENT, r,
				 "cannot allocate the recording buffer, in /dev/shm or beside '%s': %s",
				 o->trace_path, strerror(-r));
		return diag_remedy(reterr, r, "free some space in %s, 200 MB are enough",
				   o->arena_dir ? o->arena_dir : "/dev/shm");
	}
	d->file.limit = d->limit_bytes = o->limit_bytes;
	if (d->inherited_fd >= 0)
		snprintf(d->env, sizeof(d->env), "%s=" ARENA_FD "%d", ARENA_ENV, d->inherited_fd);
	else
		snprintf(d->env, sizeof(d->env), "%s=%s", ARENA_ENV, d->arena_path);
	d->nobody = o->nobody;
	d->nobody_arg = o->nobody_arg;
	d->requests = o->requests;
	d->turn = o->turn;
	d->turn_arg = o->turn_arg;
	d->ring.keep_ns = o->keep_ns;
	d->ring.keep_bytes = o->keep_bytes;
	if (ring_drops(&d->ring))
		r = ring_open(d);
	else
		drain_anchor(d, false);
	if (r) {
		drain_free(d);
		return cannot_write(o->trace_path, r, reterr);
	}
	budget_init(&d->budget, o->budget, &d->arena);
	accounts_init(&d->accounts, clock_ns(CLOCK_MONOTONIC));
	d->watched = o->pids;
	d->watched_cnt = o->pid_cnt;
	drain_pauses_start(d, o);
	experiments_open(d, o->experiments);
	__atomic_store_n(&d->arena.control->notes_order, o->notes_order, __ATOMIC_RELEASE);
	d->objects.is_wanted = o->notes_order;
	d->name_objects = o->name_objects;
	d->name_arg = o->name_arg;
	*ret = d;
	return 0;
}

const char *drainer_env(const struct drainer *d)
{
	return d->env;
}

void drainer_inherit(const struct drainer *d)
{
	if (d->inherited_fd >= 0)
		fcntl(d->inherited_fd, F_SETFD, 0);
	if (d->waits.table)
		fcntl(d->waits.fd, F_SETFD, 0);
}

const char *drainer_path(const struct drainer *d)
{
	return d->arena_path;
}

/* Reserves a part of the limit for records that are under way when recording stops. */
static void keep_limit(struct drainer *d)
{
	uint64_t rest = d->file.limit / LIMIT_REST_SHARE + LIMIT_REST_BYTES;

	if (!d->file.limit || (d->file.bytes + rest < d->file.limit && !d->file.full))
		return;
	__atomic_store_n(&d->arena.control->recording, RECORDING_OVER, __ATOMIC_RELEASE);
	d->stats.limit_reached = true;
}

static void every_second(struct drainer *d)
{
	drain_anchor(d, false);
	drain_tables(d);
	accounts_flush(d);
	cpu_users_flush(d, clock_ns(CLOCK_MONOTONIC));
	drain_dead(d);
	drain_flush(d);
	futimens(d->arena_fd, NULL);	/* the file's time: if this drainer is killed, new_arena.c sees since when */
}

/* Empties full chunks and writes what is old enough; reports to the budget what records cost. */
static uint32_t empty_and_write(struct drainer *d, uint64_t *next_flush)
{
	uint64_t began = budget_clock(&d->budget);
	uint32_t cnt = drain_full(d);
	bool is_old = clock_ns(CLOCK_MONOTONIC) >= *next_flush;

	if (is_old) {
		drain_flush(d);
		*next_flush = clock_ns(CLOCK_MONOTONIC) + FLUSH_NS;
	}
	if (cnt || is_old)
		budget_worked(&d->budget, began);
	return cnt;
}

/* The next event is a process that begins to record, or the end of a pause. */
static long longest_pause_ns(const struct drainer *d)
{
	long ns = (long)d->arena.chunk_cnt * PAUSE_ALONE_A_CHUNK_NS;

	if (__atomic_load_n(&d->arena.control->process_cnt, __ATOMIC_RELAXED) || d->resume_ns || ns < PAUSE_MAX_NS)
		return PAUSE_MAX_NS;
	return ns < PAUSE_ALONE_MAX_NS ? ns : PAUSE_ALONE_MAX_NS;
}

/* The time until the next look, after one that found this many full chunks. */
static long next_pause_ns(const struct drainer *d, long pause_ns, uint32_t full_cnt)
{
	long longest_ns = longest_pause_ns(d);

	if (full_cnt > d->arena.chunk_cnt / MANY_SHARE)
		return PAUSE_MIN_NS;
	pause_ns += pause_ns / 4;
	return pause_ns < longest_ns ? pause_ns : longest_ns;
}

int drainer_run(struct drainer *d, pid_t child, int *ret_wait_status, struct diag *reterr)
{
	/* The first anchor after the start comes early, because a clock needs two. */
	uint64_t next_second = clock_ns(CLOCK_MONOTONIC) + FIRST_ANCHOR_NS;
	struct pollfd awaited[] = {
		{ .fd = (int)syscall(SYS_pidfd_open, child, 0), .events = POLLIN },
		{ .fd = d->requests ? d->requests->fd : -1, .events = POLLIN },
	};
	uint64_t next_flush = next_second;
	long pause_ns = PAUSE_MIN_NS;
	int r = 0;

	d->child = child;
	d->hurry_cnt = d->arena.chunk_cnt / HURRY_SHARE;
	while (!r) {
		struct timespec pause;
		pid_t pid = waitpid(child, ret_wait_status, WNOHANG);

		if (pid < 0 && errno != EINTR)
			r = -errno;
		if (pid == child)
			break;
		pause_ns = next_pause_ns(d, pause_ns, empty_and_write(d, &next_flush));
		keep_limit(d);
		drain_pauses_turn(d, clock_ns(CLOCK_MONOTONIC));
		budget_turn(&d->budget, clock_ns(CLOCK_MONOTONIC));
		accounts_turn(d, clock_ns(CLOCK_MONOTONIC));
		cpu_users_turn(d, clock_ns(CLOCK_MONOTONIC));
		if (clock_ns(CLOCK_MONOTONIC) >= next_second) {
			every_second(d);
			next_second = clock_ns(CLOCK_MONOTONIC) + 1000000000;
		}
		experiments_turn(d, clock_ns(CLOCK_MONOTONIC));
		ring_turn(d);
		if (d->turn)
			d->turn(d->turn_arg, d);
		if (d->nobody && !__atomic_load_n(&d->arena.control->process_cnt, __ATOMIC_RELAXED))
			d->nobody(d->nobody_arg, child, d->arena_path);
		pause = (struct timespec){ 0, pause_ns };
		if (ppoll(awaited, 2, &pause, NULL) > 0 && awaited[1].revents)
			d->requests->take(d->requests->arg, d);
	}
	d->hurry_cnt = 0;
	d->has_ended = true;
	if (awaited[0].fd >= 0)
		close(awaited[0].fd);
	if (r)
		return diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot wait for the program: %s",
				strerror(-r));
	drain_full(d);
	return 0;
}

uint64_t drainer_lost(const struct drainer *d)
{
	return d->stats.lost_records + d->dropped_cnt;
}

void drainer_worked(struct drainer *d, uint64_t ns)
{
	if (d->budget.part > 0) {
		d->budget.recorder_ns += (double)ns;
		d->budget.work_ns += (double)ns;
	}
}

int drainer_close(struct drainer *d, struct drainer_stats *ret, struct diag *reterr)
{
	struct arena_control *c = d->arena.control;
	int r = 0;

	__atomic_store_n(&c->recording, RECORDING_OVER, __ATOMIC_RELEASE);
	drain_full(d);
	drain_rest(d);
	if (d->objects.list.cnt && d->name_objects)
		d->name_objects(d->name_arg, d);
	drain_flush(d);
	accounts_end(d);
	cpu_users_end(d, clock_ns(CLOCK_MONOTONIC));
	drain_tables(d);
	if (d->ring.is_on) {
		r = ring_close(d);
	} else {
		drain_anchors(d);
		contents_write(d);
		drain_anchor(d, true);
		drain_end(d);
	}
	d->stats.bytes_written = d->file.bytes;
	d->stats.disk_error = d->file.full ? d->file.error : 0;
	d->stats.processes = c->process_cnt;
	d->stats.threads = c->thread_cnt;
	d->stats.functions = drain_has_tables(d) ? drain_function_cnt(d) : c->function_cnt;
	memcpy(d->stats.apart_cnt, c->apart_cnt, sizeof(c->apart_cnt));
	memcpy(d->stats.apart_pid, c->apart_pid, sizeof(c->apart_pid));
	drain_leave_arena(d);
	if (ret)
		*ret = d->stats;
	if (!r)
		r = trace_file_close(&d->file);
	drain_free(d);
	return r ? diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot finish the trace: %s",
			    strerror(-r)) : 0;
}
