/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain.h - the drainer's own parts: records on their way into the trace file.
 */
#ifndef RUNTIME_DRAIN_H
#define RUNTIME_DRAIN_H

#include "runtime/arena.h"
#include "runtime/drainer.h"
#include "trace/encode.h"
#include "trace/file.h"
#include "trace/format.h"

struct drainer {
	struct trace_file file;
	struct arena_map arena;
	size_t arena_bytes;
	int arena_fd;			/* locked while we live: who finds it unlocked may remove it */
	char arena_path[4096], env[4096 + sizeof(ARENA_ENV) + 1];
	struct encoder records, one;	/* a block of chunks; one chunk */
	uint64_t record_cnt, record_since;	/* in records; the earliest of them (ticks) */
	uint64_t dropped_cnt, dropped_since;	/* for which the file had no room */
	struct encoder table;
	uint32_t functions_written, labels_written;
	struct drainer_stats stats;
};

/* new_arena.c: 0 or a negative errno */
int drain_make_arena(struct drainer *d, const struct drainer_options *o);
void drain_remove_arena(struct drainer *d);	/* the file; processes that map it keep it */

/* drainer.c */
void drain_tables(struct drainer *d);	/* functions and labels that are new */

/* drain.c */
bool drain_full(struct drainer *d);	/* all full chunks; false: there were none */
void drain_dead(struct drainer *d);	/* what ended processes left behind */
void drain_rest(struct drainer *d);	/* everything that is still held, at the end */
void drain_flush(struct drainer *d);	/* what was collected, into the file */

#endif
