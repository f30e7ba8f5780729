/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tree_lines.h - decides which nodes of a variance tree get a line, and where it is.  Private to report/.
 */
#ifndef REPORT_VIEWS_TREE_LINES_H
#define REPORT_VIEWS_TREE_LINES_H

#include "report/style.h"

/* A line is a node with the functions that lead to it, or the sum of nodes without a line. */
struct tree_line {
	char *branch;			/* "│ ├─ ", "" for the root */
	uint32_t head, node;		/* a chain of functions, from head down to node; mostly the same.
					 * The figures are node's.  NODE_NONE: a sum */
	size_t rest_cnt;		/* of a sum: the number of its nodes, and their totals */
	double rest_share, rest_mean_ns;
	uint32_t by;			/* of a sum: blames of one function, that of this node; NODE_NONE: of any nodes */
};
typedef VEC(struct tree_line) tree_lines;

/*
 * Appends the lines of f, which has nodes, top down.  The shares and means of the lines below a line
 * add up to its own, unless the depth ends there or nothing below is as large as min_share.
 * Returns whether a chain is among them.
 */
bool tree_lines_make(const struct findings *f, const struct view_options *o, const struct glyphs *g,
		     tree_lines *ret);
void tree_lines_release(tree_lines *lines);

#endif
