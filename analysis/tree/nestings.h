/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * nestings.h - which functions were recorded directly inside which: what a run shows of the call graph.
 *
 * Private to analysis/.
 */
#ifndef ANALYSIS_TREE_NESTINGS_H
#define ANALYSIS_TREE_NESTINGS_H

#include "analysis/path/timeline.h"
#include "trace/archive.h"

struct nesting {
	uint32_t caller, callee;	/* indexes into trace.functions */
	bool inside;			/* seen in one interval that was recorded in full */
};

struct nestings {
	VEC(struct nesting) list;	/* after nestings_finish() each pair once, inside if ever seen so */
	/* private */
	struct map *known;
	struct map *partial;		/* SIDs of intervals that ended, not recorded in full */
	struct pending *pending;
	size_t pending_cnt, pending_cap;
};

struct nestings *nestings_new(void);
void nestings_free(struct nestings *n);
DEFINE_CLEANUP(struct nestings *, nestings_free);

/*
 * Adds the window's invocations that ended after before_ns, or are under way.  until_ns: the window's end; an
 * invocation that goes on longer, without an interval yet, is left for the next window.  The window's intervals are
 * all that ended by then.
 */
void nestings_add(struct nestings *n, const struct timeline *tl, int64_t before_ns, int64_t until_ns);

/* Writes what nestings_finish() found, or reads it, of another trace with that many functions; then adds it, functions[its own numbers]. */
void nestings_archive(struct nestings *n, struct archive *a, uint32_t function_cnt);
void nestings_join(struct nestings *to, const struct nestings *from, const uint32_t *functions);

/* No more windows.  The list is in order of caller, inside first, callee. */
void nestings_finish(struct nestings *n);

#endif
