/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recover.c - saves the records that a killed recorder had not written yet.
 *
 * Its arena is still there, for an hour at least unless room is short: with full chunks, with those that
 * threads had begun, with the frames that were open.  All of it is appended after the last whole block of the
 * trace.  The only loss are the records that the recorder had taken out of the arena but not written, at most
 * 100 ms of them; it noted how many and of when (struct arena_held), so that intervals that lack some of them
 * count as lost.
 *
 *	trace.vpt	... | functions | chunks | ha|		the half block is cut off
 *	arena		held: 4711 records from tick 900 to 950; 3 full chunks; thread 7: 41 records
 *	trace.vpt	... | functions | chunks | functions | loss 900-950 of 4711, 3 chunks, 41 records | anchor
 *
 * There is still no BLOCK_END, since no recorder saw the recording end.  A program that lives on leaves the
 * recording.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "drainer/drain.h"

/* This is an upper bound: a recorder may have been killed after the write but before it noted that. */
static void tell_loss(struct drainer *d)
{
	struct arena_control *c = d->arena.control;
	struct arena_held held = c->held;
	uint64_t lost_cnt = c->lost_cnt, lost_since = c->lost_since;

	held.serial += !held.serial;
	if (held.cnt)
		drain_event(d, held.serial, held.pid, held.tid, EVENT_LOSS, held.until,
			    (const uint64_t[]){ held.since, held.cnt });
	if (lost_cnt)
		drain_event(d, held.serial, held.pid, held.tid, EVENT_LOSS, clock_ticks(),
			    (const uint64_t[]){ lost_since, lost_cnt });
}

/* All or nothing: nothing is taken out of the arena, so it can be done again. */
static int add_rest(struct drainer *d)
{
	uint64_t bytes = d->file.bytes;
	int r = 0;

	__atomic_store_n(&d->arena.control->recording, RECORDING_OVER, __ATOMIC_RELEASE);
	tell_loss(d);
	drain_left(d);
	drain_flush(d);
	drain_tables(d);
	drain_anchor(d, false);
	if (d->file.full)
		r = d->file.error ? -d->file.error : -EIO;
	if (r && !ftruncate(d->file.fd, (off_t)bytes))
		d->file.bytes = bytes;
	return r;
}

static int recover(struct drainer *d, const char *arena_path)
{
	int r = drain_take_over(d, arena_path);

	if (!r)
		r = trace_file_reopen(&d->file, d->trace_path, TRACE_MAGIC, TRACE_VERSION);
	if (!r)
		r = add_rest(d);
	if (r)
		*d->arena_path = '\0';		/* keeps the arena */
	else
		drain_leave_arena(d);
	return r;
}

int drainer_recover(const char *arena_path, const char *trace_path, struct drainer_stats *ret, struct diag *reterr)
{
	struct drainer *d = drain_new(trace_path);
	int r = d ? recover(d, arena_path) : -ENOMEM;

	if (d && ret)
		*ret = d->stats;
	if (d)
		drain_free(d);
	if (!r || r == -ENOENT || r == -EBUSY || r == -EBADMSG)
		return r;
	diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot write what '%s' still has into '%s': %s", arena_path,
		 trace_path, strerror(-r));
	return diag_remedy(reterr, r, "free some space, then run the command again: it stays where it is until then");
}
