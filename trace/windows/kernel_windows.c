/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_windows.c - where each thread begins, and one merge a window.
 */
#include "trace/windows/kernel_windows.h"

#include <string.h>
#include "base/banned.h"
#include "base/search.h"

struct kernel_windows {
	struct kernel_trace k;
	struct kernel_merging m;
	struct kernel_devices devices;
	int64_t low_ns;
};

/* Whether windows are possible: whose time it is, and what was lost before, may only show when the thread of
 * the model begins or ends. */
static bool is_fit(const struct kernel_windows *w)
{
	for (size_t i = 0; i < w->m.places.cnt; i++) {
		const struct kernel_place *place = &w->m.places.items[i];
		const struct kernel_part *p = place->part;
		const struct kernel_off *o = kernel_off_at(w, place, p->first_ns);

		if (o && o->after_loss)
			return false;
		if (i + 1 < w->m.places.cnt && p->tid == place[1].part->tid && p->first_ns < p->to_ns && p->to_ns < p->last_ns)
			return false;
	}
	return true;
}

struct kernel_windows *kernel_windows_new(struct trace *t, struct kernel_trace *k)
{
	struct kernel_windows *w = xcalloc(1, sizeof(*w));

	w->k = *k;
	memset(k, 0, sizeof(*k));
	w->low_ns = INT64_MIN;
	w->devices.x = &w->m.threads;
	VEC_RELEASE(&w->k.stacks);		/* results of intervals do not use stacks */
	VEC_RELEASE(&w->k.texts);
	kernel_join_requests(&w->k);
	kernel_merging_begin(&w->m, t, &w->k);
	kernel_spill_forget(&w->k);
	t->kernel_reduced = w->k.reduced;
	t->cpu_use.runqueue = w->k.runqueue;
	if (is_fit(w))
		return w;
	kernel_windows_free(w);
	return NULL;
}

void kernel_windows_free(struct kernel_windows *w)
{
	if (!w)
		return;
	kernel_devices_release(&w->devices);
	kernel_merging_release(&w->m);
	kernel_release(&w->k);
	free(w);
}

struct kernel_place *kernel_windows_place(struct kernel_windows *w, uint64_t tid)
{
	struct kernel_place *p = w->m.places.items;
	size_t i = partition_point(j, w->m.places.cnt, p[j].part->tid < tid);

	if (i == w->m.places.cnt || p[i].part->tid != tid)
		return NULL;
	while (i + 1 < w->m.places.cnt && p[i + 1].part->tid == tid && p[i].part->first_ns >= p[i].part->to_ns)
		i++;
	return &p[i];
}

/* The first that ends after that moment. */
static size_t first_after(const struct kernel_windows *w, const struct kernel_place *p, int64_t ns)
{
	const struct kernel_off *o = VEC_AT(&w->k.offs, p->first_off);

	return p->first_off + partition_point(i, p->end_off - p->first_off, o[i].in_ns <= ns);
}

const struct kernel_off *kernel_off_at(const struct kernel_windows *w, const struct kernel_place *p, int64_t ns)
{
	size_t i = first_after(w, p, ns);

	return i < p->end_off && w->k.offs.items[i].out_ns < ns ? &w->k.offs.items[i] : NULL;
}

const struct kernel_off *kernel_last_blocked(const struct kernel_windows *w, const struct kernel_place *p, int64_t start_ns,
					     int64_t end_ns)
{
	const struct kernel_off *last = NULL, *items = w->k.offs.items;

	for (size_t i = first_after(w, p, start_ns); i < p->end_off && items[i].out_ns < end_ns; i++)
		if (kernel_blocked(&items[i]))
			last = &items[i];
	return last;
}

bool kernel_woken_by_thread(const struct kernel_windows *w, const struct kernel_off *o)
{
	return o->flags & OFF_WOKEN && o->waker_kind == WAKER_TASK && kernel_part_at(&w->m.threads, o->waker, o->woken_ns);
}

static const struct blocked *wait_at(const struct blocked *waits, size_t cnt, int64_t ns)
{
	size_t i = partition_point(j, cnt, waits[j].end_ns <= ns);

	return i < cnt && waits[i].start_ns < ns ? &waits[i] : NULL;
}

int64_t kernel_place_from(const struct kernel_windows *w, struct kernel_place *p, int64_t low_ns, const struct blocked *waits,
			  size_t cnt)
{
	const struct kernel_off *o;
	const struct blocked *b;
	int64_t from_ns;

	do {
		from_ns = low_ns;
		b = wait_at(waits, cnt, low_ns);
		low_ns = b ? b->start_ns : low_ns;
		o = p ? kernel_off_at(w, p, low_ns) : NULL;
		low_ns = o ? o->out_ns : low_ns;
	} while (low_ns < from_ns);
	if (p)
		p->restart_ns = low_ns;
	return low_ns;
}

void kernel_windows_from(struct kernel_windows *w, int64_t low_ns)
{
	w->low_ns = low_ns;
	for (size_t i = 0; i < w->m.places.cnt; i++)
		kernel_place_from(w, &w->m.places.items[i], low_ns, NULL, 0);
}

void kernel_windows_merge(struct kernel_windows *w, int64_t until_ns)
{
	w->m.until_ns = until_ns;
	w->m.spans.cnt = 0;
	trace_sort_events(w->m.t);
	kernel_merge_threads(&w->m);
	kernel_devices_add(&w->devices, &w->m.spans, w->low_ns, until_ns);
	kernel_spill_forget(&w->k);
}

void kernel_windows_end(struct kernel_windows *w)
{
	w->m.t->losses.records += w->k.lost;
	w->m.t->losses.cut_bytes += w->k.cut_bytes;
	trace_sort_events(w->m.t);
}
