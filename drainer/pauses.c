/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pauses.c - a recording that stops for a while, and goes on.
 *
 * The arena says so, and each thread closes its gate when it meets an interval's beginning or needs a chunk;
 * then it looks at one word, at events and waits, until that says to go on.  They do not all do so at once,
 * so the trace notes a span, slightly longer than the pause, in which records are incomplete.
 *
 *	pause	from = now, then "paused"	written at once: { from, 0 }
 *	resume	until = now, then "on"		{ from, until }
 *
 * An interval that began after until was begun by a thread that had seen the word, and so have the threads
 * that it hands the interval to: each reads the word after the one before did.
 */
#include <time.h>
#include "drainer/drain.h"

void drain_pauses(struct drainer *d)
{
	d->table.len = 0;
	for (size_t i = 0; i < d->pauses.cnt; i++) {
		size_t len = d->table.len;

		encode_varint(&d->table, d->pauses.items[i].from);
		encode_varint(&d->table, d->pauses.items[i].until);
		if (!d->table.full)
			continue;
		d->table.full = false;
		d->table.len = 0;
		trace_file_block(&d->file, BLOCK_PAUSES, d->table.data, len);
		i--;
	}
	trace_file_block(&d->file, BLOCK_PAUSES, d->table.data, d->table.len);
	d->table.len = 0;
}

/* Completes the last pause; what is in the file already is not repeated. */
static void tell_last(struct drainer *d)
{
	const struct drain_pause *last = &d->pauses.items[d->pauses.cnt - 1];

	d->table.len = 0;
	encode_varint(&d->table, last->from);
	encode_varint(&d->table, last->until);
	trace_file_block(&d->file, BLOCK_PAUSES, d->table.data, d->table.len);
	d->table.len = 0;
}

/* False: the word had another value; the program may end the recording meanwhile. */
static bool change(struct drainer *d, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&d->arena.control->recording, &from, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

bool drainer_pause(struct drainer *d)
{
	uint64_t now = clock_ticks();

	if (!change(d, RECORDING_ON, RECORDING_PAUSED))
		return false;
	VEC_ADD(&d->pauses, (struct drain_pause){ now, 0 });
	tell_last(d);
	return true;
}

/* Any process that can write to the arena can set "paused" there; only our own pause counts. */
static bool is_paused(const struct drainer *d)
{
	return d->pauses.cnt && !d->pauses.items[d->pauses.cnt - 1].until;
}

bool drainer_resume(struct drainer *d)
{
	uint64_t now;

	d->resume_ns = 0;
	if (is_paused(d) && d->look)
		d->look(d->look_arg, d, d->child);
	now = clock_ticks();
	if (!is_paused(d) || !change(d, RECORDING_PAUSED, RECORDING_ON))
		return false;
	d->pauses.items[d->pauses.cnt - 1].until = now;
	tell_last(d);
	return true;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void drain_pauses_start(struct drainer *d, const struct drainer_options *o)
{
	d->look = o->look;
	d->look_arg = o->look_arg;
	if (!o->start_paused && !o->delay_ns)
		return;
	drainer_pause(d);
	d->resume_ns = o->delay_ns ? now_ns() + o->delay_ns : 0;
}

void drain_pauses_turn(struct drainer *d, uint64_t now)
{
	if (d->resume_ns && now >= d->resume_ns)
		drainer_resume(d);
}
