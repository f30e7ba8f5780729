/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay.c - runs strands as discrete events.
 *
 * A heap holds the strands that will continue at a known time.  The earliest one continues, for as long as it stays the earliest.
 * A strand that waits for a resource or an event is in its list; the release moves it into the heap.
 */
#include "analysis/causal/replay.h"

#include <string.h>

#include "base/banned.h"
#include "base/saturate.h"

#define NONE UINT32_MAX

struct list {				/* of waiting strands, linked by struct state's next */
	uint32_t first, last;
};

struct state {
	size_t at;			/* its current step */
	uint32_t next;
	bool was_woken;			/* to try its TAKE again */
	bool has_cpu;			/* one of cpu_cnt */
	int64_t done_ns, ran_ns;	/* of its WORK; since it has the CPU */
};

struct entry {
	int64_t ns;
	uint64_t order;
	uint32_t strand;
};

struct world {
	const struct replay_program *p;
	struct replay_times *times;
	struct state *states;
	struct list *resource_lists, *event_lists;
	uint32_t *units;		/* free ones of each resource */
	struct list cpu_list;		/* strands that could work */
	uint32_t cpus_free;
	bool *posted;
	struct entry *heap;
	size_t heap_cnt;
	uint64_t order;
};

/* ---- the heap ---- */

static bool is_before(const struct entry *a, const struct entry *b)
{
	return a->ns != b->ns ? a->ns < b->ns : a->order < b->order;
}

static void heap_add(struct world *w, uint32_t strand, int64_t ns)
{
	struct entry e = { ns, w->order++, strand };
	size_t i = w->heap_cnt++;

	for (; i && is_before(&e, &w->heap[(i - 1) / 2]); i = (i - 1) / 2)
		w->heap[i] = w->heap[(i - 1) / 2];
	w->heap[i] = e;
}

static struct entry heap_take(struct world *w)
{
	struct entry first = w->heap[0], e = w->heap[--w->heap_cnt];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < w->heap_cnt) {
		if (child + 1 < w->heap_cnt && is_before(&w->heap[child + 1], &w->heap[child]))
			child++;
		if (!is_before(&w->heap[child], &e))
			break;
		w->heap[i] = w->heap[child];
		i = child;
	}
	w->heap[i] = e;
	return first;
}

/* ---- lists of waiting strands ---- */

static void list_add(struct world *w, struct list *l, uint32_t strand)
{
	w->states[strand].next = NONE;
	if (l->first == NONE)
		l->first = strand;
	else
		w->states[l->last].next = strand;
	l->last = strand;
}

static void list_add_first(struct world *w, struct list *l, uint32_t strand)
{
	w->states[strand].next = l->first;
	if (l->first == NONE)
		l->last = strand;
	l->first = strand;
}

static uint32_t list_take(struct world *w, struct list *l)
{
	uint32_t strand = l->first;

	if (strand != NONE)
		l->first = w->states[strand].next;
	return strand;
}

/* ---- steps ---- */

/* When the strand continues: now, at a later time, or when another strand releases it. */
enum then { THEN_NOW, THEN_LATER, THEN_LET_GO };

/* Steps that take a time of their own. */
static enum then pass_time(struct state *s, const struct replay_step *step, int64_t *now)
{
	*now = sum_saturated(*now, step->ns);
	s->at++;
	return THEN_LATER;
}

static enum then wait_in(struct world *w, struct list *l, uint32_t strand)
{
	list_add(w, l, strand);
	return THEN_LET_GO;
}

/* The strand that waits for it longest gets it. */
static void give_cpu(struct world *w, uint32_t strand, int64_t now)
{
	uint32_t next;

	if (!w->states[strand].has_cpu)
		return;
	w->states[strand].has_cpu = false;
	next = list_take(w, &w->cpu_list);
	if (next == NONE) {
		w->cpus_free++;
		return;
	}
	w->states[next].has_cpu = true;
	w->states[next].ran_ns = 0;
	heap_add(w, next, now);
}

/* Does a part of the step at a time, so that a strand that comes meanwhile waits for at most a slice. */
static enum then work(struct world *w, uint32_t strand, const struct replay_step *step, int64_t *now)
{
	struct state *s = &w->states[strand];
	int64_t ns = step->ns - s->done_ns;

	if (s->has_cpu && s->ran_ns >= w->p->slice_ns && w->cpu_list.first != NONE)
		give_cpu(w, strand, *now);
	else if (!s->has_cpu && w->cpus_free) {
		w->cpus_free--;
		s->has_cpu = true;
		s->ran_ns = 0;
	}
	if (!s->has_cpu)
		return wait_in(w, &w->cpu_list, strand);
	if (s->ran_ns >= w->p->slice_ns)
		s->ran_ns = 0;
	if (ns > w->p->slice_ns - s->ran_ns)
		ns = w->p->slice_ns - s->ran_ns;
	s->done_ns += ns;
	s->ran_ns += ns;
	*now = sum_saturated(*now, ns);
	if (s->done_ns == step->ns) {
		s->done_ns = 0;
		s->at++;
	}
	return THEN_LATER;
}

static const struct replay_step *current_step(const struct world *w, uint32_t strand)
{
	return &w->p->steps.items[w->p->strands.items[strand].first + w->states[strand].at];
}

static uint32_t units_of(const struct world *w, const struct replay_step *step)
{
	return step->op == OP_TAKE_ALL || step->op == OP_GIVE_ALL ? w->p->resources.items[step->index] : 1;
}

static enum then take(struct world *w, uint32_t strand, const struct replay_step *step)
{
	struct list *l = &w->resource_lists[step->index];
	struct state *s = &w->states[strand];
	uint32_t units = units_of(w, step);

	if (w->units[step->index] < units || !units) {
		if (s->was_woken)
			list_add_first(w, l, strand);
		else
			list_add(w, l, strand);
		return THEN_LET_GO;
	}
	w->units[step->index] -= units;
	s->was_woken = false;
	s->at++;
	return THEN_NOW;
}

/* Passes the units to the strands that waited longest; their TAKEs are done, or they are on their way. */
static void give(struct world *w, const struct replay_step *step, int64_t now)
{
	struct list *l = &w->resource_lists[step->index];
	uint32_t left;

	w->units[step->index] += units_of(w, step);
	left = w->units[step->index];
	while (l->first != NONE) {
		uint32_t next = l->first, wants;
		const struct replay_step *asked = current_step(w, next);

		wants = units_of(w, asked);
		if (wants > left)
			return;
		list_take(w, l);
		left -= wants;
		if (asked->ns) {
			w->states[next].was_woken = true;
		} else {
			w->units[step->index] -= wants;
			w->states[next].at++;
		}
		heap_add(w, next, sum_saturated(now, asked->ns));
	}
}

static void post(struct world *w, uint32_t event, int64_t now)
{
	uint32_t next;

	w->posted[event] = true;
	while ((next = list_take(w, &w->event_lists[event])) != NONE) {
		heap_add(w, next, sum_saturated(now, current_step(w, next)->ns));
		w->states[next].at++;
	}
}

static enum then do_step(struct world *w, uint32_t strand, const struct replay_step *step, int64_t *now)
{
	struct state *s = &w->states[strand];

	switch (step->op) {
	case OP_WORK:
		return w->p->cpu_cnt ? work(w, strand, step, now) : pass_time(s, step, now);
	case OP_OFF:
		give_cpu(w, strand, *now);
		return pass_time(s, step, now);
	case OP_TAKE:
	case OP_TAKE_ALL:
		return take(w, strand, step);
	case OP_GIVE:
	case OP_GIVE_ALL:
		give(w, step, *now);
		break;
	case OP_AWAIT:
		if (!w->posted[step->index])
			return wait_in(w, &w->event_lists[step->index], strand);
		break;
	case OP_POST:
		post(w, step->index, *now);
		break;
	case OP_BEGIN:
		w->times->begin_ns[step->index] = *now;
		break;
	case OP_END:
		w->times->end_ns[step->index] = *now;
		break;
	}
	s->at++;
	return THEN_NOW;
}

static void go_on(struct world *w, uint32_t strand, int64_t now)
{
	const struct replay_strand *x = &w->p->strands.items[strand];
	struct state *s = &w->states[strand];

	while (s->at < x->cnt) {
		enum then then = do_step(w, strand, &w->p->steps.items[x->first + s->at], &now);

		if (then == THEN_LET_GO) {
			give_cpu(w, strand, now);
			return;
		}
		if (then == THEN_LATER && w->heap_cnt && w->heap[0].ns <= now) {
			heap_add(w, strand, now);
			return;
		}
	}
	give_cpu(w, strand, now);
}

static struct list *lists_new(size_t cnt)
{
	struct list *lists = xcalloc(cnt + 1, sizeof(*lists));

	for (size_t i = 0; i < cnt; i++)
		lists[i].first = NONE;
	return lists;
}

static void world_init(struct world *w, const struct replay_program *p, struct replay_times *ret)
{
	size_t cnt = p->interval_cnt;

	*ret = (struct replay_times){ xcalloc(cnt + 1, sizeof(int64_t)), xcalloc(cnt + 1, sizeof(int64_t)), 0 };
	for (size_t i = 0; i < cnt; i++)
		ret->begin_ns[i] = ret->end_ns[i] = REPLAY_NEVER;
	*w = (struct world){
		.p = p, .times = ret,
		.states = xcalloc(p->strands.cnt + 1, sizeof(struct state)),
		.resource_lists = lists_new(p->resources.cnt), .event_lists = lists_new(p->event_cnt),
		.units = xcalloc(p->resources.cnt + 1, sizeof(uint32_t)), .posted = xcalloc(p->event_cnt + 1, sizeof(bool)),
		.heap = xcalloc(p->strands.cnt + 1, sizeof(struct entry)),
		.cpu_list = { NONE, NONE }, .cpus_free = p->cpu_cnt,
	};
	if (p->resources.cnt)
		memcpy(w->units, p->resources.items, p->resources.cnt * sizeof(*w->units));
}

void replay_run(const struct replay_program *p, struct replay_times *ret)
{
	struct world w;

	world_init(&w, p, ret);
	for (size_t i = 0; i < p->strands.cnt; i++)
		heap_add(&w, (uint32_t)i, p->strands.items[i].start_ns);
	while (w.heap_cnt) {
		struct entry e = heap_take(&w);

		go_on(&w, e.strand, e.ns);
	}
	for (size_t i = 0; i < p->strands.cnt; i++)
		ret->stuck_cnt += w.states[i].at < p->strands.items[i].cnt;
	free(w.states);
	free(w.resource_lists);
	free(w.event_lists);
	free(w.units);
	free(w.posted);
	free(w.heap);
}

void replay_times_release(struct replay_times *t)
{
	free(t->begin_ns);
	free(t->end_ns);
}

void replay_program_release(struct replay_program *p)
{
	VEC_RELEASE(&p->steps);
	VEC_RELEASE(&p->strands);
	VEC_RELEASE(&p->resources);
}
