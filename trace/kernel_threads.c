/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_threads.c - the kernel's threads among the model's.
 *
 * The kernel gives a number out again, and a thread that runs another program begins anew in the
 * runtime's trace.  So a life, from fork to exit, may be several threads of the model, one after the
 * other; each has it up to where the next begins:
 *
 *	kernel: 7 lives 0..100.  Model: 7 has records 20..40, 7 + 2^32 has records 60..90
 *	parts: 7 is 0..60, 7 + 2^32 is 60..100
 *
 * A life that the model knows nothing about becomes a thread of its own.  Who woke somebody without
 * belonging to the run is a thread that has a name and nothing else; so is a device, but for the times
 * when somebody waited for it.
 */
#include <string.h>
#include "base/banned.h"
#include "base/search.h"
#include "trace/kernel_threads.h"

struct known {				/* a thread of the model */
	uint64_t tid;
	uint32_t kernel_tid;
	int64_t first_ns, last_ns;	/* first > last: no segments */
};

struct life {
	uint32_t kernel_tid, pid;
	int64_t from_ns, to_ns;
	const char *name;
};

struct finder {
	struct kernel_threads *x;
	VEC(struct known) known;	/* by kernel_tid, then time */
};

static int compare_known(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	if (x->kernel_tid != y->kernel_tid)
		return x->kernel_tid < y->kernel_tid ? -1 : 1;
	if (x->first_ns != y->first_ns)
		return x->first_ns < y->first_ns ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* Segments and threads are in order of tid. */
static void find_known(struct finder *f)
{
	const struct trace *t = f->x->t;
	size_t at = 0;

	for (size_t i = 0; i < t->threads.cnt; i++) {
		uint64_t tid = t->threads.items[i].tid;
		struct known n = { tid, (uint32_t)tid, INT64_MAX, INT64_MIN };

		if (t->threads.items[i].kind != KIND_THREAD || tid >> 48)
			continue;
		while (at < t->segments.cnt && t->segments.items[at].tid < tid)
			at++;
		for (; at < t->segments.cnt && t->segments.items[at].tid == tid; at++) {
			if (t->segments.items[at].start_ns < n.first_ns)
				n.first_ns = t->segments.items[at].start_ns;
			if (t->segments.items[at].end_ns > n.last_ns)
				n.last_ns = t->segments.items[at].end_ns;
		}
		VEC_ADD(&f->known, n);
		++*map_slot(f->x->taken, n.kernel_tid);
	}
	if (f->known.cnt)
		qsort(f->known.items, f->known.cnt, sizeof(*f->known.items), compare_known);
}

/* A number for one more thread that the kernel called so. */
static uint64_t new_tid(struct kernel_threads *x, uint32_t kernel_tid)
{
	uint64_t *cnt = map_slot(x->taken, kernel_tid);

	return kernel_tid + ((*cnt)++ << 32);
}

static uint64_t add_thread(struct kernel_threads *x, uint32_t kernel_tid, uint32_t pid,
			   const char *name)
{
	uint64_t tid = new_tid(x, kernel_tid);

	VEC_ADD(&x->t->threads, (struct thread_name){ tid, pid,
		name && *name ? arena_strdup(x->t->arena, name) : NULL, KIND_THREAD, false });
	return tid;
}

static void add_part(struct kernel_threads *x, const struct life *l, const struct known *n, int64_t from_ns,
		     int64_t to_ns)
{
	if (from_ns >= to_ns)
		return;
	VEC_ADD(&x->parts, (struct kernel_part){ n->tid, l->kernel_tid, l->pid, from_ns, to_ns, n->first_ns, n->last_ns });
	if (from_ns < x->first_ns)
		x->first_ns = from_ns;
	if (to_ns > x->last_ns)
		x->last_ns = to_ns;
}

static size_t first_known(const struct finder *f, uint32_t kernel_tid)
{
	return partition_point(i, f->known.cnt, f->known.items[i].kernel_tid < kernel_tid);
}

static void divide_life(struct finder *f, const struct life *l)
{
	const struct known *before = NULL;
	struct known new;
	int64_t from_ns = l->from_ns;

	for (size_t i = first_known(f, l->kernel_tid); i < f->known.cnt &&
	     f->known.items[i].kernel_tid == l->kernel_tid; i++) {
		const struct known *n = &f->known.items[i];
		bool empty = n->first_ns > n->last_ns;

		if (empty ? before != NULL : n->last_ns < l->from_ns || n->first_ns > l->to_ns)
			continue;
		if (before) {
			add_part(f->x, l, before, from_ns, n->first_ns);
			from_ns = n->first_ns > from_ns ? n->first_ns : from_ns;
		}
		before = n;
	}
	if (!before)
		new = (struct known){ add_thread(f->x, l->kernel_tid, l->pid, l->name), l->kernel_tid, INT64_MAX, INT64_MIN };
	add_part(f->x, l, before ? before : &new, from_ns, l->to_ns);
}

static void end_life(struct finder *f, struct life *l, int64_t ns)
{
	l->to_ns = ns;
	if (l->pid)
		divide_life(f, l);
	l->pid = 0;			/* none is going on */
}

/* The lives of one kernel tid. */
static void find_lives(struct finder *f, const struct kernel_life *r, size_t cnt)
{
	struct life l = { .kernel_tid = r[0].tid };

	for (size_t i = 0; i < cnt; i++) {
		if (r[i].kind == KERNEL_SEEN && !r[i].other)
			continue;
		if (r[i].kind == KERNEL_FORK && l.pid)
			end_life(f, &l, r[i].ns);
		if (!l.pid) {
			l.from_ns = r[i].ns;
			l.pid = r[i].pid;
			l.name = NULL;
		}
		if (*r[i].name)
			l.name = r[i].name;
		if (r[i].kind == KERNEL_EXIT)
			end_life(f, &l, r[i].ns);
	}
	end_life(f, &l, f->x->k->end_ns);
}

static void find_all_lives(struct finder *f)
{
	const struct kernel_trace *k = f->x->k;
	size_t at = 0, off = 0;

	while (at < k->lives.cnt || off < k->offs.cnt) {
		bool lost = at == k->lives.cnt ||
			    (off < k->offs.cnt && k->offs.items[off].tid < k->lives.items[at].tid);
		uint32_t tid = lost ? k->offs.items[off].tid : k->lives.items[at].tid;
		size_t first = at;

		if (lost) {		/* nothing is left of its life but this */
			struct life l = { tid, k->offs.items[off].pid,
					  k->offs.items[off].out_ns, 0, NULL };

			end_life(f, &l, k->end_ns);
		}
		while (at < k->lives.cnt && k->lives.items[at].tid == tid)
			at++;
		if (at > first)
			find_lives(f, &k->lives.items[first], at - first);
		off += partition_point(i, k->offs.cnt - off, k->offs.items[off + i].tid <= tid);
	}
}

void kernel_threads_find(struct kernel_threads *x, struct trace *t, const struct kernel_trace *k)
{
	struct finder f = { .x = x };

	*x = (struct kernel_threads){ .t = t, .k = k, .first_ns = INT64_MAX, .last_ns = INT64_MIN, .taken = map_new(),
				      .outsiders = map_new() };
	find_known(&f);
	find_all_lives(&f);
	if (x->first_ns < k->start_ns)		/* of a window, or the last of a long run */
		x->first_ns = k->start_ns;
	VEC_RELEASE(&f.known);
}

/* A thread that begins with its life: who made it the model does not know. */
static void add_creation(struct kernel_threads *x, const struct kernel_life *l)
{
	int64_t then_ns = l->ns < INT64_MAX ? l->ns + 1 : l->ns;
	const struct kernel_part *child = kernel_part_at(x, l->tid, then_ns), *parent = kernel_part_at(x, l->other, then_ns);

	if (child && parent && child->from_ns == l->ns && child->first_ns > child->last_ns && child->tid != parent->tid)
		VEC_ADD(&x->t->creations, (struct creation){ parent->tid, child->tid, l->ns, l->ns, NAME_NONE });
}

void kernel_threads_add_creations(struct kernel_threads *x)
{
	for (size_t i = 0; i < x->k->lives.cnt; i++)
		if (x->k->lives.items[i].kind == KERNEL_FORK)
			add_creation(x, &x->k->lives.items[i]);
}

void kernel_threads_release(struct kernel_threads *x)
{
	VEC_RELEASE(&x->parts);
	map_free(x->taken);
	map_free(x->outsiders);
}

/* The first part of that kernel tid. */
static size_t first_part(const struct kernel_threads *x, uint32_t kernel_tid)
{
	return partition_point(i, x->parts.cnt, x->parts.items[i].kernel_tid < kernel_tid);
}

const struct kernel_part *kernel_part_at(const struct kernel_threads *x, uint32_t kernel_tid,
					 int64_t ns)
{
	const struct kernel_part *last = NULL;

	for (size_t i = first_part(x, kernel_tid); i < x->parts.cnt &&
	     x->parts.items[i].kernel_tid == kernel_tid && x->parts.items[i].from_ns < ns; i++)
		last = &x->parts.items[i];
	return last;
}

bool kernel_thread_of_process(void *context, uint32_t pid, uint32_t tid)
{
	const struct kernel_threads *x = context;

	for (size_t i = first_part(x, tid); i < x->parts.cnt && x->parts.items[i].kernel_tid == tid; i++)
		if (x->parts.items[i].pid == pid)
			return true;
	return false;
}

static const char *outsider_name(const struct kernel_trace *k, uint32_t tid)
{
	size_t at = partition_point(i, k->lives.cnt, k->lives.items[i].tid < tid);

	return at < k->lives.cnt && k->lives.items[at].tid == tid ? k->lives.items[at].name : NULL;
}

static uint64_t outsider(struct kernel_threads *x, uint32_t kernel_tid)
{
	uint64_t *tid = map_slot(x->outsiders, kernel_tid);

	if (!*tid)
		*tid = add_thread(x, kernel_tid, 0, outsider_name(x->k, kernel_tid));
	return *tid;
}

uint64_t kernel_thread_at(struct kernel_threads *x, uint32_t kernel_tid, int64_t ns)
{
	const struct kernel_part *part = kernel_part_at(x, kernel_tid, ns);

	return part ? part->tid : outsider(x, kernel_tid);
}

bool kernel_waker(struct kernel_threads *x, const struct kernel_off *o, uint64_t *ret_tid)
{
	if (!(o->flags & OFF_WOKEN))
		return false;
	if (o->waker_kind != WAKER_TASK) {
		*ret_tid = kernel_device_tid(o->waker_kind, o->waker);
		return true;
	}
	if (!o->waker || o->waker == o->tid)	/* nobody ends a wait of his own */
		return false;
	*ret_tid = kernel_thread_at(x, o->waker, o->woken_ns);
	return true;
}
