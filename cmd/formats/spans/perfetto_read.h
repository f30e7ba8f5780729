/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perfetto_read.h - the events of a Perfetto trace: the protocol buffers that its SDK, tracebox, Android and Chrome write.
 *
 * Read are track events with their tracks, names that stand in another packet (interned), clocks, defaults of a sequence, compressed
 * packets, and beginnings and ends in the older form (LegacyEvent).  What the kernel's scheduler did is left out.
 */
#ifndef CMD_FORMATS_SPANS_PERFETTO_READ_H
#define CMD_FORMATS_SPANS_PERFETTO_READ_H

#include "base/alloc.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "cmd/formats/spans/perfetto_clocks.h"

struct perfetto_track {
	uint64_t uuid;
	const char *name;		/* NULL: it has none */
	bool is_thread;
	uint32_t pid, tid;		/* of a thread */
};

/* What our own export notes at an event; numbers are 0 and texts NULL if they are absent. */
struct perfetto_notes {
	uint64_t sid, thread, waker, line;
	int64_t wake_ns;
	const char *wait, *file, *kind;
	bool has_sid, has_thread, has_waker;
};

enum perfetto_phase { PERFETTO_BEGIN, PERFETTO_END, PERFETTO_WHOLE, PERFETTO_INSTANT };

struct perfetto_event {
	enum perfetto_phase phase;
	bool is_async;			/* track is a number of its own kind, of an older event with an id */
	uint64_t track;			/* uuid */
	const char *name, *category;	/* NULL: none */
	struct perfetto_time time;
	int64_t duration_ns;		/* PERFETTO_WHOLE */
	const struct perfetto_notes *notes;	/* NULL: none */
};

struct perfetto {
	struct arena *arena;		/* of all texts */
	VEC(struct perfetto_event) events;	/* in the order of the file */
	VEC(struct perfetto_track) tracks;
	struct map *track_of;		/* uuid -> index + 1 */
	struct perfetto_clocks *clocks;
	uint64_t incomplete;		/* packets left out: what they refer to was lost with packets before them */
	bool is_own;			/* vprof export wrote it */
};

struct perfetto *perfetto_read(const char *path, const char *data, size_t len, struct diag *reterr);	/* NULL: EXIT_DATA names the byte */
void perfetto_free(struct perfetto *p);
DEFINE_CLEANUP(struct perfetto *, perfetto_free);

const struct perfetto_track *perfetto_track(const struct perfetto *p, uint64_t uuid);	/* NULL: it is not described */

#endif
