/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arrivals.c - see arrivals.h, which has the rules.
 */
#include "trace/kernel/arrivals.h"

#include <stdlib.h>
#include "base/banned.h"
#include "base/search.h"
#include "trace/kernel/requests.h"

struct read {				/* a thread has a request from then on */
	uint64_t tid;
	int64_t ns;
	uint32_t exchange;
};

struct stretch {			/* of a thread: works for that interval, which has not begun */
	uint64_t tid, sid;
	int64_t start_ns, end_ns;
};

struct matching {
	struct trace *t;
	const struct kernel_trace *k;
	const struct request_owner *owners;
	VEC(struct read) reads;
	VEC(struct interval *) begins;
	VEC(size_t) pending;		/* reads that no interval is about, yet */
	struct interval *last;		/* begun, of the thread; NULL: none, or its read is known */
	VEC(struct stretch) stretches;
	VEC(struct stretch) arrived;	/* in the socket of the thread; sid means nothing */
};

static int by_read(const void *a, const void *b)
{
	const struct read *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (x->exchange > y->exchange) - (x->exchange < y->exchange);
}

static int by_begin(const void *a, const void *b)
{
	const struct interval *x = *(struct interval *const *)a, *y = *(struct interval *const *)b;

	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	if (x->start_tid != y->start_tid)
		return x->start_tid < y->start_tid ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->sid > y->sid) - (x->sid < y->sid);
}

static int by_stretch(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

static void find_reads(struct matching *m)
{
	for (size_t i = 0; i < m->k->exchanges.cnt; i++) {
		const struct request_owner *o = &m->owners[i];

		VEC_ADD(&m->reads, (struct read){ o->receiver, m->k->exchanges.items[i].first_read_ns, (uint32_t)i });
		if (o->sender != o->receiver)
			VEC_ADD(&m->reads, (struct read){ o->sender, o->from_ns, (uint32_t)i });
	}
	if (m->reads.cnt > 1)
		qsort(m->reads.items, m->reads.cnt, sizeof(*m->reads.items), by_read);
}

static void add_arrived(struct matching *m, uint64_t tid, int64_t start_ns, int64_t end_ns)
{
	if (start_ns < end_ns)
		VEC_ADD(&m->arrived, (struct stretch){ tid, SID_NONE, start_ns, end_ns });
}

static void add_stretch(struct matching *m, uint64_t tid, uint64_t sid, int64_t start_ns, int64_t end_ns)
{
	if (start_ns < end_ns)
		VEC_ADD(&m->stretches, (struct stretch){ tid, sid, start_ns, end_ns });
}

/* Until when in [from, until) the thread worked for other intervals; from_ns: not at all. */
static int64_t others_until(const struct trace *t, uint64_t tid, int64_t from_ns, int64_t until_ns)
{
	const struct segment *s = t->segments.items;
	size_t i = partition_point(j, t->segments.cnt, s[j].tid < tid || (s[j].tid == tid && s[j].start_ns < until_ns));

	for (; i-- > 0 && s[i].tid == tid && s[i].end_ns > from_ns; )
		if (s[i].sid != SID_NONE)
			return s[i].end_ns < until_ns ? s[i].end_ns : until_ns;
	return from_ns;
}

static void match(struct matching *m, struct interval *iv, const struct read *r)
{
	const struct kernel_exchange *x = &m->k->exchanges.items[r->exchange];
	struct request_owner o = m->owners[r->exchange];
	int64_t begun_ns = iv->start_ns, has_ns = r->ns < begun_ns ? others_until(m->t, r->tid, r->ns, begun_ns) : begun_ns;

	if (!o.sid)
		return;			/* its arrival was not seen */
	iv->begun_ns = begun_ns;
	if (x->start_ns >= begun_ns)
		return;
	if (r->tid == o.receiver)
		o.sender = o.receiver;	/* the answering thread has no part in this */
	o.from_ns = has_ns;
	iv->start_ns = x->start_ns;
	iv->start_tid = o.receiver;
	request_add_ways(m->t, x, &o, iv->sid, o.sender == o.receiver ? has_ns : x->first_read_ns);
	add_arrived(m, o.receiver, x->start_ns, o.sender == o.receiver ? has_ns : x->first_read_ns);
	if (o.sender != o.receiver)
		add_stretch(m, o.receiver, iv->sid, x->first_read_ns, x->last_read_ns);
	add_stretch(m, r->tid, iv->sid, has_ns, begun_ns);
}

static void take_read(struct matching *m, size_t at)
{
	const struct read *r = &m->reads.items[at];
	struct interval *iv = m->last;
	bool is_open = iv && (iv->status == INTERVAL_OPEN || r->ns < iv->end_ns);

	if (is_open && (iv->status == INTERVAL_OPEN || iv->end_tid == r->tid || iv->end_tid == m->owners[r->exchange].sender)) {
		match(m, iv, r);
		m->last = NULL;
		return;
	}
	VEC_ADD(&m->pending, at);
}

static void forget_answered(struct matching *m, int64_t now_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->pending.cnt; i++)
		if (m->k->exchanges.items[m->reads.items[m->pending.items[i]].exchange].last_send_ns > now_ns)
			m->pending.items[kept++] = m->pending.items[i];
	m->pending.cnt = kept;
}

/* Begins of one thread and name, without a read in between. */
static void take_begins(struct matching *m, struct interval **begins, size_t cnt)
{
	const struct read *r = m->reads.items;
	const size_t *pending = m->pending.items;

	forget_answered(m, begins[0]->start_ns);
	m->last = m->pending.cnt ? NULL : begins[cnt - 1];
	if (m->pending.cnt && cnt == 1)
		match(m, begins[0], &r[pending[m->pending.cnt - 1]]);
	else if (m->pending.cnt == 1)
		match(m, begins[0], &r[pending[0]]);
	else if (m->pending.cnt == cnt)
		for (size_t i = 0; i < cnt; i++)
			match(m, begins[i], &r[pending[i]]);
	m->pending.cnt = 0;
}

static void match_thread(struct matching *m, struct interval **begins, size_t cnt)
{
	const struct read *r = m->reads.items;
	uint64_t tid = begins[0]->start_tid;
	size_t at = partition_point(i, m->reads.cnt, r[i].tid < tid), done = 0;

	m->pending.cnt = 0;
	m->last = NULL;
	for (; at < m->reads.cnt && r[at].tid == tid; at++) {
		size_t first = done;

		while (done < cnt && begins[done]->start_ns < r[at].ns)
			done++;
		if (done > first)
			take_begins(m, begins + first, done - first);
		take_read(m, at);
	}
	if (done < cnt)
		take_begins(m, begins + done, cnt - done);
}

static void match_all(struct matching *m)
{
	size_t first = 0;

	for (size_t i = 0; i < m->t->intervals.cnt; i++)
		VEC_ADD(&m->begins, &m->t->intervals.items[i]);
	if (m->begins.cnt > 1)
		qsort(m->begins.items, m->begins.cnt, sizeof(*m->begins.items), by_begin);
	for (size_t i = 1; i <= m->begins.cnt; i++) {
		struct interval **b = m->begins.items;

		if (i < m->begins.cnt && b[i]->name == b[first]->name && b[i]->start_tid == b[first]->start_tid)
			continue;
		match_thread(m, b + first, i - first);
		first = i;
	}
}

/* ---- whose the time is between the read and the beginning ---- */

/* Adds the pieces of a segment that stretches from the at-th on overlap: what is taken up in the middle of a wait has no CPU yet. */
static void cut_segment(struct matching *m, const struct segment *g, size_t at)
{
	bool is_wait = g->state != STATE_RUNNING && g->state != STATE_RUNNABLE;
	int64_t from_ns = g->start_ns;

	for (size_t i = at; i < m->stretches.cnt && m->stretches.items[i].tid == g->tid && m->stretches.items[i].start_ns < g->end_ns; i++) {
		const struct stretch *x = &m->stretches.items[i];
		int64_t start_ns = x->start_ns > from_ns ? x->start_ns : from_ns, end_ns = x->end_ns < g->end_ns ? x->end_ns : g->end_ns;

		if (start_ns >= end_ns)
			continue;	/* it is another's already */
		segment_add_piece(&m->t->segments, g, from_ns, start_ns, SID_NONE, g->state);
		segment_add_piece(&m->t->segments, g, start_ns, end_ns, x->sid, is_wait && start_ns > g->start_ns ? STATE_RUNNABLE : g->state);
		from_ns = end_ns;
	}
	segment_add_piece(&m->t->segments, g, from_ns, g->end_ns, SID_NONE, g->state);
}

/* When the thread was woken from that wait, whoever did it, also a client outside the run; INT64_MAX: not known. */
static int64_t woken_ns(const struct matching *m, const struct segment *g)
{
	const struct kernel_off *o = m->k->offs.items;
	uint32_t tid = (uint32_t)g->tid;
	size_t i = partition_point(j, m->k->offs.cnt, o[j].tid < tid || (o[j].tid == tid && o[j].out_ns < g->end_ns));

	while (i-- > 0 && o[i].tid == tid && o[i].in_ns > g->start_ns)
		if (o[i].flags & OFF_WOKEN && o[i].woken_ns > g->start_ns && !(o[i].flags & OFF_PREEMPTED))
			return o[i].woken_ns;
	return INT64_MAX;
}

/* A thread that a request wakes, and that has no CPU yet, waits for nothing but a CPU. */
static void part_waits(struct matching *m)
{
	size_t at = 0, cnt = m->t->segments.cnt;

	if (m->arrived.cnt > 1)
		qsort(m->arrived.items, m->arrived.cnt, sizeof(*m->arrived.items), by_stretch);
	for (size_t i = 0; i < cnt; i++) {
		struct segment *g = &m->t->segments.items[i], rest;
		const struct stretch *x = m->arrived.items;
		int64_t ns;

		while (at < m->arrived.cnt && (x[at].tid < g->tid || (x[at].tid == g->tid && x[at].end_ns <= g->start_ns)))
			at++;
		if (g->sid != SID_NONE || g->state == STATE_RUNNING || g->state == STATE_RUNNABLE || at == m->arrived.cnt ||
		    x[at].tid != g->tid || x[at].start_ns >= g->end_ns)
			continue;
		ns = woken_ns(m, g);
		if (ns >= g->end_ns)
			continue;
		rest = *g;
		rest.state = STATE_RUNNABLE;
		rest.start_ns = g->end_ns = ns;
		VEC_ADD(&m->t->segments, rest);
	}
}

static void give_segments(struct matching *m)
{
	size_t at = 0, cnt = m->t->segments.cnt, kept = 0;
	const struct stretch *x = m->stretches.items;
	segment_list cut = { NULL, 0, 0 };

	if (m->stretches.cnt > 1)
		qsort(m->stretches.items, m->stretches.cnt, sizeof(*m->stretches.items), by_stretch);
	for (size_t i = 0; i < cnt; i++) {
		struct segment *g = &m->t->segments.items[i];

		while (at < m->stretches.cnt && (x[at].tid < g->tid || (x[at].tid == g->tid && x[at].end_ns <= g->start_ns)))
			at++;
		if (g->sid == SID_NONE && at < m->stretches.cnt && x[at].tid == g->tid && x[at].start_ns < g->end_ns)
			VEC_ADD(&cut, *g);
		else
			m->t->segments.items[kept++] = *g;
	}
	m->t->segments.cnt = kept;
	at = 0;
	for (size_t i = 0; i < cut.cnt; i++) {
		const struct segment *g = &cut.items[i];

		while (x[at].tid < g->tid || (x[at].tid == g->tid && x[at].end_ns <= g->start_ns))
			at++;
		cut_segment(m, g, at);
	}
	VEC_RELEASE(&cut);
}

void arrivals_add(struct trace *t, const struct kernel_trace *k, struct kernel_threads *x)
{
	_cleanup_(freep) struct request_owner *owners = xcalloc(k->exchanges.cnt + 1, sizeof(*owners));
	struct matching m = { .t = t, .k = k, .owners = owners };

	trace_sort(t);
	t->from_arrival = true;
	request_owners_find(t, k, x, owners);
	find_reads(&m);
	match_all(&m);
	part_waits(&m);
	trace_sort(t);
	give_segments(&m);
	VEC_RELEASE(&m.reads);
	VEC_RELEASE(&m.begins);
	VEC_RELEASE(&m.pending);
	VEC_RELEASE(&m.stretches);
	VEC_RELEASE(&m.arrived);
}
