/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_perfetto.c - `vprof export --format perfetto`: the protocol buffers of ui.perfetto.dev.
 *
 * Each thread has a track, with calls and waits as slices and arrows from their wakers; a waker without a slice at that time, as a
 * thread that works for no interval, a device or a peer, has an instant.  A track "intervals" has as many tracks below it as intervals
 * overlap.  Times are CLOCK_MONOTONIC.  What a trace needs to come back (spans/perfetto_own.h) stands in notes at the events.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/banned.h"
#include "base/map.h"
#include "base/search.h"
#include "cmd/formats/export_format.h"
#include "cmd/formats/pieces/protobuf.h"
#include "cmd/formats/pieces/slices.h"

/* Field numbers of the public schema. */
enum {
	TRACE_PACKET = 1,
	PACKET_TIMESTAMP = 8, PACKET_SEQUENCE_ID = 10, PACKET_TRACK_EVENT = 11, PACKET_SEQUENCE_FLAGS = 13,
	PACKET_CLOCK_ID = 58, PACKET_TRACK_DESCRIPTOR = 60,
	EVENT_NOTES = 4, EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_CATEGORIES = 22, EVENT_NAME = 23, EVENT_FLOW_IDS = 47,
	EVENT_TERMINATING_FLOW_IDS = 48,
	NOTE_UINT = 3, NOTE_TEXT = 6, NOTE_NAME = 10,
	TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5,
	PROCESS_PID = 1, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5,
	TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, CLOCK_MONOTONIC_ID = 3, SEQUENCE = 1, STATE_CLEARED = 1
};

#define TRACK_INTERVALS 1ULL		/* uuids; those of threads follow */
#define TRACK_LANES 0x100ULL
#define TRACK_THREADS 0x100000000ULL

static void put_packet(FILE *out, const struct str *packet)
{
	_cleanup_(str_release) struct str field = STR_INIT;

	pb_message(&field, TRACE_PACKET, packet);
	fwrite(field.data, 1, field.len, out);
}

static void put_track(FILE *out, uint64_t uuid, uint64_t parent, const char *name, const struct str *thread)
{
	_cleanup_(str_release) struct str track = STR_INIT, packet = STR_INIT;

	pb_varint(&track, TRACK_UUID, uuid);
	if (parent)
		pb_varint(&track, TRACK_PARENT, parent);
	if (name)
		pb_text(&track, TRACK_NAME, name);
	if (thread)
		pb_message(&track, TRACK_THREAD, thread);
	pb_varint(&packet, PACKET_SEQUENCE_ID, SEQUENCE);
	pb_message(&packet, PACKET_TRACK_DESCRIPTOR, &track);
	put_packet(out, &packet);
}

static void note_number(struct str *more, const char *name, uint64_t value)
{
	_cleanup_(str_release) struct str note = STR_INIT;

	pb_text(&note, NOTE_NAME, name);
	pb_varint(&note, NOTE_UINT, value);
	pb_message(more, EVENT_NOTES, &note);
}

static void note_text(struct str *more, const char *name, const char *text)
{
	_cleanup_(str_release) struct str note = STR_INIT;

	pb_text(&note, NOTE_NAME, name);
	pb_text(&note, NOTE_TEXT, text);
	pb_message(more, EVENT_NOTES, &note);
}

/* name: NULL for an end.  more: fields of the event, or NULL. */
static void put_event(FILE *out, unsigned type, uint64_t track, int64_t ns, const char *name, const char *category, const struct str *more)
{
	_cleanup_(str_release) struct str event = STR_INIT, packet = STR_INIT;

	pb_varint(&event, EVENT_TYPE, type);
	pb_varint(&event, EVENT_TRACK, track);
	if (name) {
		pb_text(&event, EVENT_CATEGORIES, category);
		pb_text(&event, EVENT_NAME, name);
	}
	if (more)
		str_addn(&event, str_cstr(more), more->len);
	pb_varint(&packet, PACKET_TIMESTAMP, (uint64_t)ns);
	pb_varint(&packet, PACKET_CLOCK_ID, CLOCK_MONOTONIC_ID);
	pb_varint(&packet, PACKET_SEQUENCE_ID, SEQUENCE);
	pb_message(&packet, PACKET_TRACK_EVENT, &event);
	put_packet(out, &packet);
}

/* ---- threads ---- */

static const struct thread_name *find_thread(const struct trace *t, uint64_t tid)
{
	const struct thread_name *x = t->threads.items;

	for (size_t i = partition_point(k, t->threads.cnt, x[k].tid < tid); i < t->threads.cnt && x[i].tid == tid; i++)
		if (x[i].name)
			return &x[i];
	return NULL;
}

/* The schema's threads have 32 bits; devices and peers have larger numbers. */
static bool is_schema_thread(uint64_t tid)
{
	return tid <= INT32_MAX;
}

/* One track per thread; its uuid is TRACK_THREADS plus its place in this list. */
static uint64_t thread_track(FILE *out, const struct trace *t, struct map *tracks, uint64_t tid)
{
	_cleanup_(str_release) struct str thread = STR_INIT;
	uint64_t *slot = map_slot(tracks, tid), uuid = *slot;
	const struct thread_name *known;

	if (uuid)
		return uuid;
	uuid = *slot = TRACK_THREADS + map_cnt(tracks);
	known = find_thread(t, tid);
	if (!is_schema_thread(tid)) {
		put_track(out, uuid, 0, known ? known->name : "outside", NULL);
		return uuid;
	}
	pb_varint(&thread, THREAD_PID, thread_pid(t, tid) & INT32_MAX);
	pb_varint(&thread, THREAD_TID, tid);
	if (known)
		pb_text(&thread, THREAD_NAME, known->name);
	put_track(out, uuid, 0, NULL, &thread);
	return uuid;
}

static void note_thread(struct str *more, uint64_t tid)
{
	if (!is_schema_thread(tid))
		note_number(more, "vprof.thread", tid);
}

/* Arrows; each is named by the place of its wait, from 1. */
struct arrows {
	size_t *first, *next;		/* lists by the waker's slice; 0: end */
};

static void read_arrows(const slices *list, struct arrows *ret)
{
	ret->first = xcalloc(list->cnt + 1, sizeof(*ret->first));
	ret->next = xcalloc(list->cnt + 1, sizeof(*ret->next));
	for (size_t i = 0; i < list->cnt; i++) {
		size_t waker = list->items[i].waker;

		if (waker == SLICE_NONE)
			continue;
		ret->next[i] = ret->first[waker];
		ret->first[waker] = i + 1;
	}
}

/* The end of an arrow that begins in no slice. */
static void put_outside_waker(FILE *out, const struct trace *t, struct map *tracks, const struct slice *s, uint64_t flow)
{
	_cleanup_(str_release) struct str more = STR_INIT;
	const struct thread_name *waker = find_thread(t, s->waker_tid);

	pb_fixed64(&more, EVENT_FLOW_IDS, flow);
	note_thread(&more, s->waker_tid);
	if (waker && waker->kind != KIND_THREAD)
		note_text(&more, "vprof.kind", thread_kind_name(waker->kind));
	put_event(out, TYPE_INSTANT, thread_track(out, t, tracks, s->waker_tid), s->wake_ns, "wakes", "wakeup", &more);
}

static void note_wait(struct str *more, const struct slice *s)
{
	note_text(more, "vprof.wait", trace_state_name(s->wait));
	if (!s->has_waker)
		return;
	note_number(more, "vprof.waker", s->waker_tid);
	note_number(more, "vprof.wake_ns", (uint64_t)s->wake_ns);
}

static void note_call(struct str *more, const struct function *f)
{
	if (!f->file)
		return;
	note_text(more, "file", f->file);
	if (f->line)
		note_number(more, "line", f->line);
}

static void put_slice(FILE *out, const struct trace *t, struct map *tracks, const slices *list, size_t at, const struct arrows *arrows)
{
	_cleanup_(str_release) struct str more = STR_INIT;
	const struct slice *s = &list->items[at];

	for (size_t id = arrows->first[at]; id; id = arrows->next[id - 1])
		pb_fixed64(&more, EVENT_FLOW_IDS, id);
	if (s->has_waker)
		pb_fixed64(&more, EVENT_TERMINATING_FLOW_IDS, at + 1);
	if (s->sid != SID_NONE)
		note_number(&more, "vprof.sid", s->sid);
	note_thread(&more, s->tid);
	if (s->is_wait)
		note_wait(&more, s);
	else
		note_call(&more, &t->functions.items[s->function]);
	put_event(out, TYPE_BEGIN, thread_track(out, t, tracks, s->tid), s->start_ns, slice_name(t, s), s->is_wait ? "wait" : "function", &more);
	if (s->has_waker && s->waker == SLICE_NONE)
		put_outside_waker(out, t, tracks, s, at + 1);
}

static void put_slices(FILE *out, const struct trace *t, struct map *tracks, const slices *list)
{
	VEC(size_t) open = { NULL, 0, 0 };
	struct arrows arrows;

	read_arrows(list, &arrows);
	for (size_t i = 0; i <= list->cnt; i++) {
		const struct slice *s = i < list->cnt ? &list->items[i] : NULL;

		while (open.cnt) {
			const struct slice *top = &list->items[open.items[open.cnt - 1]];

			if (s && top->tid == s->tid && top->end_ns > s->start_ns)
				break;
			put_event(out, TYPE_END, thread_track(out, t, tracks, top->tid), top->end_ns, NULL, NULL, NULL);
			open.cnt--;
		}
		if (!s)
			break;
		put_slice(out, t, tracks, list, i, &arrows);
		VEC_ADD(&open, i);
	}
	VEC_RELEASE(&open);
	free(arrows.first);
	free(arrows.next);
}

/* ---- intervals ---- */

/* The first lane that is free at that time.  A lane is the end of its last interval. */
static size_t find_lane(const int64_t *ends, size_t cnt, int64_t start_ns)
{
	for (size_t i = 0; i < cnt; i++)
		if (ends[i] <= start_ns)
			return i;
	return cnt;
}

static void put_interval(FILE *out, const char *name, const struct interval_row *row, uint64_t lane)
{
	_cleanup_(str_release) struct str more = STR_INIT, end = STR_INIT;
	_cleanup_(freep) char *title = xasprintf("%s %" PRIu64, name, row->sid);

	note_number(&more, "vprof.sid", row->sid);
	note_number(&more, "vprof.thread", row->start_tid);
	note_number(&end, "vprof.end_thread", row->end_tid);
	put_event(out, TYPE_BEGIN, lane, row->start_ns, title, "interval", &more);
	put_event(out, TYPE_END, lane, row->end_ns, NULL, NULL, &end);
}

static void put_intervals(FILE *out, const struct export_input *in)
{
	_cleanup_(freep) int64_t *ends = xcalloc(in->chosen_cnt + 1, sizeof(*ends));
	size_t lanes = 0;

	put_track(out, TRACK_INTERVALS, 0, "intervals", NULL);
	for (size_t i = 0; i < in->chosen_cnt; i++) {
		const struct interval_row *row = &in->findings->intervals.items[in->chosen[i]];
		size_t lane = find_lane(ends, lanes, row->start_ns);

		if (lane == lanes) {
			put_track(out, TRACK_LANES + lane, TRACK_INTERVALS, in->findings->interval.name, NULL);
			lanes++;
		}
		put_interval(out, in->findings->interval.name, row, TRACK_LANES + lane);
		ends[lane] = row->end_ns;
	}
}

/* Threads whose names would be missing: only an interval's beginning or end is theirs. */
static void put_interval_threads(FILE *out, const struct export_input *in, struct map *tracks)
{
	for (size_t i = 0; i < in->chosen_cnt; i++) {
		const struct interval_row *row = &in->findings->intervals.items[in->chosen[i]];

		thread_track(out, in->trace, tracks, row->start_tid);
		thread_track(out, in->trace, tracks, row->end_tid);
	}
}

static int write_perfetto(FILE *out, const struct export_input *in)
{
	_cleanup_(str_release) struct str first = STR_INIT;
	_cleanup_(map_freep) struct map *tracks = map_new();
	slices list = { NULL, 0, 0 };

	slices_read(in, true, &list);
	pb_varint(&first, PACKET_SEQUENCE_ID, SEQUENCE);
	pb_varint(&first, PACKET_SEQUENCE_FLAGS, STATE_CLEARED);
	put_packet(out, &first);
	put_intervals(out, in);
	put_interval_threads(out, in, tracks);
	put_slices(out, in->trace, tracks, &list);
	VEC_RELEASE(&list);
	return 0;
}

static const struct export_writer writer = { .takes_intervals = true, .write = write_perfetto };

const struct export_format export_perfetto = {
	.name = "perfetto", .writer = &writer, .takes_interval = true,
	.options = export_intervals_options, .has_options = export_intervals_given, .is_binary = true,
};
