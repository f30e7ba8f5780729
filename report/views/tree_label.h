/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tree_label.h - the label of a line of a variance tree, fitted to the available columns.  Private to report/.
 */
#ifndef REPORT_VIEWS_TREE_LABEL_H
#define REPORT_VIEWS_TREE_LABEL_H

#include "report/views/tree_lines.h"

struct tree_label {
	VEC(char *) names;		/* cleaned; a chain has several, the line's own last */
	char *shorter;			/* the last one without its dispensable part, or NULL */
	const char *mark;		/* " +", or "" */
	const struct glyphs *g;
};

struct tree_label tree_label_make(const struct findings *f, const struct tree_line *l, bool utf8);
void tree_label_release(struct tree_label *l);

/* The columns it needs to be recognisable, and those it should have: for a chain with its first name. */
size_t tree_label_least(const struct tree_label *l);
size_t tree_label_wanted(const struct tree_label *l);

/* Appends as much of it as fits into width columns; width 0: all of it. */
void tree_label_add(struct str *to, const struct tree_label *l, size_t width);

/* The function's name; with its call site if a sibling has the same name: "f (a.c:12)".  The caller frees it. */
char *label_among_siblings(const struct findings *f, const struct node *n, bool utf8);

#endif
