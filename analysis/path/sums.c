/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sums.c - time by key over a part of a rope; whole subtrees keep their sums in their memo.
 *
 * Example: four leaves, f 3 ns, g 2, f 1, f 4.  The root remembers f 8, g 2; asked for all of it, nothing else is
 * looked at; asked for all but the first, the right half's memo and one leaf.
 */
#include "analysis/path/sums.h"

#include "base/map.h"
#include "base/banned.h"

#define MEMO_LEAVES 8			/* smaller subtrees are summed faster without a memo */

struct memo {
	size_t cnt;
	struct { uint32_t slot; int64_t ns; } items[];
};

struct tally {				/* being summed */
	VEC(int64_t) ns;		/* by slot */
	VEC(uint32_t) touched;
};

struct sums {
	const struct timeline *tl;
	struct arena *arena;
	past_key key;
	void *arg;
	struct map *slot_of_key;	/* plus one */
	VEC(uint64_t) keys;		/* by slot */
	struct tally asked, memo;
};

struct sums *sums_new(const struct timeline *tl, struct arena *arena, past_key key, void *arg)
{
	struct sums *s = xcalloc(1, sizeof(*s));

	s->tl = tl;
	s->arena = arena;
	s->key = key;
	s->arg = arg;
	s->slot_of_key = map_new();
	return s;
}

void sums_free(struct sums *s)
{
	if (!s)
		return;
	map_free(s->slot_of_key);
	VEC_RELEASE(&s->keys);
	VEC_RELEASE(&s->asked.ns);
	VEC_RELEASE(&s->asked.touched);
	VEC_RELEASE(&s->memo.ns);
	VEC_RELEASE(&s->memo.touched);
	free(s);
}

static uint32_t slot_of(struct sums *s, uint64_t key)
{
	uint64_t *slot = map_slot(s->slot_of_key, key);

	if (*slot == 0) {
		VEC_ADD(&s->keys, key);
		VEC_ADD(&s->asked.ns, 0);
		VEC_ADD(&s->memo.ns, 0);
		*slot = s->keys.cnt;
	}
	return (uint32_t)(*slot - 1);
}

static void add(struct tally *to, uint32_t slot, int64_t ns)
{
	if (to->ns.items[slot] == 0)
		VEC_ADD(&to->touched, slot);
	to->ns.items[slot] += ns;
}

static void add_leaf(struct sums *s, struct tally *to, const struct rope *r, int64_t start_ns,
		     int64_t end_ns)
{
	enum trace_state state = (enum trace_state)r->state;
	enum thread_kind device = (enum thread_kind)r->device;
	struct stack_walk w;
	uint64_t tid;

	if (r->thread == THREAD_NONE) {
		add(to, slot_of(s, s->key(s->arg, 0, INVOCATION_NONE, state, device)), end_ns - start_ns);
		return;
	}
	tid = s->tl->threads.items[r->thread].tid;
	for (stack_walk_init(&w, s->tl, tid, start_ns, end_ns); stack_walk_next(&w); )
		add(to, slot_of(s, s->key(s->arg, tid, w.innermost, state, device)), w.to_ns - w.from_ns);
}

static void add_part(struct sums *s, struct tally *to, const struct rope *r, int64_t start_ns,
		     int64_t end_ns);

/* Sums all subtrees without a memo from below, so that only one is being summed at a time. */
static const struct memo *memo_of(struct sums *s, const struct rope *r)
{
	struct memo *memo = r->memo;

	if (memo)
		return memo;
	if (r->left->leaf_cnt >= MEMO_LEAVES)
		memo_of(s, r->left);
	if (r->right->leaf_cnt >= MEMO_LEAVES)
		memo_of(s, r->right);
	add_part(s, &s->memo, r->left, r->left->start_ns, r->left->end_ns);
	add_part(s, &s->memo, r->right, r->right->start_ns, r->right->end_ns);
	memo = arena_alloc(s->arena, sizeof(*memo) + s->memo.touched.cnt * sizeof(memo->items[0]));
	for (size_t i = 0; i < s->memo.touched.cnt; i++) {
		uint32_t slot = s->memo.touched.items[i];

		memo->items[memo->cnt].slot = slot;
		memo->items[memo->cnt++].ns = s->memo.ns.items[slot];
		s->memo.ns.items[slot] = 0;
	}
	s->memo.touched.cnt = 0;
	((struct rope *)r)->memo = memo;	/* does not change the rope's contents */
	return memo;
}

static void add_part(struct sums *s, struct tally *to, const struct rope *r, int64_t start_ns,
		     int64_t end_ns)
{
	if (!r || end_ns <= r->start_ns || start_ns >= r->end_ns)
		return;
	if (start_ns < r->start_ns)
		start_ns = r->start_ns;
	if (end_ns > r->end_ns)
		end_ns = r->end_ns;
	if (!r->left) {
		add_leaf(s, to, r, start_ns, end_ns);
	} else if (start_ns == r->start_ns && end_ns == r->end_ns && r->leaf_cnt >= MEMO_LEAVES) {
		const struct memo *memo = memo_of(s, r);

		for (size_t i = 0; i < memo->cnt; i++)
			add(to, memo->items[i].slot, memo->items[i].ns);
	} else {
		add_part(s, to, r->left, start_ns, end_ns);
		add_part(s, to, r->right, start_ns, end_ns);
	}
}

void sums_of(struct sums *s, const struct rope *r, int64_t start_ns, int64_t end_ns,
	     past_sums *ret)
{
	ret->cnt = 0;
	add_part(s, &s->asked, r, start_ns, end_ns);
	for (size_t i = 0; i < s->asked.touched.cnt; i++) {
		uint32_t slot = s->asked.touched.items[i];

		VEC_ADD(ret, (struct past_sum) { s->keys.items[slot], s->asked.ns.items[slot] });
		s->asked.ns.items[slot] = 0;
	}
	s->asked.touched.cnt = 0;
}
