/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wait_cascade.c - cascaded re-distribution (wPerf 3.2.2, figure 4), in one sweep over time.
 *
 * By definition each wait of A for B also adds to B's waits their overlap with it, to the waits of the thread that B
 * waits for meanwhile their overlap with both, and so on, each thread once.  At any one moment that is simple: each
 * waiting thread points to the thread that it waits for, and an edge gets the time once for each thread that reaches
 * it.  So the sweep keeps a forest, the number of threads below each vertex, and adds (time passed) x (that number)
 * whenever the number changes.
 *
 * wPerf's figure 3: A waits for B in (0,20], B for C in (0,10].
 *	0..10	A -> B -> C	A->B 10 x 1, B->C 10 x 2
 *	10..20	A -> B		A->B 10 x 1		A->B 20, B->C 20
 *
 * Two threads may wait for each other (each is woken by the other, later).  Then each thread that waits for one of
 * the circle reaches all of it.  The circle's latest edge is kept out of the forest: it leads back from the root.
 */
#include "analysis/whole_run/wait_passes.h"

#include <stdlib.h>
#include "base/banned.h"
#include "base/saturate.h"

struct event {
	int64_t ns;
	size_t wait;			/* index * 2, plus 1 where it begins: ends come first */
};

struct vertex {
	struct graph_wait *wait;		/* that it is in, or NULL */
	uint32_t parent;		/* the thread that it waits for, ACTOR_NONE for a root */
	uint32_t circle;		/* the root whose circle it is on, or ACTOR_NONE */
	bool closes;			/* a root that waits for a thread below it */
	int64_t reached_by;		/* number of threads that count, itself included, without circles */
	int64_t since_ns;		/* everything before has been added */
};

struct forest {
	const struct wait_world *w;
	struct vertex *v;
};

/* Adds the time that has passed to the wait of x. */
static void settle(struct forest *f, uint32_t x, int64_t ns)
{
	struct vertex *v = &f->v[x];
	int64_t cnt = v->circle == ACTOR_NONE ? v->reached_by : f->v[v->circle].reached_by;

	if (v->wait)
		v->wait->weight_ns = sum_saturated(v->wait->weight_ns, product_saturated(cnt, ns - v->since_ns));
	v->since_ns = ns;
}

/* Settles everything that x reaches, since it is about to change. */
static void settle_from(struct forest *f, uint32_t x, int64_t ns)
{
	uint32_t root = x;

	for (; x != ACTOR_NONE; x = f->v[x].parent) {
		settle(f, x, ns);
		root = x;
	}
	if (f->v[root].closes)
		for (x = f->v[root].wait->waker; x != root; x = f->v[x].parent)
			settle(f, x, ns);
}

/* x and everything above it is reached by `by` more threads. */
static void add_above(struct forest *f, uint32_t x, int64_t by)
{
	for (; x != ACTOR_NONE; x = f->v[x].parent)
		f->v[x].reached_by += by;
}

static uint32_t root_of(const struct forest *f, uint32_t x)
{
	while (f->v[x].parent != ACTOR_NONE)
		x = f->v[x].parent;
	return x;
}

/* A device's waits are not its users' waits; nothing is known of the unknown. */
static bool passes_on(const struct forest *f, uint32_t x)
{
	return f->w->actors.items[x].kind == VERTEX_THREAD;
}

/* x, a root, starts to wait for `to`.  Everything that `to` reaches must be settled. */
static void link_to(struct forest *f, uint32_t x, uint32_t to)
{
	if (root_of(f, to) != x) {
		add_above(f, to, f->v[x].reached_by);
		f->v[x].parent = to;
		return;
	}
	f->v[x].closes = true;
	for (uint32_t i = to; i != x; i = f->v[i].parent)
		f->v[i].circle = x;
	f->v[x].circle = x;
}

/* The root no longer closes its circle. */
static void open_circle(struct forest *f, uint32_t root, uint32_t to)
{
	f->v[root].closes = false;
	f->v[root].circle = ACTOR_NONE;
	for (; to != root; to = f->v[to].parent)
		f->v[to].circle = ACTOR_NONE;
}

static void begin(struct forest *f, struct graph_wait *w, int64_t ns)
{
	uint32_t x = w->actor;

	settle(f, x, ns);
	f->v[x].wait = w;
	f->v[x].reached_by += w->counts;
	if (w->waker == x || !passes_on(f, w->waker))
		return;
	settle_from(f, w->waker, ns);
	link_to(f, x, w->waker);
}

static void end(struct forest *f, struct graph_wait *w, int64_t ns)
{
	uint32_t x = w->actor, root, to;

	settle_from(f, x, ns);
	root = root_of(f, x);
	to = f->v[root].closes ? f->v[root].wait->waker : ACTOR_NONE;
	if (f->v[root].closes && f->v[x].circle == root)
		open_circle(f, root, to);
	else
		to = ACTOR_NONE;
	if (root != x) {
		add_above(f, f->v[x].parent, -f->v[x].reached_by);
		f->v[x].parent = ACTOR_NONE;
		if (to != ACTOR_NONE)
			link_to(f, root, to);	/* the circle is a path now */
	}
	f->v[x].reached_by -= w->counts;
	f->v[x].wait = NULL;
}

static int by_time(const void *pa, const void *pb)
{
	const struct event *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	if ((a->wait & 1) != (b->wait & 1))
		return (a->wait & 1) ? 1 : -1;
	return (a->wait > b->wait) - (a->wait < b->wait);
}

void wait_cascade(const struct wait_world *w, waits *list)
{
	_cleanup_(freep) struct event *events = xcalloc(2 * list->cnt + 1, sizeof(*events));
	struct forest f = { .w = w };
	size_t cnt = 0;

	for (size_t i = 0; i < list->cnt; i++) {
		struct graph_wait *v = &list->items[i];

		v->weight_ns = v->idle && v->counts ? v->end_ns - v->start_ns : 0;
		if (v->idle || v->start_ns >= v->end_ns)
			continue;
		events[cnt++] = (struct event){ v->start_ns, i * 2 + 1 };
		events[cnt++] = (struct event){ v->end_ns, i * 2 };
	}
	qsort(events, cnt, sizeof(*events), by_time);
	f.v = xcalloc(w->actors.cnt + 1, sizeof(*f.v));
	for (size_t i = 0; i < w->actors.cnt; i++)
		f.v[i].parent = f.v[i].circle = ACTOR_NONE;
	for (size_t i = 0; i < cnt; i++) {
		struct graph_wait *v = &list->items[events[i].wait / 2];

		if (events[i].wait & 1)
			begin(&f, v, events[i].ns);
		else
			end(&f, v, events[i].ns);
	}
	free(f.v);
}
