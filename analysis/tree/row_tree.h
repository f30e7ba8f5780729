/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * row_tree.h - a row as a tree: its places with all places above them, parents first, each with its whole time.
 *
 * Private to analysis/.  Example: interval > f > body 5, f > g > body 3; the row is (body of f, 5) (body of g, 3):
 *
 *	list	interval 8   f 8   body of f 5   g 3   body of g 3
 *	parent	-            0     1             1     3
 *
 * Adding up from the end takes one step per place, however deep it lies.
 */
#ifndef ANALYSIS_TREE_ROW_TREE_H
#define ANALYSIS_TREE_ROW_TREE_H

#include "analysis/tree/variance_tree.h"

struct listed {				/* a place that took time in the row */
	int64_t ns;			/* its whole subtree */
	uint32_t place;
	uint32_t parent;		/* index in the list; of the first, itself */
};

struct tree_place {
	uint32_t parent, at;		/* at: index in the list, if it is there */
};

struct row_tree {
	VEC(struct listed) list;	/* of the last row; begins with the interval, if not empty */
	/* private */
	VEC(struct tree_place) places;
	VEC(uint32_t) above;
};

void row_tree_fill(struct row_tree *r, const struct vtree *v, const cells *row);
void row_tree_release(struct row_tree *r);

/* Index in the list, or NODE_NONE. */
static inline uint32_t row_tree_find(const struct row_tree *r, uint32_t place)
{
	uint32_t at = r->places.items[place].at;

	return at < r->list.cnt && r->list.items[at].place == place ? at : NODE_NONE;
}

#endif
