/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c - writes what readers need besides records: anchors of the clock, functions and labels, counts of what is missing.
 */
#include <string.h>
#include <time.h>
#include "base/banned.h"
#include "drainer/drain.h"

enum { ANCHORS_MAX = 1 << 13 };

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void put_anchors(struct drainer *d, size_t from)
{
	d->table.len = 0;
	for (size_t i = from; i < d->anchors.cnt; i++) {
		encode_varint(&d->table, d->anchors.items[i].ticks);
		encode_varint(&d->table, d->anchors.items[i].mono);
		encode_varint(&d->table, d->anchors.items[i].real);
	}
}

void drain_anchors(struct drainer *d)
{
	put_anchors(d, 0);
	trace_file_block(&d->file, BLOCK_ANCHORS, d->table.data, d->table.len);
}

/* The narrowest of some brackets: an interruption in between would move the anchor. */
void drain_anchor(struct drainer *d, bool last)
{
	uint64_t best = UINT64_MAX, ticks = 0, mono = 0, real = 0;

	for (unsigned int i = 0; i < 5; i++) {
		uint64_t before = clock_ticks(), now = clock_ns(CLOCK_MONOTONIC);
		uint64_t after = clock_ticks();

		if (after - before < best) {
			best = after - before;
			ticks = before + best / 2;
			mono = now;
			real = clock_ns(CLOCK_REALTIME) - (clock_ns(CLOCK_MONOTONIC) - now);
		}
	}
	if (d->anchors.cnt == ANCHORS_MAX) {
		d->anchors.cnt /= 2;
		memmove(d->anchors.items, d->anchors.items + d->anchors.cnt, d->anchors.cnt * sizeof(*d->anchors.items));
	}
	VEC_ADD(&d->anchors, (struct drain_anchor){ ticks, mono, real });
	put_anchors(d, d->anchors.cnt - 1);
	(last ? trace_file_last : trace_file_block)(&d->file, BLOCK_ANCHORS, d->table.data, d->table.len);
}

static void put_text(struct drainer *d, uint32_t offset)
{
	const char *text = d->arena.text + offset % ARENA_TEXT_BYTES;

	encode_text(&d->table, text, strnlen(text, ARENA_TEXT_BYTES - offset % ARENA_TEXT_BYTES));
}

/* Writes a table in blocks of whole entries; leaves out an entry that fits into no block. */
static void flush_table(struct drainer *d, enum trace_block_kind kind)
{
	trace_file_block(&d->file, kind, d->table.data, d->table.len);
	d->table.len = 0;
}

static void put_function(struct drainer *d, uint32_t fid)
{
	const struct arena_function *f = &d->arena.functions[fid];

	encode_varint(&d->table, fid);
	encode_varint(&d->table, f->key);
	encode_varint(&d->table, f->line);
	encode_varint(&d->table, f->level);
	put_text(d, f->name);
	put_text(d, f->file);
}

static void put_label(struct drainer *d, uint32_t id)
{
	encode_varint(&d->table, id);
	put_text(d, d->arena.labels[id].name);
}

static void put_entry(struct drainer *d, enum trace_block_kind kind, uint32_t number,
		      void (*put)(struct drainer *d, uint32_t number))
{
	for (int i = 0; i < 2; i++) {
		size_t len = d->table.len;

		put(d, number);
		if (!d->table.full)
			return;
		d->table.full = false;
		d->table.len = len;
		flush_table(d, kind);
	}
}

static uint64_t dropped_cnt(const struct arena_control *c, uint64_t table)
{
	switch (table) {
	case TABLE_NOTES:
		return __atomic_load_n(&c->unnamed_cnt, __ATOMIC_RELAXED);
	case TABLE_STRANGERS:
		return c->stranger_cnt;
	default:
		return __atomic_load_n(&c->dropped[table], __ATOMIC_RELAXED);
	}
}

/* Writes how many entries each table had no room for, if that changed. */
static void put_tables(struct drainer *d, bool all)
{
	static const uint64_t sizes[TRACE_TABLE_CNT] = {
		[TABLE_FUNCTIONS] = ARENA_FUNCTIONS - 1, [TABLE_LABELS] = ARENA_LABELS - 1, [TABLE_TEXT] = ARENA_TEXT_BYTES,
		[TABLE_THREADS] = ARENA_SLOTS, [TABLE_CALLS] = VPROF_STACK_FRAMES - 1,
		[TABLE_LOCKS] = THREAD_HOLDS
	};

	for (uint64_t i = 0; i < TRACE_TABLE_CNT; i++) {
		uint64_t cnt = dropped_cnt(d->arena.control, i);

		if (cnt == (all ? 0 : d->dropped_written[i]))
			continue;
		d->dropped_written[i] = cnt;
		encode_varint(&d->table, i);
		encode_varint(&d->table, sizes[i]);
		encode_varint(&d->table, cnt);
	}
	(all ? trace_file_last : trace_file_block)(&d->file, BLOCK_TABLES, d->table.data, d->table.len);
	d->table.len = 0;
}

void drain_tables(struct drainer *d)
{
	struct arena_control *c = d->arena.control;
	uint32_t *at = &d->functions_written;

	d->table.len = 0;
	put_tables(d, false);
	if (!drain_has_tables(d))
		return;
	while (*at < c->function_cnt && *at + 1 < ARENA_FUNCTIONS &&
	       __atomic_load_n(&d->arena.functions[*at + 1].ready, __ATOMIC_ACQUIRE))
		put_entry(d, BLOCK_FUNCTIONS, ++*at, put_function);
	flush_table(d, BLOCK_FUNCTIONS);
	at = &d->labels_written;
	while (*at < c->label_cnt && *at + 1 < ARENA_LABELS &&
	       __atomic_load_n(&d->arena.labels[*at + 1].ready, __ATOMIC_ACQUIRE))
		put_entry(d, BLOCK_LABELS, ++*at, put_label);
	flush_table(d, BLOCK_LABELS);
}

/* A name of a place that calls a function has the function's in it, before a control character (runtime/shared/probe_sites.h). */
uint32_t drain_function_cnt(const struct drainer *d)
{
	uint32_t cnt = 0;

	for (uint32_t fid = 1; fid <= d->arena.control->function_cnt && fid < ARENA_FUNCTIONS; fid++) {
		uint32_t at = d->arena.functions[fid].name % ARENA_TEXT_BYTES;

		cnt += !memchr(d->arena.text + at, PLACE_IN_NAME, strnlen(d->arena.text + at, ARENA_TEXT_BYTES - at));
	}
	return cnt;
}

void drain_end(struct drainer *d)
{
	struct arena_control *c = d->arena.control;
	uint64_t since = c->lost_since, lost_cnt = c->lost_cnt + d->dropped_cnt + d->dropped_lost;

	if (d->dropped_cnt + d->dropped_lost && (!since || d->dropped_since < since))
		since = d->dropped_since;
	d->stats.dropped_records = d->dropped_cnt;
	d->stats.lost_records += lost_cnt;
	d->table.len = 0;
	put_tables(d, true);
	encode_varint(&d->table, lost_cnt);
	encode_varint(&d->table, since);
	trace_file_last(&d->file, BLOCK_END, d->table.data, d->table.len);
}
