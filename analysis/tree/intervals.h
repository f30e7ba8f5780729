/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * intervals.h - which intervals count, and one walk over them.
 *
 * Private to analysis/.
 */
#ifndef ANALYSIS_TREE_INTERVALS_H
#define ANALYSIS_TREE_INTERVALS_H

#include "analysis/tree/rows.h"
#include "analysis/tree/variance_tree.h"

#define LONGEST_LATENCY_NS ((int64_t)1 << 46)	/* 19.5 hours; see intervals_longest_allowed() */

struct counted_intervals {		/* of one name */
	uint64_t in_full, completed;	/* with complete records; completed: root-only ones, too */
	uint64_t open, aborted, bad_path, lost;	/* left out */
	__int128 waited_ns, no_waker_ns;	/* time in waits that another thread ends; and the part with an
						 * unknown waker */
	__int128 io_waited_ns, io_no_waker_ns;	/* the same for waits for files, which a disk may end */
};

/* Index of the name, or -ENOENT.  NULL: the one with the most completed intervals, ties by
 * name; *ret is NAME_NONE if there is no name at all.  by_name: names->cnt of them. */
int intervals_choose_counted(const strings *names, const struct counted_intervals *by_name,
			     const char *name, uint32_t *ret);
int intervals_choose(const struct trace *t, const char *name, uint32_t *ret);

/* The intervals of a trace by name, each name's in order, in one pass over all. */
struct interval_lists {
	const struct trace *t;
	uint32_t *order;		/* indexes of t->intervals */
	size_t *first;			/* of name i: order[first[i] .. first[i + 1] - 1] */
};
void interval_lists_make(struct interval_lists *l, const struct trace *t);
void interval_lists_release(struct interval_lists *l);
size_t interval_lists_cnt(const struct interval_lists *l, uint32_t name);

/* The longest latency that can be summed up exactly with those of all others of that name. */
int64_t intervals_longest_allowed(const struct interval_lists *l, uint32_t name);

/* Receives an interval; root-only: its row is empty. */
typedef void (*interval_taker)(void *arg, const struct interval *iv, const cells *row);

/* Calls the taker for each completed interval of that name, with the rows by v, in order of start and SID. */
void intervals_walk(const struct timeline *tl, const struct interval_lists *l, uint32_t name, int64_t longest_ns,
		    struct vtree *v, struct counted_intervals *counted, interval_taker take, void *arg);

/* All of them in one sorted trace, for views that read it again.  NULL as above; -ENOENT. */
int intervals_walk_all(struct trace *t, const char *name, struct vtree *v, interval_taker take, void *arg);

#endif
