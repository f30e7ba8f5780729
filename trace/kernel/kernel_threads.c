/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_threads.c - the kernel's threads among the model's.
 *
 * The kernel reuses thread numbers, and a thread that executes another program is a new thread in the
 * runtime's trace.  So a life, from fork to exit, may be several threads of the model, one after the other;
 * each has it up to where the next begins:
 *
 *	kernel: 7 lives 0..100.  Model: 7 has records 20..40, 7 + 2^32 has records 60..90
 *	parts: 7 is 0..60, 7 + 2^32 is 60..100
 *
 * Several stacks of one thread take turns (kernel_presence.h).  Time in between, on a stack that no probe
 * saw, becomes a thread of its own if the kernel's thread left the CPU then.
 *
 *	kernel: 7 lives 0..100, off 46..48.  Model: 7 in 20..40 and 60..80, 7 + 2^32 in 40..45 and 50..60
 *	parts: 7 is 0..40, 7 + 2^32 is 40..45, 7 + 2^33 is 45..50, 7 + 2^32 is 50..60, 7 is 60..100
 *
 * A life that the model knows nothing about becomes a thread of its own.  A waker outside the run becomes a
 * thread with a name and nothing else.  So does a device, except for the times when a thread waited for it.
 */
#include <string.h>
#include "base/banned.h"
#include "base/search.h"
#include "trace/kernel/kernel_threads.h"

struct life {
	uint32_t kernel_tid, pid;
	int64_t from_ns, to_ns;
	const char *name;
	uint64_t unknown;		/* the model's thread for times that no other thread has; 0: none yet */
};

struct finder {
	struct kernel_threads *x;
	kernel_presences known;
};

static uint64_t process_key(uint32_t pid, uint32_t kernel_tid)
{
	return (uint64_t)pid << 32 | kernel_tid;
}

/* A TID for another thread to which the kernel gave this number. */
static uint64_t new_tid(struct kernel_threads *x, uint32_t kernel_tid)
{
	uint64_t *cnt = map_slot(x->taken, kernel_tid);

	return kernel_tid + ((*cnt)++ << 32);
}

static uint64_t add_thread(struct kernel_threads *x, uint32_t kernel_tid, uint32_t pid,
			   const char *name, enum thread_kind kind)
{
	uint64_t tid = new_tid(x, kernel_tid);

	VEC_ADD(&x->t->threads, (struct thread_name){ tid, pid,
		name && *name ? arena_strdup(x->t->arena, name) : NULL, kind, false, 0 });
	return tid;
}

static void add_part(struct kernel_threads *x, const struct life *l, const struct kernel_presence *n, int64_t from_ns,
		     int64_t to_ns)
{
	if (from_ns >= to_ns)
		return;
	VEC_ADD(&x->parts, (struct kernel_part){ n->tid, l->kernel_tid, l->pid, from_ns, to_ns, n->thread_first_ns,
						 n->thread_last_ns, n->is_left && to_ns == n->last_ns });
	map_set(x->processes, process_key(l->pid, l->kernel_tid), 1);
	if (from_ns < x->first_ns)
		x->first_ns = from_ns;
	if (to_ns > x->last_ns)
		x->last_ns = to_ns;
}

static size_t first_known(const struct finder *f, uint32_t kernel_tid)
{
	return partition_point(i, f->known.cnt, f->known.items[i].kernel_tid < kernel_tid);
}

/* The first time off the CPU that ends after that moment; NULL: there is none. */
static const struct kernel_off *off_after(const struct kernel_trace *k, uint32_t tid, int64_t ns)
{
	const struct kernel_off *o = k->offs.items;
	size_t i = partition_point(j, k->offs.cnt, o[j].tid < tid || (o[j].tid == tid && o[j].in_ns <= ns));

	return i < k->offs.cnt && o[i].tid == tid ? &o[i] : NULL;
}

static void add_unknown(struct finder *f, struct life *l)
{
	const struct kernel_off *first = off_after(f->x->k, l->kernel_tid, l->from_ns);
	bool of_kernel = first && first->flags & OFF_KERNEL_THREAD;

	if (!l->unknown)
		l->unknown = add_thread(f->x, l->kernel_tid, l->pid, l->name, of_kernel ? KIND_KERNEL : KIND_THREAD);
}

/* Between two stacks the thread was on one that no probe saw; that one becomes a thread if it left the CPU there. */
static void add_between(struct finder *f, struct life *l, int64_t from_ns, int64_t to_ns)
{
	const struct kernel_off *o = off_after(f->x->k, l->kernel_tid, from_ns);

	if (o && o->out_ns < from_ns)
		o = off_after(f->x->k, l->kernel_tid, o->in_ns);
	if (!o || o->out_ns >= to_ns)
		return;
	add_unknown(f, l);
	add_part(f->x, l, &(struct kernel_presence){ .tid = l->unknown, .thread_first_ns = INT64_MAX,
						     .thread_last_ns = INT64_MIN }, from_ns, to_ns);
}

/* Gives the time from there on to this presence, until the next one. */
static void add_presence(struct finder *f, struct life *l, const struct kernel_presence *n, int64_t from_ns, int64_t next_ns)
{
	int64_t to_ns = n->is_left && n->last_ns < next_ns ? n->last_ns : next_ns;

	add_part(f->x, l, n, from_ns, to_ns);
	if (to_ns < next_ns)
		add_between(f, l, to_ns > from_ns ? to_ns : from_ns, next_ns);
}

static void divide_life(struct finder *f, struct life *l)
{
	const struct kernel_presence *before = NULL;
	int64_t from_ns = l->from_ns;

	for (size_t i = first_known(f, l->kernel_tid); i < f->known.cnt &&
	     f->known.items[i].kernel_tid == l->kernel_tid; i++) {
		const struct kernel_presence *n = &f->known.items[i];
		bool empty = n->first_ns > n->last_ns;

		if (empty ? before != NULL : n->last_ns < l->from_ns || n->first_ns > l->to_ns)
			continue;
		if (before) {
			add_presence(f, l, before, from_ns, n->first_ns);
			from_ns = n->first_ns > from_ns ? n->first_ns : from_ns;
		}
		before = n;
	}
	if (before) {
		add_presence(f, l, before, from_ns, l->to_ns);
		return;
	}
	add_unknown(f, l);
	add_part(f->x, l, &(struct kernel_presence){ .tid = l->unknown, .thread_first_ns = INT64_MAX,
						     .thread_last_ns = INT64_MIN }, from_ns, l->to_ns);
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
			l.unknown = 0;
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

		if (lost) {		/* this off is all that is left of its life */
			struct life l = { tid, k->offs.items[off].pid,
					  k->offs.items[off].out_ns, 0, NULL, 0 };

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
				      .outsiders = map_new(), .processes = map_new() };
	kernel_presences_find(t, x->taken, &f.known);
	find_all_lives(&f);
	if (x->first_ns < k->start_ns)		/* a life that began before the window, or before the last
						 * part of a long run */
		x->first_ns = k->start_ns;
	VEC_RELEASE(&f.known);
}

/* A thread whose life begins here: the model does not know its creator. */
static void add_creation(struct kernel_threads *x, const struct kernel_life *l)
{
	int64_t then_ns = l->ns < INT64_MAX ? l->ns + 1 : l->ns;
	const struct kernel_part *child = kernel_part_at(x, l->tid, then_ns), *parent = kernel_part_at(x, l->other, then_ns);

	if (child && parent && child->from_ns == l->ns && child->first_ns > child->last_ns && child->tid != parent->tid)
		VEC_ADD(&x->t->creations, (struct creation){ parent->tid, child->tid, l->ns, l->ns, NAME_NONE, 0, 0 });
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
	map_free(x->processes);
}

const struct kernel_part *kernel_part_at(const struct kernel_threads *x, uint32_t kernel_tid,
					 int64_t ns)
{
	const struct kernel_part *p = x->parts.items;
	size_t after = partition_point(i, x->parts.cnt, p[i].kernel_tid < kernel_tid ||
				       (p[i].kernel_tid == kernel_tid && p[i].from_ns < ns));

	if (!after || p[after - 1].kernel_tid != kernel_tid || (p[after - 1].is_left && p[after - 1].to_ns < ns))
		return NULL;
	return &p[after - 1];
}

bool kernel_thread_of_process(void *context, uint32_t pid, uint32_t tid)
{
	const struct kernel_threads *x = context;
	uint64_t unused;

	return map_get(x->processes, process_key(pid, tid), &unused);
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
		*tid = add_thread(x, kernel_tid, 0, outsider_name(x->k, kernel_tid), KIND_THREAD);
	return *tid;
}

uint64_t kernel_thread_at(struct kernel_threads *x, uint32_t kernel_tid, int64_t ns)
{
	const struct kernel_part *part = kernel_part_at(x, kernel_tid, ns);

	if (!part && ns < INT64_MAX)	/* for us its life begins when it wakes the first thread of the run */
		part = kernel_part_at(x, kernel_tid, ns + 1);
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
	if (!o->waker || o->waker == o->tid)	/* no thread ends its own wait */
		return false;
	*ret_tid = kernel_thread_at(x, o->waker, o->woken_ns);
	return true;
}
