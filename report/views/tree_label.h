/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tree_label.h - what a line of a variance tree is called, in the columns there are.  Private to report/.
 */
#ifndef REPORT_VIEWS_TREE_LABEL_H
#define REPORT_VIEWS_TREE_LABEL_H

#include "report/views/tree_lines.h"

struct tree_label {
	VEC(char *) names;		/* cleaned; of a chain several, the line's own last */
	char *shorter;			/* the last one without what may go, or NULL */
	const char *mark;		/* " +", or "" */
	const struct glyphs *g;
};

struct tree_label tree_label_make(const struct findings *f, const struct tree_line *l, bool utf8);
void tree_label_release(struct tree_label *l);

/* The columns it needs to be recognised, and those it should have: of a chain with its first name. */
size_t tree_label_least(const struct tree_label *l);
size_t tree_label_wanted(const struct tree_label *l);

/* Appends as much of it as width columns hold; width 0: all of it. */
void tree_label_add(struct str *to, const struct tree_label *l, size_t width);

/* The function's name; with its call site where a sibling has the same one: "f (a.c:12)".
 * The caller frees it. */
char *label_among_siblings(const struct findings *f, const struct node *n, bool utf8);

#endif
