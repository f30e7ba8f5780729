/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay_sync.c - see replay_sync.h.
 *
 * First each thread's notes: which taking a release belongs to.  Then all in order of time: whether they fit together.
 */
#include "analysis/causal/replay_sync.h"

#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/order.h"
#include "base/text/symbol.h"

#define NONE UINT32_MAX

enum { READERS_MAX = 1 << 20, HELD_MAX = 64, PARTIES_MAX = 64 };

struct object {
	bool is_bad;
	bool is_shared, is_posted, is_met, is_taken, is_given;
	bool is_target, is_absent;
	uint32_t resource;
	uint32_t alone, readers;	/* that hold it, in order of time */
	int64_t level, most;		/* of a semaphore: takings minus posts so far; the most of that */
};

struct find {
	struct replay_sync *s;
	const struct timeline *tl;
	const struct trace *t;
	const struct replay_question *q;
	struct replay_program *p;
	struct object *objects;
	uint32_t *by_time;		/* ops */
	uint32_t *taking_of;		/* by op, a release: its taking; NONE: not recorded */
};

static struct object *object_of(const struct find *f, const struct sync_op *op)
{
	return &f->objects[op->object];
}

/* ---- a thread's notes ---- */

struct holding {
	uint32_t ops[HELD_MAX];
	uint32_t cnt;
};

static void hold(const struct find *f, struct holding *h, uint32_t number)
{
	const struct sync_op *op = &f->t->sync_ops.items[number];

	for (uint32_t i = 0; i < h->cnt; i++) {
		const struct sync_op *held = &f->t->sync_ops.items[h->ops[i]];

		if (held->object == op->object && (op->kind == SYNC_TAKE || held->kind == SYNC_TAKE))
			object_of(f, op)->is_bad = true;	/* it was let go unseen */
	}
	if (h->cnt == HELD_MAX) {
		object_of(f, &f->t->sync_ops.items[h->ops[0]])->is_bad = true;
		h->cnt--;
		memmove(&h->ops[0], &h->ops[1], h->cnt * sizeof(h->ops[0]));
	}
	h->ops[h->cnt++] = number;
}

/* The thread may have taken it before the recording began. */
static void let_go(const struct find *f, struct holding *h, uint32_t number)
{
	const struct sync_op *op = &f->t->sync_ops.items[number];
	uint32_t i = h->cnt;

	while (i > 0 && f->t->sync_ops.items[h->ops[i - 1]].object != op->object)
		i--;
	if (!i)
		return;
	f->taking_of[number] = h->ops[i - 1];
	h->cnt--;
	memmove(&h->ops[i - 1], &h->ops[i], (h->cnt - (i - 1)) * sizeof(h->ops[0]));
}

static void pair_releases(const struct find *f)
{
	struct holding h = { .cnt = 0 };

	for (uint32_t i = 0; i < f->t->sync_ops.cnt; i++) {
		const struct sync_op *op = &f->t->sync_ops.items[i];
		struct object *o = object_of(f, op);

		if (i && op->tid != op[-1].tid)
			h.cnt = 0;
		f->taking_of[i] = NONE;
		o->is_shared |= op->kind == SYNC_SHARE;
		o->is_posted |= op->kind == SYNC_POST;
		o->is_met |= op->kind == SYNC_MEET;
		o->is_taken |= op->kind == SYNC_TAKE || op->kind == SYNC_SHARE;
		o->is_given |= op->kind == SYNC_GIVE;
	}
	for (uint32_t i = 0; i < f->t->sync_ops.cnt; i++) {
		const struct sync_op *op = &f->t->sync_ops.items[i];

		if (i && op->tid != op[-1].tid)
			h.cnt = 0;
		if (object_of(f, op)->is_posted)
			continue;
		if (op->kind == SYNC_TAKE || op->kind == SYNC_SHARE)
			hold(f, &h, i);
		else if (op->kind == SYNC_GIVE)
			let_go(f, &h, i);
	}
}

/* ---- all in order of time ---- */

static bool releases(enum sync_kind kind)
{
	return kind == SYNC_GIVE || kind == SYNC_POST;
}

static int by_time(const void *pa, const void *pb, void *arg)
{
	const struct sync_op *ops = arg, *a = &ops[*(const uint32_t *)pa], *b = &ops[*(const uint32_t *)pb];

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	if (releases(a->kind) != releases(b->kind))
		return releases(a->kind) ? -1 : 1;
	return (a > b) - (a < b);
}

static void follow(const struct find *f, uint32_t number)
{
	const struct sync_op *op = &f->t->sync_ops.items[number];
	struct object *o = object_of(f, op);

	if (o->is_posted) {
		o->level += op->kind == SYNC_TAKE ? 1 : -1;
		o->most = o->level > o->most ? o->level : o->most;
		return;
	}
	switch (op->kind) {
	case SYNC_TAKE:
		o->is_bad |= o->alone || o->readers;
		o->alone++;
		break;
	case SYNC_SHARE:
		o->is_bad |= o->alone > 0;
		o->readers++;
		break;
	case SYNC_GIVE:
		if (f->taking_of[number] == NONE)
			break;
		if (f->t->sync_ops.items[f->taking_of[number]].kind == SYNC_SHARE)
			o->readers--;
		else
			o->alone--;
		break;
	default:
		break;
	}
}

static void judge_objects(const struct find *f)
{
	for (uint32_t i = 0; i < f->t->sync_ops.cnt; i++)
		follow(f, f->by_time[i]);
	for (size_t i = 0; i < f->t->sync_objects.cnt; i++) {
		struct object *o = &f->objects[i];

		if (o->is_posted ? o->is_given || o->is_shared || o->is_met || o->most > READERS_MAX : o->is_taken && !o->is_given)
			o->is_bad = true;
		if (o->is_met && o->is_taken)
			o->is_bad = true;
	}
}

/* ---- barriers: the notes of an object are those of one round ---- */

static void find_rounds(const struct find *f)
{
	size_t object_cnt = f->t->sync_objects.cnt;
	_cleanup_(freep) uint32_t *cnt = xcalloc(object_cnt + 1, sizeof(*cnt)), *first = xcalloc(object_cnt + 1, sizeof(*first));
	_cleanup_(freep) uint64_t *last_tid = xcalloc(object_cnt + 1, sizeof(*last_tid));

	for (uint32_t i = 0; i < f->t->sync_ops.cnt; i++) {
		const struct sync_op *op = &f->t->sync_ops.items[i];

		if (op->kind != SYNC_MEET)
			continue;
		if (cnt[op->object]++ && last_tid[op->object] == op->tid)	/* twice in a round: it is none */
			object_of(f, op)->is_bad = true;
		last_tid[op->object] = op->tid;
	}
	for (size_t i = 0; i < object_cnt; i++) {
		f->objects[i].is_bad |= cnt[i] > PARTIES_MAX;
		first[i] = f->p->event_cnt;
		f->p->event_cnt += f->objects[i].is_bad ? 0 : cnt[i];
		last_tid[i] = 0;
	}
	for (uint32_t i = 0; i < f->t->sync_ops.cnt; i++) {
		const struct sync_op *op = &f->t->sync_ops.items[i];

		if (op->kind != SYNC_MEET || object_of(f, op)->is_bad)
			continue;
		f->s->ops[i].use = SYNC_OP_MEET;
		f->s->ops[i].index = first[op->object];
		f->s->ops[i].cnt = cnt[op->object];
		f->s->ops[i].number = (uint32_t)last_tid[op->object]++;
	}
}

/* ---- what the question names ---- */

static uint32_t innermost_at(const struct find *f, const struct sync_op *op)
{
	struct stack_walk w;

	stack_walk_init(&w, f->tl, op->tid, op->since_ns - 1, op->since_ns);
	return stack_walk_next(&w) ? w.innermost : INVOCATION_NONE;
}

static bool is_in_function(const struct find *f, const struct sync_op *op)
{
	uint32_t in = innermost_at(f, op);

	return in != INVOCATION_NONE && strcmp(f->t->functions.items[f->t->invocations.items[in].function].name, f->q->name) == 0;
}

static bool asks_for_locks(const struct find *f)
{
	return f->q->name && (f->q->kind == ASKED_LOCK || f->q->kind == ASKED_WAIT);
}

/* The locks that a function takes; of no function: the lock of that name. */
static void name_objects(const struct find *f)
{
	bool is_function = false;

	for (size_t i = 0; i < f->t->sync_ops.cnt; i++) {
		const struct sync_op *op = &f->t->sync_ops.items[i];

		if ((op->kind != SYNC_TAKE && op->kind != SYNC_SHARE) || object_of(f, op)->is_posted || !is_in_function(f, op))
			continue;
		is_function = true;
		if (f->q->kind == ASKED_LOCK)
			object_of(f, op)->is_target = true;
		else
			f->s->ops[i].is_named = true;
	}
	for (size_t i = 0; !is_function && i < f->t->sync_objects.cnt; i++)
		if (symbol_is_variable(f->t->sync_objects.items[i], f->q->name)) {
			f->objects[i].is_target = f->q->kind == ASKED_LOCK && !f->objects[i].is_posted;
			f->objects[i].is_absent = f->q->kind == ASKED_WAIT;
		}
}

/* ---- steps ---- */

static void add_resources(const struct find *f)
{
	for (size_t i = 0; i < f->t->sync_objects.cnt; i++) {
		struct object *o = &f->objects[i];

		o->resource = (uint32_t)f->p->resources.cnt;
		if (!o->is_bad && !o->is_met)
			VEC_ADD(&f->p->resources, o->is_posted ? (uint32_t)o->most : o->is_shared ? READERS_MAX : 1);
	}
}

static void make_step(const struct find *f, uint32_t number)
{
	const struct sync_op *op = &f->t->sync_ops.items[number];
	struct replay_sync_op *to = &f->s->ops[number];
	const struct object *o = object_of(f, op);
	uint32_t taking = f->taking_of[number];
	bool alone = op->kind == SYNC_GIVE && taking != NONE ? f->t->sync_ops.items[taking].kind == SYNC_TAKE : op->kind == SYNC_TAKE;

	if (o->is_bad || op->kind == SYNC_MEET || (op->kind == SYNC_GIVE && taking == NONE))
		return;
	to->use = SYNC_OP_STEP;
	to->index = o->resource;
	to->is_target = o->is_target;
	to->is_named |= o->is_absent || (op->kind == SYNC_GIVE && f->s->ops[taking].is_named);
	if (releases(op->kind))
		to->op = o->is_shared && alone ? OP_GIVE_ALL : OP_GIVE;
	else
		to->op = o->is_shared && alone ? OP_TAKE_ALL : OP_TAKE;
	f->s->named_cnt += to->is_named;
}

/* ---- waits ---- */

/* Finds the waits that a taking ended: they are in its step. */
static void find_waits(const struct find *f)
{
	VEC(int64_t) delays = { NULL, 0, 0 };
	int64_t usual_ns = 0;

	for (uint32_t i = 0; i < f->t->sync_ops.cnt; i++) {
		const struct sync_op *op = &f->t->sync_ops.items[i];
		uint32_t thread = timeline_thread(f->tl, op->tid);
		size_t k = thread == THREAD_NONE ? SEGMENT_NONE : timeline_segment_before(f->tl, thread, op->ns);
		const struct wakeup *w;

		f->s->ops[i].delay_ns = -1;
		if (f->s->ops[i].use == SYNC_OP_NONE || op->since_ns >= op->ns || k == SEGMENT_NONE)
			continue;
		w = timeline_wakeup(f->tl, thread, op->since_ns, op->ns);
		f->s->ops[i].delay_ns = w ? op->ns - w->time_ns : 0;
		VEC_ADD(&delays, f->s->ops[i].delay_ns);
		for (; k + 1 > f->tl->threads.items[thread].segments.first && f->tl->segments[k].end_ns > op->since_ns; k--) {
			const struct segment *s = &f->tl->segments[k];

			if (s->start_ns >= op->since_ns && s->end_ns <= op->ns && s->state != STATE_RUNNING)
				f->s->op_of_segment[k] = i + 1;
			if (k == 0)
				break;
		}
	}
	if (delays.cnt) {
		qsort(delays.items, delays.cnt, sizeof(*delays.items), compare_int64);
		usual_ns = delays.items[delays.cnt / 2];
	}
	for (size_t i = 0; i < f->s->cnt; i++)
		if (f->s->ops[i].delay_ns < 0)
			f->s->ops[i].delay_ns = usual_ns;
	VEC_RELEASE(&delays);
}

void replay_sync_find(struct replay_sync *s, const struct timeline *tl, size_t segment_cnt, const struct replay_question *q,
		      struct replay_program *p)
{
	const struct trace *t = tl->trace;
	size_t cnt = t->sync_ops.cnt;
	struct find f = { .s = s, .tl = tl, .t = t, .q = q, .p = p };

	*s = (struct replay_sync){ xcalloc(cnt + 1, sizeof(*s->ops)), cnt, xcalloc(segment_cnt + 1, sizeof(uint32_t)), 0 };
	if (!cnt)
		return;
	f.objects = xcalloc(t->sync_objects.cnt + 1, sizeof(*f.objects));
	f.taking_of = xcalloc(cnt + 1, sizeof(*f.taking_of));
	f.by_time = xcalloc(cnt + 1, sizeof(*f.by_time));
	for (uint32_t i = 0; i < cnt; i++)
		f.by_time[i] = i;
	qsort_r(f.by_time, cnt, sizeof(*f.by_time), by_time, t->sync_ops.items);
	pair_releases(&f);
	judge_objects(&f);
	find_rounds(&f);
	if (asks_for_locks(&f))
		name_objects(&f);
	add_resources(&f);
	for (uint32_t i = 0; i < cnt; i++)
		make_step(&f, i);
	find_waits(&f);
	free(f.objects);
	free(f.taking_of);
	free(f.by_time);
}

void replay_sync_release(struct replay_sync *s)
{
	free(s->ops);
	free(s->op_of_segment);
}
