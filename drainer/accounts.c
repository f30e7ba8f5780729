/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accounts.c - looks at the threads of the run.
 *
 * A sample that equals the one before is not written, except for the last repetition, with a count: for a
 * thread that sleeps, or computes without leaving its CPU, only the time changes.
 *
 *	look	processor time	got a CPU	state	written
 *	0 ms	3 ms		7 times		sleeps	0 ms
 *	5 ms	3 ms		7 times		sleeps
 *	10 ms	3 ms		7 times		sleeps	10 ms, 2 looks
 *	15 ms	5 ms		8 times		runs	15 ms
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "drainer/drain.h"
#include "drainer/usage.h"

enum {
	ACCOUNTS_COST_SHARE = 100,
	LOOK_NS = 4800000,		/* just below the drainer's longest pause */
	LOOK_MAX_NS = 25000000,		/* in long runs */
	LONGER_EACH_NS = 2000000000,	/* the time between looks grows by a hundredth of LOOK_NS for each of these */
	SEARCH_NS = 100000000,
	TABLE_BYTES = 1 << 16,
	TABLE_FLUSH_BYTES = TABLE_BYTES - 128,
	AT_ONCE_NS = 50000,
	LOOK_TRIES = 3,
	FDS_MAX = 1024,
	FDS_LEFT = 64,			/* file descriptors left for other uses */
};

void accounts_init(struct accounts *a, uint64_t now_ns)
{
	struct rlimit limit;
	struct stat st;

	*a = (struct accounts){ .began_ns = now_ns };
	a->pid_namespace = stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur / 2 > FDS_LEFT)
		a->fds_left = limit.rlim_cur / 2 - FDS_LEFT;
	a->fds_left = a->fds_left < FDS_MAX ? a->fds_left : FDS_MAX;
	a->table.data = malloc(TABLE_BYTES);
	a->table.cap = a->table.data ? TABLE_BYTES : 0;
}

static void close_fds(struct accounts *a, struct account_thread *t)
{
	if (t->stat_fd >= 0) {
		close(t->stat_fd);
		close(t->schedstat_fd);
		a->fds_left += 2;
	}
	t->stat_fd = t->schedstat_fd = -1;
}

void accounts_release(struct accounts *a)
{
	for (size_t i = 0; i < a->threads.cnt; i++)
		close_fds(a, &a->threads.items[i]);
	VEC_RELEASE(&a->threads);
	free(a->table.data);
	a->table = (struct encoder){ .data = NULL };
}

void accounts_flush(struct drainer *d)
{
	struct encoder *e = &d->accounts.table;

	if (e->len)
		trace_file_block(&d->file, BLOCK_ACCOUNTS, e->data, e->len);
	e->len = 0;
	e->full = false;
}

static void put(struct drainer *d, struct account_thread *t)
{
	struct encoder *e = &d->accounts.table;
	const struct account *l = &t->last;

	if (!t->is_pending || !e->cap)
		return;
	if (e->len > TABLE_FLUSH_BYTES)
		accounts_flush(d);
	encode_varint(e, t->serial);
	encode_varint(e, l->ticks);
	encode_varint(e, l->run_ns);
	encode_varint(e, l->delay_ns);
	encode_varint(e, l->slices << 1 | l->is_off);
	encode_varint(e, t->look_cnt);
	t->is_pending = false;
	t->look_cnt = 0;
}

static int open_one(const struct account_thread *t, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task/%u/%s", t->pid, t->tid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* false: the thread is gone. */
static bool read_one(const struct account_thread *t, int fd, const char *name, char *ret, size_t size)
{
	int own_fd = fd >= 0 ? -1 : open_one(t, name);
	ssize_t n = pread(fd >= 0 ? fd : own_fd, ret, size - 1, 0);

	if (own_fd >= 0)
		close(own_fd);
	ret[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* The name in the parentheses may have any characters; only numbers follow it. */
static bool read_is_off(const struct account_thread *t)
{
	char text[128], *name_end;

	if (!read_one(t, t->stat_fd, "stat", text, sizeof(text)))
		return false;
	name_end = strrchr(text, ')');
	return name_end && name_end[1] == ' ' && name_end[2] != 'R';
}

/* false: the thread is gone, or this kernel keeps no such accounts. */
static bool read_account(const struct account_thread *t, struct account *ret)
{
	char text[96], *at = text;

	if (!read_one(t, t->schedstat_fd, "schedstat", text, sizeof(text)))
		return false;
	ret->run_ns = strtoull(at, &at, 10);
	ret->delay_ns = strtoull(at, &at, 10);
	ret->slices = strtoull(at, &at, 10);
	return ret->slices > 0;
}

/* Whether both were taken in one stretch in which the thread did not come to a CPU. */
static bool is_same(const struct account *a, const struct account *b)
{
	return a->slices == b->slices && a->delay_ns == b->delay_ns && a->is_off == b->is_off &&
	       (!a->is_off || a->run_ns == b->run_ns);
}

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool look_once(const struct account_thread *t, struct account *ret)
{
	*ret = (struct account){ .ticks = clock_ticks() };
	if (!read_account(t, ret))
		return false;
	/* A thread that slept and got no CPU since is still asleep. */
	ret->is_off = (t->last.is_off && t->last.slices == ret->slices) || read_is_off(t);
	return true;
}

static bool is_still(const struct account_thread *t, const struct account *a)
{
	struct account now;

	return read_account(t, &now) && now.run_ns == a->run_ns && now.delay_ns == a->delay_ns && now.slices == a->slices;
}

/*
 * Time, account and state belong together only if they were read at once.  On a busy machine we wait for a
 * CPU between the reads: the thread's state is then not the one at the start, unless its account is
 * unchanged.  false: the thread is gone, or no try was good.
 */
static bool look_at_once(const struct account_thread *t, struct account *ret)
{
	for (int tries = 0; tries < LOOK_TRIES; tries++) {
		uint64_t began_ns = clock_ns();

		if (!look_once(t, ret))
			return false;
		if (clock_ns() - began_ns < AT_ONCE_NS || is_still(t, ret))
			return true;
	}
	return false;
}

static void look(struct drainer *d, struct account_thread *t)
{
	struct account now;
	bool same;

	if (!look_at_once(t, &now))
		return;
	same = t->last.slices && is_same(&t->last, &now);
	if (!(same && t->goes_on))
		put(d, t);
	t->goes_on = same;
	t->look_cnt++;
	t->last = now;
	t->is_pending = true;
}

/* ---- which threads there are ---- */

static void forget(struct drainer *d, struct account_thread *t)
{
	if (!t->serial)
		return;
	put(d, t);
	close_fds(&d->accounts, t);
	t->serial = 0;
}

static void begin_thread(struct accounts *a, struct account_thread *t, const struct arena_slot *slot)
{
	*t = (struct account_thread){ .pid = slot->pid, .tid = slot->tid, .serial = slot->serial,
				      .stat_fd = -1, .schedstat_fd = -1 };
	if (a->fds_left < 2)
		return;
	t->stat_fd = open_one(t, "stat");
	t->schedstat_fd = t->stat_fd >= 0 ? open_one(t, "schedstat") : -1;
	if (t->schedstat_fd >= 0) {
		a->fds_left -= 2;
	} else if (t->stat_fd >= 0) {
		close(t->stat_fd);
		t->stat_fd = -1;
	}
}

static void look_at_slot(struct drainer *d, uint32_t number)
{
	const struct arena_slot *slot = &d->arena.slots[number];
	struct accounts *a = &d->accounts;
	struct account_thread *t;

	while (a->threads.cnt <= number)
		*VEC_EXTEND(&a->threads) = (struct account_thread){ .stat_fd = -1, .schedstat_fd = -1 };
	t = &a->threads.items[number];
	if (!__atomic_load_n(&slot->used, __ATOMIC_ACQUIRE) || slot->pid_namespace != a->pid_namespace) {
		forget(d, t);
		return;
	}
	if (t->serial != slot->serial) {
		forget(d, t);
		begin_thread(a, t, slot);
	}
	look(d, t);
}

static void look_at_all(struct drainer *d)
{
	uint64_t cnt = d->arena.control->thread_cnt;

	for (uint32_t i = 1; i <= cnt && i < ARENA_SLOTS; i++)
		look_at_slot(d, i);
}

void accounts_turn(struct drainer *d, uint64_t now_ns)
{
	struct accounts *a = &d->accounts;
	uint64_t pause_ns, began_ns;

	if (now_ns < a->next_ns || __atomic_load_n(&d->arena.control->recording, __ATOMIC_RELAXED) != RECORDING_ON)
		return;
	pause_ns = LOOK_NS + (now_ns - a->began_ns) / LONGER_EACH_NS * (LOOK_NS / 100);
	began_ns = usage_own_ns();
	look_at_all(d);
	pause_ns = pause_ns < LOOK_MAX_NS ? pause_ns : LOOK_MAX_NS;
	began_ns = (usage_own_ns() - began_ns) * ACCOUNTS_COST_SHARE;
	a->next_ns = now_ns + (began_ns > pause_ns ? began_ns : pause_ns);
}

void accounts_write(struct drainer *d)
{
	struct accounts *a = &d->accounts;

	look_at_all(d);
	for (size_t i = 0; i < a->threads.cnt; i++)
		put(d, &a->threads.items[i]);
	accounts_flush(d);
}

void accounts_end(struct drainer *d)
{
	struct accounts *a = &d->accounts;

	look_at_all(d);
	for (size_t i = 0; i < a->threads.cnt; i++)
		forget(d, &a->threads.items[i]);
	accounts_flush(d);
}
