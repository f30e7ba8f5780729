/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.c - parts come and go; heads are written.
 *
 * With --keep 30s a part lasts 3.75 s.  At 10:15:37.5 a new one begins; the part of 10:15:00 is gone by the
 * end, since the next one began at 10:15:03.75 and 30 s ago is later than that.  Its last record was of
 * 10:15:03.74: a reader that finds this cut believes no record before.
 *
 * A part that was drained at 10:15:33 may hold the records of a thread that does little, of hours ago. They
 * are before the cut, as all records of that time are.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/file.h"
#include "base/map.h"
#include "drainer/drain.h"

enum {
	PARTS = 8,			/* so that an eighth too much is kept */
	PART_BYTES_MIN = 1 << 16,
	KNOWN_MAX = 1 << 15,		/* known threads; with more, those that ended before the cut are forgotten */
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static char *part_path(const char *trace_path, uint32_t number)
{
	size_t bytes = strlen(trace_path) + 16;
	char *path = xmalloc(bytes);

	snprintf(path, bytes, "%s.%06u", trace_path, number);
	return path;
}

static void write_window(struct drainer *d, uint64_t until_ticks)
{
	d->table.len = 0;
	encode_varint(&d->table, d->ring.cut_ticks);
	encode_varint(&d->table, until_ticks);
	encode_varint(&d->table, d->ring.keep_ns);
	trace_file_block(&d->file, BLOCK_WINDOW, d->table.data, d->table.len);
}

static void write_known(struct drainer *d)
{
	for (size_t i = 0; i < d->ring.known.cnt; i++) {
		const struct ring_known *k = &d->ring.known.items[i];

		drain_event(d, k->serial, k->pid, k->tid, k->kind, k->ticks, k->words);
	}
	drain_flush(d);
}

static struct ring_part *current(struct ring *r)
{
	return &r->parts.items[r->parts.cnt - 1];
}

static void remove_parts(struct drainer *d, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		char *path = part_path(d->trace_path, d->ring.parts.items[i].number);

		unlink(path);
		free(path);
	}
	d->ring.parts.cnt -= cnt;
	if (cnt && d->ring.parts.cnt)
		contents_forget(&d->contents, d->ring.parts.items[cnt].first_number);
	memmove(d->ring.parts.items, d->ring.parts.items + cnt, d->ring.parts.cnt * sizeof(struct ring_part));
}

/* How many of the oldest parts are no longer needed; moves the cut after them. */
static size_t choose_old(struct drainer *d, uint64_t now)
{
	struct ring *r = &d->ring;
	uint64_t bytes = 0, most = r->keep_bytes - r->keep_bytes / PARTS;
	size_t cnt = 0;

	if (d->has_ended)
		return 0;
	for (size_t i = 0; i < r->parts.cnt; i++)
		bytes += r->parts.items[i].bytes;
	for (; cnt < r->parts.cnt; cnt++) {
		const struct ring_part *p = &r->parts.items[cnt];
		uint64_t next_ns = cnt + 1 < r->parts.cnt ? p[1].opened_ns : now;

		if (!(r->keep_ns && next_ns + r->keep_ns < now) && !(r->keep_bytes && bytes > most))
			break;
		bytes -= p->bytes;
		if (p->until_ticks > r->cut_ticks)
			r->cut_ticks = p->until_ticks;
	}
	return cnt;
}

static int open_part(struct drainer *d, uint32_t number)
{
	char *path = part_path(d->trace_path, number);
	int r = trace_file_open(&d->file, path, TRACE_MAGIC, TRACE_VERSION);
	uint64_t bytes = 0;

	for (size_t i = 0; i < d->ring.parts.cnt; i++)
		bytes += d->ring.parts.items[i].bytes;
	if (d->limit_bytes)
		d->file.limit = bytes < d->limit_bytes ? d->limit_bytes - bytes : 1;
	d->file.number = d->ring.closed_number;
	free(path);
	return r;
}

/* The new part notes where the trace is cut before the old parts are deleted. */
static int next_part(struct drainer *d)
{
	struct ring *r = &d->ring;
	uint64_t now = now_ns();
	uint32_t number = r->parts.cnt ? current(r)->number + 1 : 1;
	size_t old;
	int e;

	if (r->parts.cnt) {
		drain_flush(d);
		drain_anchor(d, true);
		current(r)->bytes = d->file.bytes;
	}
	r->closed_number = d->file.number;
	trace_file_close(&d->file);
	old = choose_old(d, now);
	d->file = (struct trace_file){ .fd = -1 };
	e = open_part(d, number);
	if (e) {			/* no file, or no room: deleting the oldest may make some */
		trace_file_close(&d->file);
		d->file.full = true;
		d->file.error = -e;
	} else {
		VEC_ADD(&r->parts, (struct ring_part){ number, 0, now, 0, r->closed_number + 1 });
		d->functions_written = d->labels_written = 0;
		write_window(d, 0);
		drain_anchor(d, false);
		drain_pauses(d);
		write_known(d);
	}
	remove_parts(d, old);
	return e;
}

int ring_open(struct drainer *d)
{
	d->ring.is_on = true;
	write_window(d, 0);
	drain_anchor(d, false);
	return next_part(d);
}

static uint64_t last_ticks(const struct contents *c)
{
	uint64_t ticks = 0;

	for (size_t i = 0; i < c->blocks.cnt; i++)
		if (c->blocks.items[i].until > ticks)
			ticks = c->blocks.items[i].until;
	return ticks;
}

/* The trace so far becomes the first part. */
static int begin_parts(struct drainer *d)
{
	char *first = part_path(d->trace_path, 1);
	struct trace_file own = d->file;
	int r = rename(d->trace_path, first) ? -errno : 0;

	free(first);
	if (r)
		return r;
	VEC_ADD(&d->ring.parts, (struct ring_part){ 1, own.bytes, now_ns(), last_ticks(&d->contents), 1 });
	d->file = (struct trace_file){ .fd = -1 };
	r = trace_file_open(&d->file, d->trace_path, TRACE_MAGIC, TRACE_VERSION);
	if (!r)
		write_window(d, 0);
	trace_file_close(&d->file);
	d->file = own;
	d->ring.is_on = true;
	return r;
}

void ring_turn(struct drainer *d)
{
	struct ring *r = &d->ring;
	uint64_t part_bytes = r->keep_bytes / PARTS < PART_BYTES_MIN ? PART_BYTES_MIN : r->keep_bytes / PARTS;

	if (!r->is_on || d->file.full)
		return;
	if ((r->keep_ns && now_ns() - current(r)->opened_ns >= r->keep_ns / PARTS) ||
	    (r->keep_bytes && d->file.bytes >= part_bytes))
		next_part(d);
}

void ring_failed(struct drainer *d)
{
	struct ring *r = &d->ring;

	if (d->record_until > r->cut_ticks)
		r->cut_ticks = d->record_until;
	if (r->parts.cnt > 1) {
		if (r->parts.items[0].until_ticks > r->cut_ticks)
			r->cut_ticks = r->parts.items[0].until_ticks;
		remove_parts(d, 1);
	}
	d->records.len = 0;
	d->record_cnt = d->record_since = d->record_until = 0;
	r->is_failing = true;
	next_part(d);
	r->is_failing = false;
}

/* Forgets threads that can have no more records: they ended before the cut. */
static void forget_known(struct ring *r)
{
	_cleanup_(map_freep) struct map *ended = map_new();
	size_t cnt = 0;
	uint64_t at;

	for (size_t i = 0; i < r->known.cnt; i++)
		if (r->known.items[i].kind == EVENT_STOP && r->known.items[i].ticks < r->cut_ticks)
			map_set(ended, r->known.items[i].serial, 1);
	for (size_t i = 0; i < r->known.cnt; i++) {
		const struct ring_known *k = &r->known.items[i];

		if (!map_get(ended, k->kind == EVENT_CREATE ? k->words[0] : k->serial, &at))
			r->known.items[cnt++] = *k;
	}
	r->known.cnt = cnt;
}

void ring_note(struct drainer *d, const struct ring_known *known)
{
	struct ring *r = &d->ring;

	if (r->known.cnt >= KNOWN_MAX && r->known.cnt % KNOWN_MAX == 0)
		forget_known(r);
	VEC_ADD(&r->known, *known);
}

/* Does not touch d->file.  live: also writes what threads hold now, which will be drained again. */
static int write_head(struct drainer *d, const char *path, uint64_t until_ticks, bool live)
{
	struct drainer_stats stats = d->stats;
	uint64_t dropped_cnt = d->dropped_cnt, dropped_since = d->dropped_since, dropped_lost = d->dropped_lost;
	uint64_t dropped_until = d->dropped_until;
	struct trace_file own = d->file;
	uint32_t functions = d->functions_written, labels = d->labels_written;
	size_t blocks = d->contents.blocks.cnt, serials = d->contents.serials.cnt;
	int r;

	d->file = (struct trace_file){ .fd = -1 };
	r = trace_file_open(&d->file, path, TRACE_MAGIC, TRACE_VERSION);
	if (!r) {
		d->functions_written = d->labels_written = 0;
		d->file.number = d->ring.closed_number;
		d->contents.hidden = blocks;
		while (d->contents.hidden && d->contents.blocks.items[d->contents.hidden - 1].number > d->file.number)
			d->contents.hidden--;
		d->contents.hidden_cnt = blocks - d->contents.hidden;
		d->is_head = true;
		write_window(d, until_ticks);
		drain_pauses(d);
		write_known(d);
		if (live)
			drain_live(d);
		drain_flush(d);
		drain_anchors(d);
		contents_write(d);
		drain_anchor(d, true);
		drain_end(d);
		d->is_head = false;
		if (d->file.full)
			r = d->file.error ? -d->file.error : -ENOSPC;
	}
	if (trace_file_close(&d->file) && !r)
		r = -errno;
	d->file = own;
	d->functions_written = functions;
	d->labels_written = labels;
	d->contents.hidden_cnt = 0;
	d->contents.blocks.cnt = blocks;
	d->contents.serials.cnt = serials;
	if (live) {
		if (!r)
			d->anchors.cnt--;	/* only this head has it: elsewhere times would be others by a ns */
		d->stats = stats;
		d->dropped_cnt = dropped_cnt;
		d->dropped_since = dropped_since;
		d->dropped_until = dropped_until;
		d->dropped_lost = dropped_lost;
	}
	return r;
}

int ring_close(struct drainer *d)
{
	drain_anchor(d, true);
	d->ring.closed_number = d->file.number;
	trace_file_close(&d->file);
	d->file.bytes = 0;
	return write_head(d, d->trace_path, clock_ticks(), false);
}

static int link_or_copy(const char *from, const char *to)
{
	return link(from, to) ? copy_file(from, to) : 0;
}

static int link_parts(struct drainer *d, const char *path, size_t from)
{
	int r = 0;

	for (size_t i = from; !r && i + 1 < d->ring.parts.cnt; i++) {	/* the last one has begun just now */
		char *own = part_path(d->trace_path, d->ring.parts.items[i].number);
		char *to = part_path(path, d->ring.parts.items[i].number);

		r = link_or_copy(own, to);
		free(own);
		free(to);
	}
	return r;
}

/* As a head whose trace begins with the part at `from`. */
static int write_head_from(struct drainer *d, const char *path, size_t from, uint64_t until_ticks)
{
	struct ring *r = &d->ring;
	uint64_t cut_ticks = r->cut_ticks;
	int e;

	for (size_t i = 0; i < from; i++)
		if (r->parts.items[i].until_ticks > r->cut_ticks)
			r->cut_ticks = r->parts.items[i].until_ticks;
	d->contents.from_number = from ? r->parts.items[from].first_number : 0;
	e = write_head(d, path, until_ticks, true);
	d->contents.from_number = 0;
	r->cut_ticks = cut_ticks;
	return e;
}

int drainer_cut(struct drainer *d, const char *path, uint32_t first_part, uint32_t *ret_next, struct diag *reterr)
{
	uint64_t until = clock_ticks();
	size_t from = 0;
	int r = 0;

	drain_full(d);
	drain_flush(d);
	accounts_write(d);
	if (!d->ring.is_on)
		r = begin_parts(d);
	if (!r)
		r = next_part(d);
	while (!r && from + 1 < d->ring.parts.cnt && d->ring.parts.items[from].number < first_part)
		from++;
	if (!r)
		r = write_head_from(d, path, from, until);
	if (!r)
		r = link_parts(d, path, from);
	if (!r)
		*ret_next = current(&d->ring)->number;
	return r ? diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot write the snapshot '%s': %s", path,
			    strerror(-r)) : 0;
}

int drainer_snapshot(struct drainer *d, const char *path, struct diag *reterr)
{
	uint32_t next;

	return drainer_cut(d, path, 0, &next, reterr);
}

void ring_release(struct ring *r)
{
	VEC_RELEASE(&r->parts);
	VEC_RELEASE(&r->known);
}
