/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * off_cpu_place.c - where a thread was off the CPU.
 *
 * Accounts of a thread that slept are exact; of one that ran they are up to a tick of the kernel's clock late
 * (4 ms). Between two exact ones
 *
 *	running by the trace - processor time = in the run queue + off the CPU for no known reason
 *
 * and looks in between bound how much of it was earlier.  The thread can have been off only in a gap between
 * two records that is long enough, and only between two looks of which the second found that it had come to a
 * CPU again, or that it slept.  If it slept at a look, the gap around that look is filled first, from there.
 * The rest is an estimate: it goes to the longest of the other gaps, as many as the thread came to a CPU,
 * in proportion to their length and to how often looks at such gaps (between the same two kinds of records,
 * in any thread) found the thread asleep.  A gap of a kind in which nobody was ever seen asleep may be a
 * computation: it gets only what has no room elsewhere, and the rest finds no place.
 *
 *	looks at 0 and 5 ms, both asleep, 2 ms computed, came to a CPU once; gaps 0..1.5, 1.6..3.2, 3.4..5:
 *	off 0..1.5 and 3.5..5
 *
 * Time in the run queue is spread over what remains, in proportion to its length: the scheduler does not look
 * at what a thread is doing.
 */
#include <stdlib.h>
#include "base/banned.h"
#include "base/map.h"
#include "base/saturate.h"
#include "trace/read/off_cpu.h"

enum {
	LEAST_TICKS = 20,		/* between two exact looks less than a 20th of a tick is not reported, */
	LEAST_SHARE = 200,		/* nor less than a 200th of what runs by the trace */
	ROUNDS = 8,
};

int64_t off_cpu_tick_ns = 4000000;

struct gap {
	int64_t start_ns, end_ns;
	uint64_t kind;
};

typedef VEC(struct gap) gap_list;

struct placing {
	struct off_cpu_thread *t;
	gap_list gaps;
	VEC(struct off_cpu_piece) pieces;
	VEC(int64_t) off_ns;		/* of the stretch, for each of its accounts: find_unaccounted() */
	VEC(int64_t) idle_ns;		/* ... between an account and the next one: running by the trace, but
					 * not on a CPU */
	VEC(uint64_t) wait_cnts;	/* ... how many waits ended between an account and the next one */
	size_t gap_at, wait_at;		/* the first that may reach into the stretch; stretches come in order */
	size_t first_span;		/* of the stretch */
	const struct off_cpu_seen *seen;
	const struct off_cpu_kinds *kinds;
	double asleep_share;		/* of all looks at gaps */
};

/* ---- gaps ---- */

static void find_gaps(const struct off_cpu_thread *t, gap_list *ret)
{
	for (size_t i = 1; i < t->busy.cnt; i++)
		VEC_ADD(ret, (struct gap){ t->busy.items[i - 1].end_ns, t->busy.items[i].start_ns,
			hash_u64(hash_u64(0, t->busy.items[i - 1].last), t->busy.items[i].first) });
}

void off_cpu_see(const struct off_cpu_thread *t, struct off_cpu_seen *seen)
{
	gap_list gaps = { NULL, 0, 0 };
	size_t at = 0;

	find_gaps(t, &gaps);
	for (size_t i = 0; i < t->accounts.cnt; i++) {
		const struct raw_account *a = &t->accounts.items[i];
		uint64_t cnt = a->look_cnt < UINT32_MAX ? a->look_cnt : 0;

		while (at < gaps.cnt && gaps.items[at].end_ns < a->ns)
			at++;
		if (a->is_own || at == gaps.cnt || gaps.items[at].start_ns > a->ns)
			continue;
		seen->look_cnt += cnt;
		*map_slot(seen->looks, gaps.items[at].kind) += cnt;
		seen->asleep_cnt += a->is_off ? cnt : 0;
		*map_slot(seen->asleep, gaps.items[at].kind) += a->is_off ? cnt : 0;
	}
	VEC_RELEASE(&gaps);
}

/* How likely the thread was off at a moment in such a gap; whether a look found one asleep. */
static double sleepiness(const struct placing *p, uint64_t kind, bool *ret_is_seen)
{
	uint64_t looks = 0, asleep = 0;

	map_get(p->seen->looks, kind, &looks);
	map_get(p->seen->asleep, kind, &asleep);
	*ret_is_seen = asleep > 0;
	return ((double)asleep + p->asleep_share) / ((double)looks + 1);
}

/* ---- a stretch between two exact looks ---- */

static int64_t within(int64_t ns, int64_t low_ns, int64_t high_ns)
{
	return ns < low_ns ? low_ns : ns > high_ns ? high_ns : ns;
}

/* The time that runs by the trace, and how many waits ended in it. */
static int64_t told_ns(struct placing *p, int64_t start_ns, int64_t end_ns, size_t *wait_cnt)
{
	const struct off_cpu_thread *t = p->t;
	int64_t told = end_ns - start_ns;

	*wait_cnt = 0;
	while (p->wait_at < t->waits.cnt && t->waits.items[p->wait_at].end_ns <= start_ns)
		p->wait_at++;
	for (size_t i = p->wait_at; i < t->waits.cnt && t->waits.items[i].start_ns < end_ns; i++) {
		const struct busy *w = &t->waits.items[i];

		told -= within(w->end_ns, start_ns, end_ns) - within(w->start_ns, start_ns, end_ns);
		*wait_cnt += w->end_ns <= end_ns;
	}
	return told;
}

/* The pieces of gaps between two successive looks. */
static void add_pieces(struct placing *p, const struct raw_account *from, const struct raw_account *to)
{
	while (p->gap_at < p->gaps.cnt && p->gaps.items[p->gap_at].end_ns <= from->ns)
		p->gap_at++;
	for (size_t i = p->gap_at; i < p->gaps.cnt && p->gaps.items[i].start_ns < to->ns; i++) {
		const struct gap *g = &p->gaps.items[i];
		struct off_cpu_piece *last = p->pieces.cnt ? &p->pieces.items[p->pieces.cnt - 1] : NULL;
		struct off_cpu_piece piece = { within(from->ns, g->start_ns, g->end_ns), within(to->ns, g->start_ns, g->end_ns),
				       .gap = i };

		piece.at_start = from->is_off && g->start_ns <= from->ns;
		piece.at_end = to->is_off && g->end_ns >= to->ns;
		if (last && last->gap == i && last->end_ns == piece.start_ns) {
			last->end_ns = piece.end_ns;
			last->at_end = piece.at_end;
		} else if (piece.start_ns < piece.end_ns) {
			VEC_ADD(&p->pieces, piece);
		}
	}
	for (size_t i = 0; i < p->pieces.cnt; i++) {
		struct off_cpu_piece *piece = &p->pieces.items[i];

		piece->weight = (double)(piece->end_ns - piece->start_ns) *
				sleepiness(p, p->gaps.items[piece->gap].kind, &piece->is_seen);
	}
}

static double length(const struct off_cpu_piece *p)
{
	return (double)(p->end_ns - p->start_ns);
}

double off_cpu_share_out(struct off_cpu_piece *pieces, size_t cnt, double ns)
{
	for (int round = 0; round < ROUNDS && ns >= 1; round++) {
		double weights = 0, rest = ns;

		for (size_t i = 0; i < cnt; i++)
			if (!pieces[i].is_left_out && pieces[i].taken_ns < length(&pieces[i]))
				weights += pieces[i].weight;
		if (weights <= 0)
			break;
		for (size_t i = 0; i < cnt; i++) {
			double room = length(&pieces[i]) - pieces[i].taken_ns, part = rest * pieces[i].weight / weights;

			if (pieces[i].is_left_out || room <= 0)
				continue;
			part = part < room ? part : room;
			pieces[i].taken_ns += part;
			ns -= part;
		}
	}
	return ns;
}

static int by_weight(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* Leaves out all but the cnt heaviest pieces in which a thread was seen asleep. */
static void choose(struct placing *p, uint64_t cnt)
{
	VEC(double) weights = { NULL, 0, 0 };
	double least = 0;

	for (size_t i = 0; i < p->pieces.cnt; i++)
		if (p->pieces.items[i].is_seen && !p->pieces.items[i].at_start && !p->pieces.items[i].at_end)
			VEC_ADD(&weights, p->pieces.items[i].weight);
	if (weights.cnt > cnt) {
		qsort(weights.items, weights.cnt, sizeof(*weights.items), by_weight);
		least = cnt ? weights.items[cnt - 1] : 0;
	}
	for (size_t i = 0; i < p->pieces.cnt; i++)
		p->pieces.items[i].is_left_out = !p->pieces.items[i].is_seen || p->pieces.items[i].weight < least;
	VEC_RELEASE(&weights);
}

/*
 * Gaps in which no thread was seen asleep take only what has no room elsewhere; returns the rest, which may
 * be in any of them.
 *
 *	8 ms in gaps of 7 and 3 ms: 5 of them in the first, at least 1 in the second, 2 in either
 */
static double fill_the_only_room(struct placing *p, double ns)
{
	double rooms = 0, rest = ns;

	for (size_t i = 0; i < p->pieces.cnt; i++)
		rooms += length(&p->pieces.items[i]) - p->pieces.items[i].taken_ns;
	for (size_t i = 0; i < p->pieces.cnt; i++) {
		struct off_cpu_piece *piece = &p->pieces.items[i];
		double room = length(piece) - piece->taken_ns, least = ns - (rooms - room);

		if (least > 0) {
			least = least < room ? least : room;
			piece->taken_ns += least;
			rest -= least;
		}
	}
	return rest;
}

static void add_span(struct placing *p, int64_t start_ns, int64_t end_ns, enum trace_state state)
{
	if (start_ns < end_ns)
		VEC_ADD(&p->t->spans, (struct span){ start_ns, end_ns, state });
}

/* Places the time in its piece: around the look that found the thread asleep, else at the end. */
static void tell_pieces(struct placing *p)
{
	for (size_t i = 0; i < p->pieces.cnt; i++) {
		const struct off_cpu_piece *piece = &p->pieces.items[i];
		int64_t ns = (int64_t)(piece->taken_ns + 0.5), first_ns = 0;

		if (piece->at_start)
			first_ns = piece->at_end ? ns / 2 : ns;
		if (ns >= piece->end_ns - piece->start_ns) {
			add_span(p, piece->start_ns, piece->end_ns, STATE_OTHER);
			continue;
		}
		add_span(p, piece->start_ns, piece->start_ns + first_ns, STATE_OTHER);
		add_span(p, piece->end_ns - (ns - first_ns), piece->end_ns, STATE_OTHER);
	}
}

/* Places this time off the CPU between two looks; returns what found no place. */
static double place_between(struct placing *p, const struct raw_account *from, const struct raw_account *to, double ns,
			    uint64_t wait_cnt)
{
	uint64_t arrival_cnt = to->slices - from->slices;

	if (to->slices == from->slices && !from->is_off && !to->is_off && !to->is_own && !from->is_own)
		return ns;
	arrival_cnt = to->is_own ? UINT64_MAX - 1 : arrival_cnt > wait_cnt ? arrival_cnt - wait_cnt : 0;
	p->pieces.cnt = 0;
	add_pieces(p, from, to);
	for (size_t k = 0; k < p->pieces.cnt; k++)
		p->pieces.items[k].is_left_out = !p->pieces.items[k].at_start && !p->pieces.items[k].at_end;
	ns = off_cpu_share_out(p->pieces.items, p->pieces.cnt, ns);
	choose(p, arrival_cnt + 1);
	ns = off_cpu_share_out(p->pieces.items, p->pieces.cnt, ns);
	choose(p, UINT64_MAX);
	ns = off_cpu_share_out(p->pieces.items, p->pieces.cnt, ns);
	if (ns >= 1)
		ns = fill_the_only_room(p, ns);
	tell_pieces(p);
	return ns;
}

/*
 * ... between accounts i and end.  At each look in between, the time off so far is at most the running time
 * by the trace less the accounted time, and never decreases.
 */
static void place_unknown(struct placing *p, size_t i, size_t end, int64_t ns)
{
	const struct raw_account *a = p->t->accounts.items;
	int64_t most_ns = ns;
	double left = 0;

	for (size_t k = end; k-- > i; ) {
		p->off_ns.items[k + 1 - i] = within(most_ns, 0, ns);
		if (p->off_ns.items[k - i] < most_ns)
			most_ns = p->off_ns.items[k - i];
	}
	p->off_ns.items[0] = 0;
	for (size_t k = i; k < end; k++) {
		left += (double)(p->off_ns.items[k + 1 - i] - p->off_ns.items[k - i]);
		if (left >= 1)
			left = place_between(p, &a[k], &a[k + 1], left, p->wait_cnts.items[k - i]);
	}
	p->t->unplaced_ns = sum_saturated(p->t->unplaced_ns, left >= (double)(off_cpu_tick_ns / LEAST_TICKS) ? real_saturated(left) : 0);
}

/* Places time in the run queue between two looks: spreads it over the free part of the gaps; returns what
 * found no place. */
static double place_runnable(struct placing *p, size_t gap_at, const struct raw_account *from,
			   const struct raw_account *to, double ns)
{
	size_t span_cnt = p->t->spans.cnt, span = p->first_span;

	p->pieces.cnt = 0;
	for (size_t i = gap_at; i < p->gaps.cnt && p->gaps.items[i].start_ns < to->ns; i++) {
		const struct gap *g = &p->gaps.items[i];
		int64_t at_ns = within(from->ns, g->start_ns, g->end_ns), end_ns = within(to->ns, g->start_ns, g->end_ns);

		for (; span < span_cnt && p->t->spans.items[span].start_ns < end_ns; span++) {
			const struct span *s = &p->t->spans.items[span];

			if (s->start_ns > at_ns)
				VEC_ADD(&p->pieces, (struct off_cpu_piece){ at_ns, s->start_ns, .gap = i });
			if (s->end_ns > at_ns)
				at_ns = s->end_ns;
			if (s->end_ns > end_ns)
				break;
		}
		if (at_ns < end_ns)
			VEC_ADD(&p->pieces, (struct off_cpu_piece){ at_ns, end_ns, .gap = i });
	}
	for (size_t i = 0; i < p->pieces.cnt; i++)
		p->pieces.items[i].weight = length(&p->pieces.items[i]);
	ns = off_cpu_share_out(p->pieces.items, p->pieces.cnt, ns);
	for (size_t i = 0; i < p->pieces.cnt; i++) {
		const struct off_cpu_piece *piece = &p->pieces.items[i];
		int64_t start_ns = piece->start_ns + (int64_t)((length(piece) - piece->taken_ns) / 2);
		int64_t room_ns = piece->end_ns - start_ns, taken_ns = (int64_t)piece->taken_ns;	/* a length is rounded, in double */

		add_span(p, start_ns, taken_ns < room_ns ? start_ns + taken_ns : piece->end_ns, STATE_RUNNABLE);
	}
	return ns;
}

static int by_start(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* How much of the time between two looks the thread cannot have spent running. */
static double room(const struct raw_account *a)
{
	int64_t ns = a[1].ns - a[0].ns - (int64_t)(a[1].run_ns - a[0].run_ns);

	return ns > 0 ? (double)ns : 0;
}

/*
 * The kernel adds a stay in the run queue when it ends: time that look k + 1 finds may have begun before look
 * k, but not before the thread last came to a CPU.
 *
 *	looks at 0, 5, 10, 15 ms: run 4, 5, 5, 6 ms, in the run queue 0, 0, 0, 12 ms, came to a CPU 1, 1, 1, 2 times
 *	room 4, 5, 4 ms: of the 12 ms 3.7, 4.6, 3.7
 */
static double place_queued(struct placing *p, size_t *gap_at, size_t first, size_t k, double ns)
{
	const struct raw_account *a = p->t->accounts.items;
	double rooms = 0, left = 0;

	while (first < k && a[first].slices != a[k].slices)
		first++;
	for (size_t m = first; m <= k; m++)
		rooms += room(&a[m]);
	for (size_t m = first; m <= k; m++) {
		double part = rooms > 0 ? room(&a[m]) / rooms : 1 / (double)(k + 1 - first);

		while (*gap_at < p->gaps.cnt && p->gaps.items[*gap_at].end_ns <= a[m].ns)
			(*gap_at)++;
		if (ns * part >= 1)
			left += place_runnable(p, *gap_at, &a[m], &a[m + 1], ns * part);
	}
	return left;
}

static void sort_spans(struct placing *p)
{
	if (p->t->spans.cnt > p->first_span)
		qsort(p->t->spans.items + p->first_span, p->t->spans.cnt - p->first_span, sizeof(*p->t->spans.items),
		      by_start);
}

/* Run-queue time that found no place where its account grew goes where the thread did not run for an unknown reason. */
static void place_left(struct placing *p, size_t gap_at, size_t i, size_t end, double ns)
{
	const struct raw_account *a = p->t->accounts.items;
	size_t span = p->first_span;
	double rooms = 0;

	sort_spans(p);
	for (size_t k = i; k < end; k++) {
		int64_t *idle_ns = &p->idle_ns.items[k - i];

		for (; span < p->t->spans.cnt && p->t->spans.items[span].start_ns < a[k + 1].ns; span++)
			*idle_ns -= p->t->spans.items[span].end_ns - p->t->spans.items[span].start_ns;
		rooms += *idle_ns > 0 ? (double)*idle_ns : 0;
	}
	for (size_t k = i; k < end; k++) {
		double part = p->idle_ns.items[k - i] > 0 ? (double)p->idle_ns.items[k - i] : 0;

		while (gap_at < p->gaps.cnt && p->gaps.items[gap_at].end_ns <= a[k].ns)
			gap_at++;
		if (part >= 1)
			place_runnable(p, gap_at, &a[k], &a[k + 1], rooms > ns ? part / rooms * ns : part);
	}
}

/* share: the fraction of the run-queue time that was outside of waits. */
static void place_run_queue(struct placing *p, size_t i, size_t end, double share)
{
	const struct raw_account *a = p->t->accounts.items;
	size_t gap_at = p->gap_at, first = i, gap_first;
	double left = 0;

	sort_spans(p);
	while (gap_at && p->gaps.items[gap_at - 1].end_ns > a[i].ns)
		gap_at--;
	gap_first = gap_at;
	for (size_t k = i; k < end; k++) {
		double ns = (double)(a[k + 1].delay_ns - a[k].delay_ns) * share;

		if (ns < 1)
			continue;
		left += place_queued(p, &gap_at, first, k, ns);
		first = k + 1;
	}
	if (left >= (double)(off_cpu_tick_ns / LEAST_TICKS))
		place_left(p, gap_first, i, end, left);
}

/* For each account from i to end: time since i that runs by the trace, but is neither in an account nor in
 * the run queue. */
static int64_t find_unaccounted(struct placing *p, size_t i, size_t end, int64_t *ret_told_ns)
{
	const struct raw_account *a = p->t->accounts.items;
	int64_t last_ns = p->t->busy.items[p->t->busy.cnt - 1].end_ns;

	*ret_told_ns = 0;
	p->off_ns.cnt = p->idle_ns.cnt = p->wait_cnts.cnt = 0;
	VEC_ADD(&p->off_ns, 0);
	for (size_t k = i; k < end; k++) {
		size_t wait_cnt = 0;
		int64_t told = 0;

		if (a[k].ns < last_ns)
			told = told_ns(p, a[k].ns, a[k + 1].ns < last_ns ? a[k + 1].ns : last_ns, &wait_cnt);
		*ret_told_ns += told;
		VEC_ADD(&p->idle_ns, told - (int64_t)(a[k + 1].run_ns - a[k].run_ns));
		VEC_ADD(&p->wait_cnts, wait_cnt);
		VEC_ADD(&p->off_ns, *ret_told_ns - (int64_t)(a[k + 1].run_ns - a[i].run_ns) -
				    (int64_t)(a[k + 1].delay_ns - a[i].delay_ns));
	}
	return p->off_ns.items[end - i];
}

/* Places the time between accounts i and end.  is_exact_end: false if the thread ran at the last one, of
 * which only the run-queue time is known. */
static void place_stretch(struct placing *p, size_t i, size_t end, bool is_exact_end)
{
	const struct raw_account *a = p->t->accounts.items;
	int64_t delay_ns = (int64_t)(a[end].delay_ns - a[i].delay_ns), told, least_ns, unknown_ns, off_ns;
	double share;

	p->first_span = p->t->spans.cnt;
	unknown_ns = find_unaccounted(p, i, end, &told);
	off_ns = unknown_ns + delay_ns;
	least_ns = off_cpu_tick_ns / LEAST_TICKS + told / LEAST_SHARE;
	if (!is_exact_end || unknown_ns < least_ns)
		unknown_ns = 0;
	if (unknown_ns)
		place_unknown(p, i, end, unknown_ns);
	off_ns -= unknown_ns;
	if (delay_ns <= 0)
		return;
	share = (double)within(off_ns, 0, delay_ns) / (double)delay_ns;
	if (off_ns >= least_ns)
		place_run_queue(p, i, end, share);
	off_cpu_wake(p->t, i, end, 1 - share, p->kinds);
}

/* Sorts the spans by time, and joins equal ones that touch. */
static void tidy_spans(struct off_cpu_thread *t)
{
	size_t cnt = 0;

	if (t->spans.cnt)
		qsort(t->spans.items, t->spans.cnt, sizeof(*t->spans.items), by_start);
	for (size_t i = 0; i < t->spans.cnt; i++) {
		struct span s = t->spans.items[i], *last = cnt ? &t->spans.items[cnt - 1] : NULL;

		if (last && s.start_ns < last->end_ns)
			s.start_ns = last->end_ns;
		if (s.start_ns >= s.end_ns)
			continue;
		if (last && last->end_ns == s.start_ns && last->state == s.state)
			last->end_ns = s.end_ns;
		else
			t->spans.items[cnt++] = s;
	}
	t->spans.cnt = cnt;
}

void off_cpu_place(struct off_cpu_thread *t, const struct off_cpu_seen *seen, const struct off_cpu_kinds *kinds)
{
	struct placing p = { .t = t, .seen = seen, .kinds = kinds };
	size_t from = 0;

	if (t->busy.cnt < 2)
		return;
	p.asleep_share = (double)(seen->asleep_cnt + 1) / (double)(seen->look_cnt + 2);
	find_gaps(t, &p.gaps);
	while (from < t->accounts.cnt && !account_is_exact(&t->accounts.items[from]))
		from++;
	for (size_t i = from + 1; i < t->accounts.cnt; i++) {
		bool exact = account_is_exact(&t->accounts.items[i]);

		if (!exact && i + 1 < t->accounts.cnt)
			continue;
		place_stretch(&p, from, i, exact);
		from = i;
	}
	tidy_spans(t);
	VEC_RELEASE(&p.gaps);
	VEC_RELEASE(&p.pieces);
	VEC_RELEASE(&p.off_ns);
	VEC_RELEASE(&p.idle_ns);
	VEC_RELEASE(&p.wait_cnts);
}
