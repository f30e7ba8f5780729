/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * virtual.c - see virtual.h.
 *
 * Goes through all events by time, and keeps each thread's last shift.  Until a thread reports a shift in a block, its shift is
 * that of all threads at the block's begin.
 */
#include <stdlib.h>
#include <string.h>
#include "base/banned.h"
#include "base/map.h"
#include "trace/causal/virtual.h"

struct clock {				/* of a thread */
	uint64_t shift_ns, block;
};

struct open_interval {
	uint64_t key;
	int64_t begin_ns, begin_virtual_ns;
	uint32_t block, depth;		/* depth: BEGINs inside */
	bool is_open;
};

struct joining {
	struct virtual_trace *ret;
	uint64_t label;
	size_t first_block;		/* of this call of virtual_join() */
	bool in_force;			/* the last block is not over */
	uint64_t base_ns;		/* G when it began */
	uint64_t open_ns;		/* G when it was opened */
	struct map *clock_of, *open_of;	/* thread, key: index + 1 */
	VEC(struct clock) clocks;
	VEC(struct open_interval) opens;
};

void virtual_release(struct virtual_trace *v)
{
	VEC_RELEASE(&v->blocks);
	VEC_RELEASE(&v->intervals);
}

static int by_time(const void *x, const void *y)
{
	const struct virtual_event *a = x, *b = y;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static struct virtual_block *last_block(struct joining *j)
{
	return &j->ret->blocks.items[j->ret->blocks.cnt - 1];
}

static void take_block(struct joining *j, const struct virtual_event *e)
{
	enum block_phase phase = (enum block_phase)(e->words[0] & 0xff);
	uint32_t number = (uint32_t)(e->words[0] >> 8);

	if (phase == BLOCK_SET) {
		VEC_ADD(&j->ret->blocks, (struct virtual_block){
			.number = number, .round = (uint32_t)(e->words[1] >> 32), .target = (uint32_t)(e->words[1] >> 16) & 0xffff,
			.speed = (uint32_t)e->words[1] & 0xffff, .begin_ns = INT64_MAX, .end_ns = INT64_MAX, .over_ns = INT64_MAX });
		j->base_ns = e->words[2];
		j->in_force = true;
		return;
	}
	if (!j->in_force || last_block(j)->number != number)
		return;
	if (phase == BLOCK_OPEN) {
		last_block(j)->begin_ns = e->ns;
		j->open_ns = e->words[2];
	} else if (phase == BLOCK_SHUT) {
		last_block(j)->end_ns = e->ns;
		last_block(j)->growth_ns = (int64_t)(e->words[2] - j->open_ns);
	} else if (phase == BLOCK_OVER) {
		last_block(j)->over_ns = e->ns;
		j->in_force = false;
	}
}

static struct clock *clock_of(struct joining *j, uint64_t thread)
{
	uint64_t *index = map_slot(j->clock_of, thread);

	if (!*index) {
		VEC_EXTEND(&j->clocks);
		*index = j->clocks.cnt;
	}
	return &j->clocks.items[*index - 1];
}

static struct open_interval *open_of(struct joining *j, uint64_t key)
{
	uint64_t *index = map_slot(j->open_of, key);

	if (!*index) {
		VEC_EXTEND(&j->opens);
		*index = j->opens.cnt;
	}
	return &j->opens.items[*index - 1];
}

static int64_t virtual_now(struct joining *j, const struct virtual_event *e)
{
	const struct clock *c = clock_of(j, e->thread);

	return e->ns - (int64_t)(c->block == last_block(j)->number ? c->shift_ns : j->base_ns);
}

/* The interval's length will remain unknown.  Its block may be shut later, so judge() decides at the end whether it is late. */
static void give_up(struct joining *j, struct open_interval *o)
{
	if (o->is_open)
		VEC_ADD(&j->ret->intervals, (struct virtual_interval){
			.block = o->block, .begin_ns = o->begin_ns, .real_ns = -1, .virtual_ns = -1 });
	o->is_open = false;
}

static void begin(struct joining *j, const struct virtual_event *e)
{
	struct open_interval *o = open_of(j, e->words[1]);

	if (e->words[2] & BEGIN_AGAIN && o->is_open) {
		o->depth++;
		return;
	}
	give_up(j, o);
	if (!j->in_force)
		return;
	*o = (struct open_interval){ .key = e->words[1], .begin_ns = e->ns, .begin_virtual_ns = virtual_now(j, e),
				     .block = (uint32_t)j->ret->blocks.cnt - 1, .is_open = true };
}

static void end(struct joining *j, const struct virtual_event *e)
{
	struct open_interval *o = open_of(j, e->words[1]);

	if (!o->is_open)
		return;
	if (o->depth) {
		o->depth--;
		return;
	}
	if (!j->in_force || o->block + 1 != j->ret->blocks.cnt) {
		give_up(j, o);
		return;
	}
	o->is_open = false;
	VEC_ADD(&j->ret->intervals, (struct virtual_interval){
		.block = o->block, .begin_ns = o->begin_ns, .real_ns = e->ns - o->begin_ns,
		.virtual_ns = virtual_now(j, e) - o->begin_virtual_ns });
}

static void take_event(struct joining *j, const struct virtual_event *e)
{
	if (e->kind == EVENT_BLOCK)
		take_block(j, e);
	if (e->kind == EVENT_SHIFT)
		*clock_of(j, e->thread) = (struct clock){ e->words[0], e->words[1] };
	if (e->words[0] != j->label || j->ret->blocks.cnt == j->first_block)
		return;
	if (e->kind == EVENT_BEGIN)
		begin(j, e);
	else if (e->kind == EVENT_END)
		end(j, e);
	else if (e->kind == EVENT_DROP)
		open_of(j, e->words[1])->is_open = false;
}

static int by_begin(const void *x, const void *y)
{
	const struct virtual_interval *a = x, *b = y;

	return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

/* Decides which intervals count and which are late, and drops those without an end. */
static void judge(struct virtual_trace *v, size_t first)
{
	size_t kept = first;

	for (size_t i = first; i < v->intervals.cnt; i++) {
		struct virtual_interval iv = v->intervals.items[i];
		struct virtual_block *b = &v->blocks.items[iv.block];
		bool is_in = b->end_ns != INT64_MAX && iv.begin_ns >= b->begin_ns && iv.begin_ns <= b->end_ns;

		if (iv.real_ns < 0) {
			b->late_cnt += is_in;
			continue;
		}
		iv.counts = is_in && b->over_ns != INT64_MAX;
		v->intervals.items[kept++] = iv;
	}
	v->intervals.cnt = kept;
	if (kept > first)
		qsort(v->intervals.items + first, kept - first, sizeof(v->intervals.items[0]), by_begin);
}

void virtual_join(virtual_events *events, uint64_t label, struct virtual_trace *ret)
{
	struct joining j = { .ret = ret, .label = label, .first_block = ret->blocks.cnt, .clock_of = map_new(), .open_of = map_new() };
	size_t first = ret->intervals.cnt;

	if (events->cnt)
		qsort(events->items, events->cnt, sizeof(events->items[0]), by_time);
	for (size_t i = 0; i < events->cnt; i++)
		take_event(&j, &events->items[i]);
	for (size_t i = 0; i < j.opens.cnt; i++)
		give_up(&j, &j.opens.items[i]);
	judge(ret, first);
	map_free(j.clock_of);
	map_free(j.open_of);
	VEC_RELEASE(&j.clocks);
	VEC_RELEASE(&j.opens);
}
