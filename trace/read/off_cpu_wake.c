/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * off_cpu_wake.c - when a thread was ready to run again, after a wait of which the runtime knows only when it was back.
 *
 * If a thread of the run ends a wait, it leaves a stamp.  If a peer outside the run, a device or a time-out ends it, nobody does, and on
 * a busy machine a large part of such a wait may be time in the run queue.  The kernel adds that time to the thread's account when the
 * thread gets its CPU, which is when the wait ends.  So the run-queue time that appears between two looks belongs to the waits that
 * ended between them, less what was in running time, and less what the stamps say:
 *
 *	looks at 0 and 20 ms: 9 ms in the run queue, 1 of them in running time; waits of 1.2, 1, 9 and 1.1 ms, of one kind
 *	-> the third could run 8 ms before it was back
 *
 * Which of several waits it was is an estimate.  Each gets some in proportion to how much longer it was than most waits for the same
 * reason at the same place, measured by those, and never more than it was longer than the shortest tenth of them.
 */
#include <stdlib.h>
#include "base/banned.h"
#include "base/map.h"
#include "base/search.h"
#include "trace/read/off_cpu.h"

enum { LENGTHS_MAX = 1 << 16 };

static int by_start(const void *a, const void *b)
{
	const struct off_cpu_wait *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->end_ns < y->end_ns) - (x->end_ns > y->end_ns);
}

/* Of nested waits the outermost remains, with the latest stamp of all. */
static void keep_outermost(struct off_cpu_thread *t)
{
	struct off_cpu_wait *w = t->told.items;
	size_t cnt = 0;

	if (t->told.cnt)
		qsort(w, t->told.cnt, sizeof(*w), by_start);
	for (size_t i = 0; i < t->told.cnt; i++) {
		struct off_cpu_wait *outer = cnt ? &w[cnt - 1] : NULL;

		if (!outer || w[i].start_ns >= outer->end_ns)
			w[cnt++] = w[i];
		else if (w[i].woken_ns > outer->woken_ns)
			outer->woken_ns = w[i].woken_ns;
	}
	t->told.cnt = cnt;
}

static struct off_cpu_kind *kind_of(struct off_cpu_kinds *k, uint64_t kind)
{
	uint64_t *at = map_slot(k->places, kind);

	if (!*at) {
		*VEC_EXTEND(&k->list) = (struct off_cpu_kind){ .median_ns = 0 };
		*at = k->list.cnt;
	}
	return &k->list.items[*at - 1];
}

void off_cpu_see_waits(struct off_cpu_thread *t, struct off_cpu_kinds *k)
{
	keep_outermost(t);
	for (size_t i = 0; i < t->told.cnt; i++) {
		const struct off_cpu_wait *w = &t->told.items[i];
		struct off_cpu_kind *of = kind_of(k, w->kind);

		if (!w->woken_ns && of->lengths.cnt < LENGTHS_MAX)
			VEC_ADD(&of->lengths, w->end_ns - w->start_ns);
	}
}

static int by_length(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

void off_cpu_measure_waits(struct off_cpu_kinds *k)
{
	for (size_t i = 0; i < k->list.cnt; i++) {
		struct off_cpu_kind *of = &k->list.items[i];

		if (!of->lengths.cnt)
			continue;
		qsort(of->lengths.items, of->lengths.cnt, sizeof(*of->lengths.items), by_length);
		of->low_ns = of->lengths.items[of->lengths.cnt / 10];
		of->median_ns = of->lengths.items[of->lengths.cnt / 2];
	}
}

void off_cpu_kinds_release(struct off_cpu_kinds *k)
{
	for (size_t i = 0; i < k->list.cnt; i++)
		VEC_RELEASE(&k->list.items[i].lengths);
	VEC_RELEASE(&k->list);
	map_free(k->places);
	k->places = NULL;
}

typedef VEC(struct off_cpu_piece) piece_list;

/* The piece of a wait in which the thread may have been in the run queue.  look: the one before it was back. */
static struct off_cpu_piece piece_of(const struct off_cpu_wait *w, const struct off_cpu_kind *kind, const struct raw_account *look)
{
	int64_t length_ns = w->end_ns - w->start_ns, more_ns = length_ns - kind->median_ns;
	struct off_cpu_piece p = { .end_ns = w->end_ns };

	p.start_ns = length_ns > kind->low_ns ? w->start_ns + kind->low_ns : w->end_ns;
	if (look->is_off && look->ns > p.start_ns)
		p.start_ns = look->ns < p.end_ns ? look->ns : p.end_ns;
	p.weight = more_ns > 0 ? (double)more_ns / (double)(kind->median_ns + 1) : 0;
	return p;
}

/* Collects the waits that ended after look k, until the next; returns how long those with a stamp waited for a CPU. */
static double find_pieces(struct off_cpu_thread *t, size_t *at, size_t k, const struct off_cpu_kinds *kinds, piece_list *ret)
{
	const struct raw_account *a = &t->accounts.items[k];
	double stamped_ns = 0;

	ret->cnt = 0;
	while (*at < t->told.cnt && t->told.items[*at].end_ns <= a[0].ns)
		++*at;
	for (; *at < t->told.cnt && t->told.items[*at].end_ns <= a[1].ns; ++*at) {
		const struct off_cpu_wait *w = &t->told.items[*at];
		uint64_t place = 0;

		map_get(kinds->places, w->kind, &place);
		if (w->woken_ns)
			stamped_ns += (double)(w->end_ns - w->woken_ns);
		else if (place)
			VEC_ADD(ret, piece_of(w, &kinds->list.items[place - 1], a));
	}
	return stamped_ns;
}

static void share_out(piece_list *pieces, double ns)
{
	ns = off_cpu_share_out(pieces->items, pieces->cnt, ns);
	for (size_t i = 0; i < pieces->cnt; i++)
		pieces->items[i].weight = (double)(pieces->items[i].end_ns - pieces->items[i].start_ns);
	off_cpu_share_out(pieces->items, pieces->cnt, ns);
}

static void note_wakes(struct off_cpu_thread *t, const piece_list *pieces)
{
	for (size_t i = 0; i < pieces->cnt; i++) {
		const struct off_cpu_piece *p = &pieces->items[i];

		if (p->taken_ns >= (double)off_cpu_shortest_ns())
			VEC_ADD(&t->wakes, (struct off_cpu_wake){ p->end_ns, p->end_ns - (int64_t)p->taken_ns });
	}
}

void off_cpu_wake(struct off_cpu_thread *t, size_t i, size_t end, double share, const struct off_cpu_kinds *kinds)
{
	const struct raw_account *a = t->accounts.items;
	piece_list pieces = { NULL, 0, 0 };
	size_t at = partition_point(m, t->told.cnt, t->told.items[m].end_ns <= a[i].ns);
	double left_ns = 0;

	for (size_t k = i; k < end && !a[k + 1].is_own; k++) {	/* a thread's own account has no run-queue time */
		double ns = left_ns + (double)(a[k + 1].delay_ns - a[k].delay_ns) * share;

		ns -= find_pieces(t, &at, k, kinds, &pieces);
		left_ns = pieces.cnt || ns < 0 ? 0 : ns;	/* found before the thread had logged that it was back */
		if (!pieces.cnt || ns < (double)off_cpu_shortest_ns())
			continue;
		share_out(&pieces, ns);
		note_wakes(t, &pieces);
	}
	VEC_RELEASE(&pieces);
}
