/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernel_presence.c - segments say when a stack was on its thread, aways when it was not. */
#include "trace/kernel/kernel_presence.h"

#include "base/banned.h"

struct finder {
	const struct trace *t;
	size_t segment, away;		/* the first that are not of earlier threads */
	kernel_presences *ret;
};

static int compare_presences(const void *a, const void *b)
{
	const struct kernel_presence *x = a, *y = b;

	if (x->kernel_tid != y->kernel_tid)
		return x->kernel_tid < y->kernel_tid ? -1 : 1;
	if (x->first_ns != y->first_ns)
		return x->first_ns < y->first_ns ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void find_span(struct finder *f, struct kernel_presence *p)
{
	const struct segment *s = f->t->segments.items;

	while (f->segment < f->t->segments.cnt && s[f->segment].tid < p->tid)
		f->segment++;
	for (; f->segment < f->t->segments.cnt && s[f->segment].tid == p->tid; f->segment++) {
		if (s[f->segment].start_ns < p->first_ns)
			p->first_ns = s[f->segment].start_ns;
		if (s[f->segment].end_ns > p->last_ns)
			p->last_ns = s[f->segment].end_ns;
	}
	p->thread_first_ns = p->first_ns;
	p->thread_last_ns = p->last_ns;
}

/* Adds p, which is the whole life of the stack, cut where it was away. */
static void add_presences(struct finder *f, struct kernel_presence p)
{
	const struct away *a = f->t->aways.items;

	while (f->away < f->t->aways.cnt && a[f->away].tid < p.tid)
		f->away++;
	for (; f->away < f->t->aways.cnt && a[f->away].tid == p.tid; f->away++) {
		struct kernel_presence before = p;

		if (a[f->away].end_ns <= p.first_ns || a[f->away].end_ns > p.last_ns)
			continue;
		before.last_ns = a[f->away].start_ns;
		before.is_left = true;
		if (before.first_ns < before.last_ns)
			VEC_ADD(f->ret, before);
		p.first_ns = a[f->away].end_ns;
		if (a[f->away].kernel_tid)
			p.kernel_tid = a[f->away].kernel_tid;
	}
	VEC_ADD(f->ret, p);
}

void kernel_presences_find(const struct trace *t, struct map *taken, kernel_presences *ret)
{
	struct finder f = { .t = t, .ret = ret };

	for (size_t i = 0; i < t->threads.cnt; i++) {
		uint64_t tid = t->threads.items[i].tid;
		struct kernel_presence p = { .tid = tid, .kernel_tid = (uint32_t)tid, .first_ns = INT64_MAX, .last_ns = INT64_MIN };

		if (t->threads.items[i].kind != KIND_THREAD || tid >> 48)
			continue;
		find_span(&f, &p);
		++*map_slot(taken, p.kernel_tid);
		add_presences(&f, p);
	}
	if (ret->cnt)
		qsort(ret->items, ret->cnt, sizeof(*ret->items), compare_presences);
}
