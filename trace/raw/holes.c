/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * holes.c - turns missing block numbers into spans of time and threads.
 */
#include "trace/raw/holes.h"

#include <stdlib.h>
#include "base/banned.h"
#include "base/order.h"
#include "base/search.h"
#include "trace/raw/raw.h"

enum { WORK_MAX = 1 << 24 };		/* gaps times threads and chunks, if any thread may be concerned; more
					 * are treated as one gap */
enum { HOLES_MAX = 1000 };		/* more are treated as one hole */

struct gap {				/* numbers that are missing */
	uint64_t from, to;
};

struct settling {
	struct trace_holes *h;
	struct raw *r;
	VEC(struct gap) gaps;
	size_t content, damaged;	/* the next items; contents and damaged blocks are in order, as gaps are */
	struct raw_hole hole;		/* of this gap; since > until: none yet */
	uint64_t last;			/* when the last record of all was logged */
};

uint64_t holes_block(struct trace_holes *h, const struct blocks *b)
{
	VEC_ADD(&h->numbers, b->number);
	return b->number;
}

bool holes_decode_contents(struct trace_holes *h, struct decoder *d)
{
	while (!d->bad && decode_left(d)) {
		struct holes_contents c = { .number = decode_varint(d) };
		uint64_t cnt;

		c.since = decode_varint(d);
		c.until = c.since + decode_varint(d);
		c.records = decode_varint(d);
		cnt = decode_varint(d);
		if (d->bad || cnt > decode_left(d))
			return false;
		c.serial = h->serials.cnt;
		c.serial_cnt = (size_t)cnt;
		for (uint64_t i = 0; i < cnt; i++)
			VEC_ADD(&h->serials, decode_varint(d));
		if (!d->bad)
			VEC_ADD(&h->contents, c);
	}
	return !d->bad;
}

static void add_damaged(struct trace_holes *h, const struct listed_block *blocks, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		VEC_ADD(&h->damaged, blocks[i]);
}

void holes_file(struct trace_holes *h, const struct blocks *b)
{
	const struct block_list *l = &b->list;

	add_damaged(h, l->damaged.items, l->damaged.cnt);
	add_damaged(h, b->lost.items, b->lost.cnt);
	h->damaged_bytes += l->damaged_bytes;
	for (size_t i = 0; i < b->lost.cnt; i++)
		h->damaged_bytes += b->lost.items[i].bytes;
	h->twice_cnt += b->twice.cnt;
	for (size_t i = 0; i < b->twice.cnt; i++)
		VEC_ADD(&h->numbers, b->twice.items[i]);
}

void holes_release(struct trace_holes *h)
{
	VEC_RELEASE(&h->numbers);
	VEC_RELEASE(&h->chunks);
	VEC_RELEASE(&h->contents);
	VEC_RELEASE(&h->serials);
	VEC_RELEASE(&h->damaged);
}

/* ---- what is missing ---- */

static int by_thread(const void *a, const void *b)
{
	const struct holes_chunk *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int by_content(const void *a, const void *b)
{
	const struct holes_contents *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static int by_number(const void *a, const void *b)
{
	const struct listed_block *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

#define SORT(list, compare)									\
	do {											\
		if ((list).cnt)									\
			qsort((list).items, (list).cnt, sizeof((list).items[0]), compare);	\
	} while (0)

static uint64_t first_number(const struct settling *s)
{
	const struct trace_holes *h = s->h;

	/* If only the end of a run was kept, the first blocks are missing on purpose. */
	if (!s->r->windowed)
		return 1;
	if (h->contents.cnt && h->contents.items[0].number < h->numbers.items[0])
		return h->contents.items[0].number;
	return h->numbers.items[0];
}

static void find_gaps(struct settling *s)
{
	struct trace_holes *h = s->h;
	uint64_t next = first_number(s), last = h->numbers.items[h->numbers.cnt - 1];

	/* A recorder that kept only the end and was killed: its head comes first, and the parts after it are
	 * gone for good. */
	bool may_lack = s->r->windowed && !h->contents.cnt;

	for (size_t i = 0; i < h->numbers.cnt; i++) {
		bool is_dropped = h->numbers.items[i] > next && may_lack;

		may_lack &= !is_dropped;
		if (h->numbers.items[i] > next && !is_dropped)
			VEC_ADD(&s->gaps, (struct gap){ next, h->numbers.items[i] - 1 });
		if (h->numbers.items[i] >= next)
			next = h->numbers.items[i] + 1;
	}
	if (h->damaged.cnt && h->damaged.items[h->damaged.cnt - 1].number > last)
		VEC_ADD(&s->gaps, (struct gap){ last + 1, h->damaged.items[h->damaged.cnt - 1].number });
	if (s->gaps.cnt > 1 && !h->contents.cnt && s->gaps.cnt * (s->r->threads.cnt + h->chunks.cnt) > WORK_MAX) {
		s->gaps.items[0].to = s->gaps.items[s->gaps.cnt - 1].to;
		s->gaps.cnt = 1;
	}
}

static void widen(struct raw_hole *hole, uint64_t since, uint64_t until)
{
	hole->since = since < hole->since ? since : hole->since;
	hole->until = until > hole->until ? until : hole->until;
}

/* The thread's last chunk before the gap, and the first one after it that continues; NULL: none. */
static void find_neighbours(const struct settling *s, uint32_t thread, const struct gap *gap,
			    const struct holes_chunk **ret_before, const struct holes_chunk **ret_after)
{
	const struct holes_chunk *c = s->h->chunks.items;
	size_t cnt = s->h->chunks.cnt, at;

	at = partition_point(i, cnt, c[i].thread < thread || (c[i].thread == thread && c[i].number < gap->from));
	*ret_before = at && c[at - 1].thread == thread ? &c[at - 1] : NULL;
	/* A thread's name may be repeated in a chunk of its own. */
	while (at < cnt && c[at].thread == thread && *ret_before && c[at].last <= (*ret_before)->last)
		at++;
	*ret_after = at < cnt && c[at].thread == thread ? &c[at] : NULL;
}

/* told: the missing records' times, from since to until, as the contents table has them. */
static void add_thread(struct settling *s, const struct gap *gap, uint32_t thread, const struct raw_hole *told, bool is_named)
{
	const struct holes_chunk *before, *after;
	bool is_told = told->since <= told->until;
	uint64_t since, until;

	find_neighbours(s, thread, gap, &before, &after);
	if (!is_named && ((before && before->stopped) || (!before && (!after || after->started))))
		return;
	since = before ? before->last : is_told ? told->since : 0;
	until = after ? after->first : is_told ? told->until : s->last;
	if (is_told && !is_named) {
		since = since > told->since ? since : told->since;
		until = until < told->until ? until : told->until;
	}
	if (since > until)
		return;
	widen(&s->hole, since, until);
	VEC_ADD(&s->r->gaps, (struct raw_gap){ thread, since, until });
}

static void fill_by_contents(struct settling *s, const struct gap *gap)
{
	struct trace_holes *h = s->h;
	size_t first;

	while (s->content < h->contents.cnt && h->contents.items[s->content].number < gap->from)
		s->content++;
	first = s->content;
	for (; s->content < h->contents.cnt && h->contents.items[s->content].number <= gap->to; s->content++) {
		const struct holes_contents *c = &h->contents.items[s->content];

		s->r->damage.records += c->records;
		widen(&s->hole, c->since, c->until);
	}
	for (size_t i = first; i < s->content; i++) {
		const struct raw_hole told = s->hole;

		for (size_t k = 0; k < h->contents.items[i].serial_cnt; k++) {
			uint32_t thread = raw_find_thread(s->r, h->serials.items[h->contents.items[i].serial + k]);

			if (thread != UINT32_MAX)
				add_thread(s, gap, thread, &told, true);
		}
	}
	s->r->damage.blocks += s->content - first;
}

/* The contents are not known; the heads that are there limit the time. */
static void fill_by_guess(struct settling *s, const struct gap *gap)
{
	struct trace_holes *h = s->h;
	struct raw_hole told = { UINT64_MAX, 0 };
	uint64_t told_cnt = 0, cnt = gap->to - gap->from + 1;
	bool has_records = false;

	while (s->damaged < h->damaged.cnt && h->damaged.items[s->damaged].number < gap->from)
		s->damaged++;
	for (; s->damaged < h->damaged.cnt && h->damaged.items[s->damaged].number <= gap->to; s->damaged++) {
		const struct listed_block *b = &h->damaged.items[s->damaged];

		told_cnt++;
		has_records |= b->kind == BLOCK_CHUNKS;
		if (b->kind == BLOCK_CHUNKS)
			widen(&told, b->since, b->until);
	}
	if (told_cnt == cnt && !has_records)
		return;
	s->r->damage.blocks += cnt < UINT32_MAX ? cnt : UINT32_MAX;
	if (told.since <= told.until)
		widen(&s->hole, told.since, told.until);
	if (told_cnt < cnt)		/* for the others the contents table says nothing */
		told = (struct raw_hole){ UINT64_MAX, 0 };
	for (uint32_t i = 0; i < s->r->threads.cnt; i++)
		add_thread(s, gap, i, &told, false);
}

static int compare_gaps(const void *a, const void *b)
{
	const struct raw_gap *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->since < y->since ? -1 : x->since > y->since;
}

/* Joins each thread's gaps, so that they are disjoint. */
static void join_gaps(struct raw *r)
{
	struct raw_gap *list = r->gaps.items;
	size_t cnt = 0;

	SORT(r->gaps, compare_gaps);
	for (size_t i = 0; i < r->gaps.cnt; i++) {
		struct raw_gap *before = cnt ? &list[cnt - 1] : NULL;

		if (before && before->thread == list[i].thread && list[i].since <= before->until)
			before->until = list[i].until > before->until ? list[i].until : before->until;
		else
			list[cnt++] = list[i];
	}
	r->gaps.cnt = cnt;
}

void holes_settle(struct trace_holes *h, struct raw *r)
{
	struct settling s = { .h = h, .r = r };

	r->damage.bytes = h->damaged_bytes;
	r->damage.twice = h->twice_cnt;
	if (!h->numbers.cnt)
		return;
	qsort(h->numbers.items, h->numbers.cnt, sizeof(h->numbers.items[0]), compare_uint64);
	SORT(h->chunks, by_thread);
	SORT(h->contents, by_content);
	SORT(h->damaged, by_number);
	for (size_t i = 0; i < h->chunks.cnt; i++)
		s.last = h->chunks.items[i].last > s.last ? h->chunks.items[i].last : s.last;
	find_gaps(&s);
	for (size_t i = 0; i < s.gaps.cnt; i++) {
		s.hole = (struct raw_hole){ UINT64_MAX, 0 };
		if (h->contents.cnt)
			fill_by_contents(&s, &s.gaps.items[i]);
		else
			fill_by_guess(&s, &s.gaps.items[i]);
		if (s.hole.since > s.hole.until)
			r->damage.tables++;
		else
			VEC_ADD(&r->holes, s.hole);
	}
	if (r->holes.cnt > HOLES_MAX) {
		for (size_t i = 1; i < r->holes.cnt; i++)
			widen(&r->holes.items[0], r->holes.items[i].since, r->holes.items[i].until);
		r->holes.cnt = 1;
	}
	join_gaps(r);
	VEC_RELEASE(&s.gaps);
}
