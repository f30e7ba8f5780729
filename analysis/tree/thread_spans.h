/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * thread_spans.h - the span in which each thread is known, for a trace that comes in windows.
 *
 * Private to analysis/.  Example: thread 4711 has segments 10..30 in one window, 10..40 and 40..70 in the next
 * one: it is known until 70.
 */
#ifndef ANALYSIS_TREE_THREAD_SPANS_H
#define ANALYSIS_TREE_THREAD_SPANS_H

#include "trace/archive.h"
#include "base/map.h"
#include "trace/model.h"

struct lives {
	int64_t first_ns;		/* of all threads; INT64_MAX: there is no segment at all */
	struct map *last;		/* tid -> index in lasts_ns + 1 */
	VEC(int64_t) lasts_ns;
};

struct lives *lives_new(void);
void lives_free(struct lives *l);
DEFINE_CLEANUP(struct lives *, lives_free);

/* Adds the segments of a sorted trace, some of which may be known already. */
void lives_add(struct lives *l, const struct trace *t);
/* Writes all, or reads what was written. */
void lives_archive(struct lives *l, struct archive *a);
/* A thread of another trace, under its number here: its last moment, and the first one of all threads there. */
typedef uint64_t (*lives_renumber)(const void *arg, uint64_t tid);
void lives_join(struct lives *to, const struct lives *from, lives_renumber tid_of, const void *arg);
/* INT64_MIN: unknown. */
int64_t lives_until(const struct lives *l, uint64_t tid);

#endif
