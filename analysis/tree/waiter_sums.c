/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * waiter_sums.c - adds up an interval's waits by the probed function, the class of the wait and the caller of what blocked.
 */
#include "analysis/tree/waiter_sums.h"

#include "analysis/path/timeline.h"
#include "base/map.h"
#include "base/banned.h"

struct waiter_sums *waiter_sums_new(void)
{
	struct waiter_sums *s = xcalloc(1, sizeof(*s));

	s->index_of = map_new();
	return s;
}

void waiter_sums_free(struct waiter_sums *s)
{
	if (!s)
		return;
	map_free(s->index_of);
	VEC_RELEASE(&s->list);
	VEC_RELEASE(&s->touched);
	free(s);
}

static void charge(struct waiter_sums *s, uint32_t function, const struct piece *p, int64_t ns)
{
	uint64_t *at = map_slot(s->index_of, hash_u64(hash_u64(hash_u64(0, function), p->caller), p->wait));
	struct waiter_sum *sum;

	if (!*at) {
		VEC_ADD(&s->list, (struct waiter_sum){ .function = function, .caller = p->caller, .wait = p->wait });
		*at = s->list.cnt;
	}
	sum = &s->list.items[*at - 1];
	if (!sum->row_ns)
		VEC_ADD(&s->touched, (uint32_t)*at - 1);
	sum->row_ns += ns;
}

void waiter_sums_add(struct waiter_sums *s, const struct timeline *tl, const pieces *path, int64_t latency_ns,
		     uint32_t weight)
{
	for (size_t i = 0; i < path->cnt; i++) {
		const struct piece *p = &path->items[i];
		struct stack_walk w;

		if (!p->caller || p->end_ns <= p->start_ns)
			continue;
		for (stack_walk_init(&w, tl, p->owner_tid, p->start_ns, p->end_ns); stack_walk_next(&w); )
			charge(s, w.innermost == INVOCATION_NONE ? FUNCTION_NONE :
				  tl->trace->invocations.items[w.innermost].function, p, w.to_ns - w.from_ns);
	}
	for (size_t i = 0; i < s->touched.cnt; i++) {
		struct waiter_sum *sum = &s->list.items[s->touched.items[i]];

		sum->x += (__int128)sum->row_ns * weight;
		sum->xt += (__int128)sum->row_ns * latency_ns * weight;
		sum->row_ns = 0;
	}
	s->touched.cnt = 0;
}
