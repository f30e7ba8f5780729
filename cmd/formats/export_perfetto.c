/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_perfetto.c - `vprof export --format perfetto`: the protocol buffers of ui.perfetto.dev.
 *
 * Each thread has a track, with calls and waits as slices and arrows from their wakers.  A track "intervals" has as many tracks
 * below it as intervals overlap.  Times are CLOCK_MONOTONIC.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/banned.h"
#include "base/map.h"
#include "cmd/formats/export_format.h"
#include "cmd/formats/pieces/protobuf.h"
#include "cmd/formats/pieces/slices.h"

/* Field numbers of the public schema. */
enum {
	TRACE_PACKET = 1,
	PACKET_TIMESTAMP = 8, PACKET_SEQUENCE_ID = 10, PACKET_TRACK_EVENT = 11, PACKET_SEQUENCE_FLAGS = 13,
	PACKET_CLOCK_ID = 58, PACKET_TRACK_DESCRIPTOR = 60,
	EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_CATEGORIES = 22, EVENT_NAME = 23, EVENT_FLOW_IDS = 47, EVENT_TERMINATING_FLOW_IDS = 48,
	TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5,
	PROCESS_PID = 1, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5,
	TYPE_BEGIN = 1, TYPE_END = 2, CLOCK_MONOTONIC_ID = 3, SEQUENCE = 1, STATE_CLEARED = 1
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

static void put_event(FILE *out, uint64_t track, int64_t ns, const char *name, const char *category, const struct str *flows)
{
	_cleanup_(str_release) struct str event = STR_INIT, packet = STR_INIT;

	pb_varint(&event, EVENT_TYPE, name ? TYPE_BEGIN : TYPE_END);
	pb_varint(&event, EVENT_TRACK, track);
	if (name) {
		pb_text(&event, EVENT_CATEGORIES, category);
		pb_text(&event, EVENT_NAME, name);
	}
	if (flows)
		str_addn(&event, str_cstr(flows), flows->len);
	pb_varint(&packet, PACKET_TIMESTAMP, (uint64_t)ns);
	pb_varint(&packet, PACKET_CLOCK_ID, CLOCK_MONOTONIC_ID);
	pb_varint(&packet, PACKET_SEQUENCE_ID, SEQUENCE);
	pb_message(&packet, PACKET_TRACK_EVENT, &event);
	put_packet(out, &packet);
}

/* ---- threads ---- */

/* One track per thread that has slices; its uuid is TRACK_THREADS plus its place in this list. */
static uint64_t thread_track(FILE *out, const struct trace *t, struct map *tracks, uint64_t tid)
{
	_cleanup_(str_release) struct str thread = STR_INIT;
	uint64_t *slot = map_slot(tracks, tid), uuid = *slot;

	if (uuid)
		return uuid;
	uuid = *slot = TRACK_THREADS + map_cnt(tracks);
	pb_varint(&thread, THREAD_PID, thread_pid(t, tid) & INT32_MAX);
	pb_varint(&thread, THREAD_TID, tid & INT32_MAX);	/* the schema has 32 bits; devices have larger numbers */
	for (size_t i = 0; i < t->threads.cnt; i++)
		if (t->threads.items[i].tid == tid && t->threads.items[i].name) {
			pb_text(&thread, THREAD_NAME, t->threads.items[i].name);
			break;
		}
	put_track(out, uuid, 0, NULL, &thread);
	return uuid;
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

static void put_slice(FILE *out, const struct trace *t, struct map *tracks, const slices *list, size_t at, const struct arrows *arrows)
{
	_cleanup_(str_release) struct str flows = STR_INIT;
	const struct slice *s = &list->items[at];

	for (size_t id = arrows->first[at]; id; id = arrows->next[id - 1])
		pb_fixed64(&flows, EVENT_FLOW_IDS, id);
	if (s->waker != SLICE_NONE)
		pb_fixed64(&flows, EVENT_TERMINATING_FLOW_IDS, at + 1);
	put_event(out, thread_track(out, t, tracks, s->tid), s->start_ns, slice_name(t, s), s->is_wait ? "wait" : "function", &flows);
}

static void put_slices(FILE *out, const struct trace *t, const slices *list)
{
	_cleanup_(map_freep) struct map *tracks = map_new();
	VEC(size_t) open = { NULL, 0, 0 };
	struct arrows arrows;

	read_arrows(list, &arrows);
	for (size_t i = 0; i <= list->cnt; i++) {
		const struct slice *s = i < list->cnt ? &list->items[i] : NULL;

		while (open.cnt) {
			const struct slice *top = &list->items[open.items[open.cnt - 1]];

			if (s && top->tid == s->tid && top->end_ns > s->start_ns)
				break;
			put_event(out, thread_track(out, t, tracks, top->tid), top->end_ns, NULL, NULL, NULL);
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

static void put_intervals(FILE *out, const struct export_input *in)
{
	_cleanup_(freep) int64_t *ends = xcalloc(in->chosen_cnt + 1, sizeof(*ends));
	size_t lanes = 0;

	put_track(out, TRACK_INTERVALS, 0, "intervals", NULL);
	for (size_t i = 0; i < in->chosen_cnt; i++) {
		const struct interval_row *row = &in->findings->intervals.items[in->chosen[i]];
		size_t lane = find_lane(ends, lanes, row->start_ns);
		_cleanup_(freep) char *name = xasprintf("%s %" PRIu64, in->findings->interval.name, row->sid);

		if (lane == lanes) {
			put_track(out, TRACK_LANES + lane, TRACK_INTERVALS, in->findings->interval.name, NULL);
			lanes++;
		}
		put_event(out, TRACK_LANES + lane, row->start_ns, name, "interval", NULL);
		put_event(out, TRACK_LANES + lane, row->end_ns, NULL, NULL, NULL);
		ends[lane] = row->end_ns;
	}
}

static int write_perfetto(FILE *out, const struct export_input *in)
{
	_cleanup_(str_release) struct str first = STR_INIT;
	slices list = { NULL, 0, 0 };

	slices_read(in, &list);
	pb_varint(&first, PACKET_SEQUENCE_ID, SEQUENCE);
	pb_varint(&first, PACKET_SEQUENCE_FLAGS, STATE_CLEARED);
	put_packet(out, &first);
	put_intervals(out, in);
	put_slices(out, in->trace, &list);
	VEC_RELEASE(&list);
	return 0;
}

static const struct export_writer writer = { .takes_intervals = true, .write = write_perfetto };

const struct export_format export_perfetto = {
	.name = "perfetto", .writer = &writer, .takes_interval = true,
	.options = export_intervals_options, .has_options = export_intervals_given, .is_binary = true,
};
