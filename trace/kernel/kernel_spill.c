/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_spill.c - kernel.vpk for windows: its times off the CPU, which are most of it, go to a file without
 * a name.
 *
 * The merge needs them thread by thread, but the trace has them in the order in which they ended on any CPU.
 * So the trace is read twice: once to count each thread's, once to put each in its place.  The file is
 * mapped; pages stay in memory until kernel_spill_forget().
 *
 *	records 7: 10..20, 9: 5..30, 7: 25..40	-> 7 has places 0 and 1, 9 has place 2
 *
 * They stay in memory if there are few, if a thread's are not in order of time, or if there is no room for
 * the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/banned.h"
#include "base/file.h"
#include "base/map.h"
#include "trace/kernel/kernel.h"

size_t kernel_spill_offs = 1 << 15;

enum { FORGET_EVERY = 1 << 14 };	/* offs: pages that were written leave our memory */

struct tally {				/* of a thread */
	uint32_t tid;
	size_t first, cnt, done;	/* first: its place */
	int64_t last_ns;
};

struct spill {
	struct map *number_of;		/* tid -> tally + 1 */
	VEC(struct tally) tallies;
	size_t cnt, done;
	bool unordered;
	struct kernel_trace *k;		/* whose offs they are to be */
};

static struct tally *tally_of(struct spill *s, uint32_t tid)
{
	uint64_t *number = map_slot(s->number_of, tid);

	if (!*number) {
		VEC_ADD(&s->tallies, (struct tally){ .tid = tid });
		*number = s->tallies.cnt;
	}
	return &s->tallies.items[*number - 1];
}

static void count(void *arg, const struct kernel_off *o)
{
	struct spill *s = arg;
	struct tally *t;

	if (o->out_ns >= o->in_ns)
		return;
	t = tally_of(s, o->tid);
	s->unordered |= t->cnt && o->in_ns <= t->last_ns;
	t->last_ns = o->in_ns;
	t->cnt++;
	s->cnt++;
}

/* As kernel_sort() leaves it. */
static void put(void *arg, const struct kernel_off *o)
{
	struct spill *s = arg;
	struct kernel_off *to;
	struct tally *t;

	if (o->out_ns >= o->in_ns)
		return;
	t = tally_of(s, o->tid);
	if (t->done == t->cnt)		/* the trace changed between the two readings */
		return;
	to = &s->k->offs.items[t->first + t->done];
	*to = *o;
	if (t->done && to->out_ns < t->last_ns)
		to->out_ns = t->last_ns;
	t->last_ns = o->in_ns;
	t->done++;
	if (++s->done % FORGET_EVERY == 0)
		kernel_spill_forget(s->k);
}

static int compare_tallies(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void lay_out(struct spill *s)
{
	size_t at = 0;

	if (s->tallies.cnt)
		qsort(s->tallies.items, s->tallies.cnt, sizeof(*s->tallies.items), compare_tallies);
	for (size_t i = 0; i < s->tallies.cnt; i++) {
		struct tally *t = &s->tallies.items[i];

		t->first = at;
		at += t->cnt;
		map_set(s->number_of, t->tid, i + 1);
	}
}

/* false: there is no room, or nothing to map. */
static bool map_offs(struct kernel_trace *k, size_t cnt)
{
	size_t bytes = cnt * sizeof(*k->offs.items);
	int fd = file_unnamed();
	void *at = MAP_FAILED;

	if (fd < 0)
		return false;
	if (posix_fallocate(fd, 0, (off_t)bytes) == 0)	/* without this, a page that the file system has no
							 * room for would raise SIGBUS later */
		at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		return false;
	k->spilled_bytes = bytes;
	k->offs.items = at;
	k->offs.cnt = cnt;
	return true;
}

void kernel_spill_forget(const struct kernel_trace *k)
{
	if (k->spilled_bytes)
		madvise(k->offs.items, k->spilled_bytes, MADV_DONTNEED);
}

/* The second reading of the trace. */
static int put_all(struct spill *s, const char *path, struct diag *reterr)
{
	struct kernel_trace again = { .take_off = put, .take_arg = s };
	int r;

	lay_out(s);
	r = kernel_read(&again, path, reterr);
	kernel_release(&again);
	if (r == 0 && s->done != s->cnt)
		r = diag_set(reterr, EXIT_DATA, -EBADMSG, "'%s' was changed while it was read", path);
	kernel_spill_forget(s->k);
	return r;
}

static int read_in_memory(struct kernel_trace *k, const char *path, struct diag *reterr)
{
	kernel_release(k);
	*k = (struct kernel_trace){ .arena = NULL };
	return kernel_read(k, path, reterr);
}

int kernel_read_spilled(struct kernel_trace *k, const char *path, struct diag *reterr)
{
	struct spill s = { .number_of = map_new(), .k = k };
	int r;

	k->take_off = count;
	k->take_arg = &s;
	r = kernel_read(k, path, reterr);
	k->take_off = NULL;
	if (r == 0 && (s.unordered || s.cnt < kernel_spill_offs || !s.cnt || !map_offs(k, s.cnt)))
		r = read_in_memory(k, path, reterr);
	else if (r == 0)
		r = put_all(&s, path, reterr);
	VEC_RELEASE(&s.tallies);
	map_free(s.number_of);
	return r;
}
