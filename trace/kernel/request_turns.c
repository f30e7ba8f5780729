/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * request_turns.c - whose a thread's time is, from the moments at which it took requests up and answered them.
 *
 *	A taken up at 10, B at 20, A answered at 40, B at 42; the reader is in a stack at 28, not in one at 31
 *	-> 10..20 A, 20..31 B, 31..40 both, 40..42 B
 */
#include "trace/kernel/requests.h"

#include "base/banned.h"
#include "base/search.h"
#include "base/sort.h"

enum turn_kind { TURN_END, TURN_BEGIN, TURN_AGAIN, TURN_ANSWERED };	/* AGAIN: another read of the same request; ANSWERED: by a server */

struct turn {
	uint64_t tid;
	int64_t ns;
	enum turn_kind kind;
	uint32_t exchange;
};

struct stretch {			/* of a thread's time */
	uint64_t tid;
	int64_t start_ns, end_ns;
	uint64_t sid;
};

struct turns {
	struct trace *t;
	const struct kernel_trace *k;
	const struct request_owner *owners;
	const struct request_frames *f;
	VEC(struct turn) items;
	VEC(struct stretch) out;
	VEC(uint32_t) active;		/* exchanges that the thread has */
	bool answered;			/* the latest one's turn began as a server's answer was read, not a request */
	segment_list segments;
};

static int by_time(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	if (x->kind != y->kind)
		return (int)x->kind - (int)y->kind;
	return (x->exchange > y->exchange) - (x->exchange < y->exchange);
}

static int64_t time_key(const void *item, unsigned int rank)
{
	const struct turn *x = item;

	return rank == 0 ? (int64_t)x->tid : rank == 1 ? x->ns : rank == 2 ? (int64_t)x->kind : x->exchange;
}

static void add_turn(struct turns *s, uint64_t tid, int64_t ns, enum turn_kind kind, size_t exchange)
{
	VEC_ADD(&s->items, (struct turn){ tid, ns, kind, (uint32_t)exchange });
}

static void find_turns(struct turns *s, const request_answers *answers)
{
	for (size_t i = 0; i < s->k->exchanges.cnt; i++) {
		const struct kernel_exchange *x = &s->k->exchanges.items[i];
		const struct request_owner *o = &s->owners[i];

		if (o->from_ns >= x->last_send_ns)
			continue;
		add_turn(s, o->sender, o->from_ns, TURN_BEGIN, i);
		add_turn(s, o->sender, x->last_send_ns, TURN_END, i);
		if (o->sender == o->receiver && x->last_read_ns > x->first_read_ns && x->last_read_ns < x->last_send_ns)
			add_turn(s, o->sender, x->last_read_ns, TURN_AGAIN, i);
		if (o->sender != o->receiver && x->first_read_ns < x->last_read_ns) {	/* while it reads */
			add_turn(s, o->receiver, x->first_read_ns, TURN_BEGIN, i);
			add_turn(s, o->receiver, x->last_read_ns, TURN_END, i);
		}
	}
	for (size_t i = 0; i < answers->cnt; i++)
		add_turn(s, s->owners[answers->items[i].exchange].sender, answers->items[i].read_ns, TURN_ANSWERED, answers->items[i].exchange);
	sort_items(s->items.items, s->items.cnt, sizeof(*s->items.items), time_key, 4, by_time);
}

static void deactivate(struct turns *s, uint32_t exchange)
{
	for (size_t i = 0; i < s->active.cnt; i++)
		if (s->active.items[i] == exchange) {
			s->active.items[i] = s->active.items[--s->active.cnt];
			return;
		}
}

static bool is_active(const struct turns *s, uint32_t exchange)
{
	for (size_t i = 0; i < s->active.cnt; i++)
		if (s->active.items[i] == exchange)
			return true;
	return false;
}

/* Nothing waits for the time of a request that is no interval: any number does. */
static uint64_t sid_of(const struct turns *s, uint32_t exchange)
{
	return s->owners[exchange].sid ? s->owners[exchange].sid : SID_SHARED - 1;
}

static void add_stretch(struct turns *s, uint64_t tid, int64_t start_ns, int64_t end_ns, uint64_t sid)
{
	if (start_ns < end_ns)
		VEC_ADD(&s->out, (struct stretch){ tid, start_ns, end_ns, sid });
}

/* The thread's first answer in (after, until), or until. */
static int64_t first_answer(const struct turns *s, int64_t after_ns, int64_t until_ns)
{
	for (size_t i = 0; i < s->active.cnt; i++) {
		const struct kernel_exchange *x = &s->k->exchanges.items[s->active.items[i]];

		if (x->first_send_ns > after_ns && x->first_send_ns < until_ns)
			until_ns = x->first_send_ns;
	}
	return until_ns;
}

/* The thread's first stack from from_ns on, if it has one. */
static size_t first_stack(const struct turns *s, uint64_t tid, int64_t from_ns)
{
	const struct kernel_stack *k = s->k->stacks.items;
	uint32_t kernel_tid = (uint32_t)tid;

	return partition_point(j, s->k->stacks.cnt, k[j].tid < kernel_tid || (k[j].tid == kernel_tid && k[j].ns < from_ns));
}

static bool reader_seen(const struct turns *s, uint64_t tid, int64_t after_ns, int64_t before_ns)
{
	const struct kernel_stack *k = s->k->stacks.items;
	uint32_t kernel_tid = (uint32_t)tid;

	for (size_t i = first_stack(s, tid, after_ns + 1); i < s->k->stacks.cnt && k[i].tid == kernel_tid && k[i].ns < before_ns; i++)
		if (s->f->texts[k[i].stack].reads)
			return true;
	return false;
}

/* Until when the reader of requests, called for the latest of them, is in the thread's stacks. */
static int64_t turn_until(const struct turns *s, uint64_t tid, int64_t start_ns, int64_t end_ns)
{
	const struct kernel_stack *k = s->k->stacks.items;
	uint32_t kernel_tid = (uint32_t)tid;
	int64_t seen_ns = start_ns, not_seen_ns = end_ns;

	if (!s->f->knows_reader)
		return end_ns;
	for (size_t i = first_stack(s, tid, start_ns + 1); i < s->k->stacks.cnt && k[i].tid == kernel_tid && k[i].ns < end_ns; i++) {
		if (s->f->texts[k[i].stack].reads) {
			seen_ns = k[i].ns;
			not_seen_ns = end_ns;
		} else if (not_seen_ns == end_ns) {
			not_seen_ns = k[i].ns;
		}
	}
	end_ns = first_answer(s, seen_ns, end_ns);
	return not_seen_ns < end_ns ? not_seen_ns : end_ns;
}

/* The thread waits where it also does without a request. */
static bool is_idle(const struct turns *s, const struct segment *g)
{
	const struct kernel_stack *k = s->k->stacks.items;
	uint32_t kernel_tid = (uint32_t)g->tid;

	if (g->state != STATE_IO && g->state != STATE_OTHER)
		return false;
	for (size_t i = first_stack(s, g->tid, g->start_ns); i < s->k->stacks.cnt && k[i].tid == kernel_tid && k[i].ns == g->start_ns; i++)
		if (k[i].reason == STACK_OUT)
			return s->f->texts[k[i].stack].is_idle;
	return false;
}

static bool is_blocked(const struct segment *g)
{
	return g->state != STATE_RUNNING && g->state != STATE_RUNNABLE;
}

/* The thread's first such wait in [start, end), or end: until then it works for the request whose server has answered. */
static int64_t idle_from(const struct turns *s, uint64_t tid, int64_t start_ns, int64_t end_ns)
{
	const struct segment *g = s->t->segments.items;
	size_t i = partition_point(j, s->t->segments.cnt, g[j].tid < tid || (g[j].tid == tid && g[j].start_ns < start_ns));

	for (; i < s->t->segments.cnt && g[i].tid == tid && g[i].start_ns < end_ns; i++)
		if (is_idle(s, &g[i]))
			return g[i].start_ns;
	return end_ns;
}

/* Returns whose turn it is after that; UINT32_MAX: no request's. */
static uint32_t add_between(struct turns *s, uint64_t tid, uint32_t latest, int64_t start_ns, int64_t end_ns)
{
	int64_t until_ns;

	if (!s->active.cnt || start_ns >= end_ns)
		return latest;
	if (s->active.cnt == 1) {
		add_stretch(s, tid, start_ns, end_ns, sid_of(s, s->active.items[0]));
		return latest;
	}
	if (!is_active(s, latest)) {
		add_stretch(s, tid, start_ns, end_ns, SID_SHARED);
		return UINT32_MAX;
	}
	until_ns = s->answered ? idle_from(s, tid, start_ns, end_ns) : turn_until(s, tid, start_ns, end_ns);
	add_stretch(s, tid, start_ns, until_ns, sid_of(s, latest));
	add_stretch(s, tid, until_ns, end_ns, SID_SHARED);
	return until_ns < end_ns ? UINT32_MAX : latest;
}

/* Another's answer was sent: the latest's turn is over, unless the reader is seen again before it is answered, or the next one's begins. */
static bool turn_goes_on(const struct turns *s, size_t end, uint32_t latest)
{
	const struct turn *t = &s->items.items[end];
	int64_t until_ns = INT64_MAX;

	for (size_t i = end + 1; i < s->items.cnt && s->items.items[i].tid == t->tid && until_ns == INT64_MAX; i++)
		if (s->items.items[i].kind != TURN_END || s->items.items[i].exchange == latest)
			until_ns = s->items.items[i].ns;
	return !s->f->knows_reader || reader_seen(s, t->tid, t->ns, until_ns);
}

static void find_stretches(struct turns *s)
{
	uint32_t latest = UINT32_MAX;
	int64_t at_ns = 0;

	for (size_t i = 0; i < s->items.cnt; i++) {
		const struct turn *t = &s->items.items[i];

		if (i == 0 || t[-1].tid != t->tid) {
			s->active.cnt = 0;
			latest = UINT32_MAX;
			at_ns = t->ns;
		}
		latest = add_between(s, t->tid, latest, at_ns, t->ns);
		at_ns = t->ns;
		if (t->kind == TURN_END) {
			deactivate(s, t->exchange);
			if (latest != UINT32_MAX && s->active.cnt > 1 && (s->answered || !turn_goes_on(s, i, latest)))
				latest = UINT32_MAX;
			continue;
		}
		if (t->kind == TURN_BEGIN)
			VEC_ADD(&s->active, t->exchange);
		latest = t->exchange;
		s->answered = t->kind == TURN_ANSWERED;
	}
}

/* Nobody's: a wait, and what came after the waking, which is the run queue's. */
static void put_nobodys(struct turns *s, const struct segment *g, int64_t start_ns, int64_t end_ns)
{
	const struct wakeup *w = s->t->wakeups.items;
	size_t i = partition_point(j, s->t->wakeups.cnt, w[j].tid < g->tid || (w[j].tid == g->tid && w[j].time_ns <= end_ns));
	int64_t woken_ns = end_ns;

	if (is_blocked(g) && i && w[i - 1].tid == g->tid && w[i - 1].time_ns > start_ns)
		woken_ns = w[i - 1].time_ns;
	segment_add_piece(&s->segments, g, start_ns, woken_ns, SID_NONE, g->state);
	segment_add_piece(&s->segments, g, woken_ns, end_ns, SID_NONE, STATE_RUNNABLE);
}

static void cut_segment(struct turns *s, const struct segment *g, size_t *at)
{
	int64_t from_ns = g->start_ns;
	bool idle = is_blocked(g) && is_idle(s, g);

	while (*at < s->out.cnt && (s->out.items[*at].tid < g->tid ||
				    (s->out.items[*at].tid == g->tid && s->out.items[*at].end_ns <= g->start_ns)))
		++*at;
	for (size_t i = *at; i < s->out.cnt && s->out.items[i].tid == g->tid && s->out.items[i].start_ns < g->end_ns; i++) {
		const struct stretch *x = &s->out.items[i];
		int64_t start_ns = x->start_ns > from_ns ? x->start_ns : from_ns, end_ns = x->end_ns < g->end_ns ? x->end_ns : g->end_ns;

		put_nobodys(s, g, from_ns, start_ns);
		/* A request taken up in the middle of a wait was taken up by the woken thread, which has no CPU yet. */
		if (idle)
			put_nobodys(s, g, start_ns, end_ns);
		else
			segment_add_piece(&s->segments, g, start_ns, end_ns, x->sid, is_blocked(g) && start_ns > g->start_ns ? STATE_RUNNABLE : g->state);
		from_ns = end_ns;
	}
	put_nobodys(s, g, from_ns, g->end_ns);
}

static void cut_segments(struct turns *s)
{
	size_t at = 0;

	for (size_t i = 0; i < s->t->segments.cnt; i++) {
		const struct segment *g = &s->t->segments.items[i];

		if (g->sid == SID_NONE)
			cut_segment(s, g, &at);
		else			/* the runtime's */
			VEC_ADD(&s->segments, *g);
	}
	s->t->segments.cnt = 0;
	for (size_t i = 0; i < s->segments.cnt; i++)
		VEC_ADD(&s->t->segments, s->segments.items[i]);
}

void request_turns_add(struct trace *t, const struct kernel_trace *k, const struct request_owner *owners,
		       const struct request_frames *f, const request_answers *answers)
{
	struct turns s = { .t = t, .k = k, .owners = owners, .f = f };

	find_turns(&s, answers);
	find_stretches(&s);
	cut_segments(&s);
	VEC_RELEASE(&s.items);
	VEC_RELEASE(&s.out);
	VEC_RELEASE(&s.active);
	VEC_RELEASE(&s.segments);
}
