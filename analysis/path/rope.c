/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rope.c - AVL trees with the pieces in the leaves, joined by height.
 *
 * A short rope is joined to a long one where the long one's spine has come down to its height:
 *
 *	join(((a b) (c d)), e) = ((a b) ((c d) e))
 *
 * Nodes on the way down are made anew, the rest is shared.  A height is at most 1.44 log2 of the
 * number of leaves, so recursion is shallow.
 */
#include "analysis/path/rope.h"

#include "base/banned.h"

const struct rope *rope_leaf(struct arena *a, uint32_t thread, enum trace_state state, enum thread_kind device,
			     int64_t start_ns, int64_t end_ns)
{
	struct rope *r;

	if (start_ns >= end_ns)
		return NULL;
	r = ARENA_NEW(a, struct rope, 1);
	r->start_ns = start_ns;
	r->end_ns = end_ns;
	r->leaf_cnt = 1;
	r->thread = thread;
	r->state = (uint8_t)state;
	r->device = (uint8_t)device;
	return r;
}

static const struct rope *node(struct arena *a, const struct rope *left, const struct rope *right)
{
	struct rope *r = ARENA_NEW(a, struct rope, 1);

	r->start_ns = left->start_ns;
	r->end_ns = right->end_ns;
	r->left = left;
	r->right = right;
	r->leaf_cnt = left->leaf_cnt + right->leaf_cnt;
	r->height = (uint8_t)(1 + (left->height > right->height ? left->height : right->height));
	return r;
}

/* Heights differ by at most 2. */
static const struct rope *balanced(struct arena *a, const struct rope *left,
				   const struct rope *right)
{
	if (left->height > right->height + 1) {
		const struct rope *middle = left->right;

		if (left->left->height >= middle->height)
			return node(a, left->left, node(a, middle, right));
		return node(a, node(a, left->left, middle->left), node(a, middle->right, right));
	}
	if (right->height > left->height + 1) {
		const struct rope *middle = right->left;

		if (right->right->height >= middle->height)
			return node(a, node(a, left, middle), right->right);
		return node(a, node(a, left, middle->left), node(a, middle->right, right->right));
	}
	return node(a, left, right);
}

const struct rope *rope_join(struct arena *a, const struct rope *left, const struct rope *right)
{
	if (!left || !right)
		return left ? left : right;
	if (left->height > right->height + 1)
		return balanced(a, left->left, rope_join(a, left->right, right));
	if (right->height > left->height + 1)
		return balanced(a, rope_join(a, left, right->left), right->right);
	return node(a, left, right);
}

const struct rope *rope_cut(struct arena *a, const struct rope *r, int64_t start_ns,
			    int64_t end_ns)
{
	if (!r || end_ns <= r->start_ns || start_ns >= r->end_ns || start_ns >= end_ns)
		return NULL;
	if (start_ns <= r->start_ns && r->end_ns <= end_ns)
		return r;
	if (!r->left)
		return rope_leaf(a, r->thread, (enum trace_state)r->state, (enum thread_kind)r->device,
				 start_ns > r->start_ns ? start_ns : r->start_ns,
				 end_ns < r->end_ns ? end_ns : r->end_ns);
	return rope_join(a, rope_cut(a, r->left, start_ns, end_ns),
			 rope_cut(a, r->right, start_ns, end_ns));
}

const struct rope *rope_of(struct arena *a, const struct rope *const *items, size_t cnt)
{
	if (cnt == 0)
		return NULL;
	if (cnt == 1)
		return items[0];
	return rope_join(a, rope_of(a, items, cnt / 2), rope_of(a, items + cnt / 2, cnt - cnt / 2));
}
