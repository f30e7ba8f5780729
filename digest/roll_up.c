/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * roll_up.c - adds up the windows of one recording: minutes become hours.
 *
 * Example: windows of 60 s that begin at 0, 60 and 120, rolled up to one hour, become one window from 0 with the sums of all three.
 */
#include "digest/unite.h"

#include <errno.h>
#include "base/banned.h"
#include "digest/united_order.h"

#define APPEND(to, from)							\
	do {									\
		VEC_ROOM(to, (from)->cnt);					\
		for (size_t i_ = 0; i_ < (from)->cnt; i_++)			\
			(to)->items[(to)->cnt++] = (from)->items[i_];		\
	} while (0)

static void add_counts(struct summed_counts *to, const struct summed_counts *c)
{
	to->open += c->open;
	to->aborted += c->aborted;
	to->bad_path += c->bad_path;
	to->lost += c->lost;
	to->nested += c->nested;
	to->unmatched_ends += c->unmatched_ends;
	to->lost_records += c->lost_records;
	to->waited_ns += c->waited_ns;
	to->no_waker_ns += c->no_waker_ns;
	to->io_waited_ns += c->io_waited_ns;
	to->io_no_waker_ns += c->io_no_waker_ns;
	to->has_pairing |= c->has_pairing;
	to->knows_runqueue |= c->knows_runqueue;
}

static void add_latencies(struct summed_window *to, const struct summed_window *w)
{
	if (w->recorded && (!to->recorded || w->min_ns < to->min_ns))
		to->min_ns = w->min_ns;
	if (w->recorded && (!to->recorded || w->max_ns > to->max_ns))
		to->max_ns = w->max_ns;
	to->n += w->n;
	to->recorded += w->recorded;
	to->unit = summed_divisor(to->unit, w->unit);
	to->root_only.n += w->root_only.n;
	to->root_only.t += w->root_only.t;
	to->root_only.tt += w->root_only.tt;
	if (w->root_only.max_ns > to->root_only.max_ns)
		to->root_only.max_ns = w->root_only.max_ns;
}

/* Appends the lists; the caller sorts them and adds up duplicates at the end. */
static void add_window(struct summed_window *to, const struct summed_window *w)
{
	uint32_t own_cnt = (uint32_t)to->owns.cnt;
	size_t share_cnt = to->shares.cnt;

	add_latencies(to, w);
	add_counts(&to->counts, &w->counts);
	APPEND(&to->sums, &w->sums);
	APPEND(&to->pairs, &w->pairs);
	APPEND(&to->owns, &w->owns);
	APPEND(&to->buckets, &w->buckets);
	APPEND(&to->cells, &w->cells);
	APPEND(&to->shares, &w->shares);
	for (size_t i = share_cnt; i < to->shares.cnt; i++)
		to->shares.items[i].own += own_cnt;
	if (w->until_ns > to->until_ns)
		to->until_ns = w->until_ns;
}

/* Whether the sums of both together are exact. */
static bool both_fit(const struct summed_window *a, const struct summed_window *b)
{
	unsigned __int128 n = (unsigned __int128)a->n + b->n, root_only = (unsigned __int128)a->root_only.n + b->root_only.n;
	int64_t max_ns = a->max_ns > b->max_ns ? a->max_ns : b->max_ns;
	int64_t root_only_max_ns = a->root_only.max_ns > b->root_only.max_ns ? a->root_only.max_ns : b->root_only.max_ns;

	return !(n >> 62) && !(root_only >> 62) && squares_fit((uint64_t)n, max_ns) &&
	       squares_fit((uint64_t)root_only, root_only_max_ns);
}

static int64_t floor_to(int64_t ns, int64_t window_ns)
{
	int64_t rest = ns % window_ns;

	return ns - (rest < 0 ? rest + window_ns : rest);
}

/* Whether w goes into the window `to`.  Windows are in order of time. */
static bool belongs_to(const struct summed_window *to, const struct summed_window *w, int64_t window_ns)
{
	if (to->root != w->root || to->source != w->source)
		return false;
	if (window_ns == 0)
		return true;
	return to->from_ns > INT64_MIN + window_ns && w->until_ns <= INT64_MAX - window_ns &&
	       floor_to(to->from_ns, window_ns) == floor_to(w->from_ns, window_ns) &&
	       w->until_ns <= floor_to(to->from_ns, window_ns) + window_ns;
}

int summed_roll_up(struct summed *s, int64_t window_ns, struct diag *reterr)
{
	size_t kept = 0;
	bool fit = true;

	for (size_t i = 0; i < s->windows.cnt; i++) {
		struct summed_window *w = &s->windows.items[i];

		if (kept && belongs_to(&s->windows.items[kept - 1], w, window_ns) &&
		    (fit = fit && both_fit(&s->windows.items[kept - 1], w))) {
			add_window(&s->windows.items[kept - 1], w);
			summed_window_release(w);
		} else {
			s->windows.items[kept++] = *w;
		}
	}
	s->windows.cnt = kept;
	for (size_t i = 0; i < kept; i++)
		window_put_in_order(&s->windows.items[i]);
	if (fit)
		return 0;
	diag_set(reterr, EXIT_DATA, -EOVERFLOW, "the intervals are too many, or too long, to be added up exactly");
	return diag_remedy(reterr, -EOVERFLOW, "leave out --window, or give a shorter time, so that less is added up");
}
