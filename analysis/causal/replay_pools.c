/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay_pools.c - finds the threads of each pool, and the begin and end of each worker's tasks. */
#include "analysis/causal/replay_pools.h"

#include <stdlib.h>

#include "base/banned.h"
#include "base/saturate.h"

#define NONE UINT32_MAX

void replay_pools_add(struct replay_pools *p, uint32_t worker, uint32_t creator)
{
	VEC_ADD(&p->pairs, (struct replay_pair){ worker, creator });
}

void replay_pools_release(struct replay_pools *p)
{
	VEC_RELEASE(&p->pairs);
	VEC_RELEASE(&p->tasks);
	VEC_RELEASE(&p->units);
}

/* Union-find over the threads: a worker joins the set of its creators' workers. */
static uint32_t root_of(uint32_t *of, uint32_t i)
{
	while (of[i] != i)
		i = of[i] = of[of[i]];
	return i;
}

/* The pool of each thread; NONE: the thread picks up no tasks. */
static uint32_t *find_pools(struct replay_pools *p, const struct timeline *tl)
{
	size_t cnt = tl->threads.cnt;
	_cleanup_(freep) uint32_t *set = xcalloc(cnt + 1, sizeof(*set)), *first = xcalloc(cnt + 1, sizeof(*first));
	_cleanup_(freep) uint32_t *pool_of = xcalloc(cnt + 1, sizeof(*pool_of));
	uint32_t *pools = xcalloc(cnt + 1, sizeof(*pools));

	for (uint32_t i = 0; i < cnt; i++) {
		set[i] = i;
		first[i] = pool_of[i] = pools[i] = NONE;
	}
	for (size_t i = 0; i < p->pairs.cnt; i++) {
		uint32_t worker = p->pairs.items[i].worker, *of_creator = &first[p->pairs.items[i].creator];

		*of_creator = *of_creator == NONE ? worker : *of_creator;
		set[root_of(set, worker)] = root_of(set, *of_creator);
	}
	for (size_t i = 0; i < p->pairs.cnt; i++) {
		uint32_t worker = p->pairs.items[i].worker, root = root_of(set, worker);

		if (pools[worker] != NONE)
			continue;
		if (pool_of[root] == NONE) {
			pool_of[root] = (uint32_t)p->units.cnt;
			VEC_ADD(&p->units, 0);
		}
		pools[worker] = pool_of[root];
		p->units.items[pools[worker]]++;
	}
	return pools;
}

/* The wait for work after which the thread did nothing but run until it picked up the task; NULL: there is none. */
static const struct segment *idle_before(const struct timeline *tl, uint32_t thread, int64_t from_ns, int64_t floor_ns)
{
	const struct thread_line *l = &tl->threads.items[thread];
	size_t k = timeline_segment_before(tl, thread, from_ns);

	for (; k != SEGMENT_NONE && k >= l->segments.first; k--) {
		const struct segment *s = &tl->segments[k];

		if (s->start_ns < floor_ns)
			return NULL;
		if (s->state == STATE_COND || s->state == STATE_QUEUE || s->state == STATE_IO || s->state == STATE_LOCK)
			return s;
		if (s->state != STATE_RUNNING && !state_is_runqueue(s->state))
			return NULL;
		if (k == 0)
			break;
	}
	return NULL;
}

static struct replay_task task_of(const struct timeline *tl, const struct replay_mark *m, uint32_t pool, int64_t floor_ns)
{
	const struct segment *idle = idle_before(tl, m->thread, m->ns, floor_ns);
	const struct segment *first = &tl->segments[tl->threads.items[m->thread].segments.first];
	struct replay_task t = { m->thread, m->index, pool, m->ns, m->ns, 0 };

	if (m->ns <= first->start_ns)			/* the thread was made for it */
		t.delay_ns = m->ns - m->created_ns;
	/* It waited for this task, or for one that another worker took: either way it was free when the task came. */
	if (!idle || m->created_ns < idle->start_ns)
		return t;
	t.idle_ns = idle->start_ns;
	t.delay_ns = m->ns - m->created_ns;
	return t;
}

void replay_pools_finish(struct replay_pools *p, const struct timeline *tl, const replay_marks *marks)
{
	_cleanup_(freep) uint32_t *pools = find_pools(p, tl);
	_cleanup_(freep) int64_t *waited = xcalloc(p->units.cnt + 1, sizeof(*waited));

	for (size_t i = 0; i < marks->cnt; i++) {
		const struct replay_mark *m = &marks->items[i];
		const struct replay_task *last = p->tasks.cnt ? &p->tasks.items[p->tasks.cnt - 1] : NULL;
		const struct thread_line *l = &tl->threads.items[m->thread];
		struct replay_task t;

		if (m->kind != MARK_PICK_UP)
			continue;
		t = task_of(tl, m, pools[m->thread],
			    last && last->thread == m->thread ? last->from_ns : tl->segments[l->segments.first].start_ns);
		waited[t.pool] = sum_saturated(waited[t.pool], m->ns - m->created_ns - t.delay_ns);
		VEC_ADD(&p->tasks, t);
	}
	p->busiest = NONE;
	for (uint32_t i = 0; i < p->units.cnt; i++)
		if (waited[i] > p->busiest_ns) {
			p->busiest = i;
			p->busiest_ns = waited[i];
		}
}
