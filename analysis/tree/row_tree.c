/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * row_tree.c - a row as a tree; the idea and an example are in row_tree.h.
 */
#include "analysis/tree/row_tree.h"

#include "base/banned.h"

/* A place always keeps its parent. */
static void make_room(struct row_tree *r, const struct vtree *v)
{
	while (r->places.cnt < v->places.cnt) {
		uint32_t parent = v->places.items[r->places.cnt].parent;

		VEC_EXTEND(&r->places)->parent = parent;
	}
}

static void list_place(struct row_tree *r, uint32_t place, int64_t ns)
{
	uint32_t parent = r->places.items[place].parent;

	r->places.items[place].at = (uint32_t)r->list.cnt;
	VEC_ADD(&r->list, (struct listed){ ns, place, parent == NODE_NONE ? 0 : r->places.items[parent].at });
}

void row_tree_fill(struct row_tree *r, const struct vtree *v, const cells *row)
{
	make_room(r, v);
	r->list.cnt = 0;
	for (size_t c = 0; c < row->cnt; c++) {
		uint32_t place = row->items[c].place, i = r->places.items[place].parent;

		for (r->above.cnt = 0; i != NODE_NONE && row_tree_find(r, i) == NODE_NONE; i = r->places.items[i].parent)
			VEC_ADD(&r->above, i);
		while (r->above.cnt)
			list_place(r, r->above.items[--r->above.cnt], 0);
		list_place(r, place, row->items[c].ns);
	}
	for (size_t k = r->list.cnt; k-- > 1; )
		r->list.items[r->list.items[k].parent].ns += r->list.items[k].ns;
}

void row_tree_release(struct row_tree *r)
{
	VEC_RELEASE(&r->list);
	VEC_RELEASE(&r->places);
	VEC_RELEASE(&r->above);
}
