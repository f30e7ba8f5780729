/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perfetto_read.c - see perfetto_read.h.
 *
 * A sequence is what one writer wrote.  Its packets refer to names and defaults that it wrote before, until it says that these are
 * cleared; after a loss its packets that need them are left out until then.
 */
#include "cmd/formats/spans/perfetto_read.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "cmd/formats/spans/perfetto_unpack.h"
#include "cmd/messages.h"

/* Field numbers of the public schema. */
enum {
	TRACE_PACKET = 1,
	PACKET_CLOCK_SNAPSHOT = 6, PACKET_TIMESTAMP = 8, PACKET_SEQUENCE = 10, PACKET_TRACK_EVENT = 11, PACKET_INTERNED = 12, PACKET_FLAGS = 13,
	PACKET_CLEARED = 41, PACKET_DROPPED = 42, PACKET_THREAD = 44, PACKET_COMPRESSED = 50, PACKET_CLOCK_ID = 58, PACKET_DEFAULTS = 59,
	PACKET_TRACK = 60, PACKET_COMPRESSED_ZSTD = 133,
	FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2,
	DEFAULTS_TRACK_EVENT = 11, DEFAULTS_CLOCK_ID = 58,
	INTERNED_CATEGORIES = 1, INTERNED_NAMES = 2, INTERNED_NOTE_NAMES = 3, INTERNED_IID = 1, INTERNED_TEXT = 2,
	TRACK_UUID = 1, TRACK_NAME = 2, TRACK_THREAD = 4, TRACK_STATIC_NAME = 10, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5,
	EVENT_CATEGORY_IID = 3, EVENT_NOTE = 4, EVENT_LEGACY = 6, EVENT_TYPE = 9, EVENT_NAME_IID = 10, EVENT_TRACK = 11, EVENT_CATEGORY = 22,
	EVENT_NAME = 23,
	TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3,
	LEGACY_NAME_IID = 1, LEGACY_PHASE = 2, LEGACY_DURATION_US = 3, LEGACY_ID = 6, LEGACY_SCOPE = 7, LEGACY_LOCAL_ID = 10, LEGACY_GLOBAL_ID = 11,
	NOTE_NAME_IID = 1, NOTE_UINT = 3, NOTE_INT = 4, NOTE_TEXT = 6, NOTE_NAME = 10,
};

enum interned { CATEGORIES, NAMES, NOTE_NAMES, INTERNED_KINDS };

struct sequence {
	struct map *texts[INTERNED_KINDS];	/* iid -> index in texts of the reading + 1 */
	uint64_t track;			/* by default */
	uint32_t clock_id, pid;
	bool is_lost;			/* until the state is cleared */
};

struct packet {				/* its fields, in the order in which they count */
	uint32_t sequence, flags, clock_id;
	uint64_t timestamp, dropped;
	bool has_time;
	struct perfetto_time time;
	struct pb interned, defaults, snapshot, track, thread, event, compressed;
	bool is_zstd;
};

struct reading {
	struct perfetto *p;
	VEC(struct sequence) sequences;
	struct map *sequence_of;	/* number -> index + 1 */
	VEC(const char *) texts;
};

static bool is_there(struct pb m)
{
	return m.at != NULL;
}

/* ---- the state of a sequence ---- */

static struct sequence *sequence_at(struct reading *r, uint32_t number)
{
	uint64_t *slot = map_slot(r->sequence_of, number);

	if (!*slot) {
		struct sequence *s = VEC_EXTEND(&r->sequences);

		for (unsigned i = 0; i < INTERNED_KINDS; i++)
			s->texts[i] = map_new();
		*slot = r->sequences.cnt;
	}
	return &r->sequences.items[*slot - 1];
}

static void release_sequence(struct sequence *s)
{
	for (unsigned i = 0; i < INTERNED_KINDS; i++)
		map_free(s->texts[i]);
}

static void clear_sequence(struct sequence *s)
{
	release_sequence(s);
	*s = (struct sequence){ .pid = s->pid };
	for (unsigned i = 0; i < INTERNED_KINDS; i++)
		s->texts[i] = map_new();
}

static const char *text_of(const struct reading *r, const struct sequence *s, enum interned kind, uint64_t iid)
{
	uint64_t at;

	return map_get(s->texts[kind], iid, &at) && at ? r->texts.items[at - 1] : NULL;
}

static int add_text(struct reading *r, struct sequence *s, enum interned kind, struct pb entry)
{
	struct pb_field f;
	const char *text = "";
	uint64_t iid = 0;
	int e;

	while ((e = pb_next(&entry, &f)) > 0) {
		if (f.number == INTERNED_IID)
			iid = f.value;
		else if (f.number == INTERNED_TEXT)
			text = pb_string(r->p->arena, f.bytes);
	}
	VEC_ADD(&r->texts, text);
	map_set(s->texts[kind], iid, r->texts.cnt);
	return e;
}

static int add_interned(struct reading *r, struct sequence *s, struct pb interned)
{
	struct pb_field f;
	int e;

	while ((e = pb_next(&interned, &f)) > 0) {
		if (f.number >= INTERNED_CATEGORIES && f.number <= INTERNED_NOTE_NAMES)
			e = add_text(r, s, (enum interned)(f.number - INTERNED_CATEGORIES), f.bytes);
		if (e < 0)
			return e;
	}
	return e;
}

static int add_defaults(struct sequence *s, struct pb defaults)
{
	struct pb_field f, of_event;
	int e;

	while ((e = pb_next(&defaults, &f)) > 0) {
		if (f.number == DEFAULTS_CLOCK_ID)
			s->clock_id = (uint32_t)f.value;
		while (f.number == DEFAULTS_TRACK_EVENT && (e = pb_next(&f.bytes, &of_event)) > 0)
			if (of_event.number == EVENT_TRACK)
				s->track = of_event.value;
		if (e < 0)
			return e;
	}
	return e;
}

/* ---- tracks ---- */

static int read_thread(struct reading *r, struct pb thread, struct perfetto_track *to)
{
	struct pb_field f;
	int e;

	to->is_thread = true;
	while ((e = pb_next(&thread, &f)) > 0) {
		if (f.number == THREAD_PID)
			to->pid = (uint32_t)f.value;
		else if (f.number == THREAD_TID)
			to->tid = (uint32_t)f.value;
		else if (f.number == THREAD_NAME && !to->name)
			to->name = pb_string(r->p->arena, f.bytes);
	}
	return e;
}

/* A track may be described again, with more. */
static void keep_track(struct perfetto *p, const struct perfetto_track *track)
{
	uint64_t *slot = map_slot(p->track_of, track->uuid);
	struct perfetto_track *old;

	if (!*slot) {
		VEC_ADD(&p->tracks, *track);
		*slot = p->tracks.cnt;
		return;
	}
	old = &p->tracks.items[*slot - 1];
	old->name = track->name ? track->name : old->name;
	if (track->is_thread) {
		old->is_thread = true;
		old->pid = track->pid;
		old->tid = track->tid;
	}
}

static int read_track(struct reading *r, struct pb m)
{
	struct perfetto_track track = { 0 };
	struct pb_field f;
	int e;

	while ((e = pb_next(&m, &f)) > 0) {
		if (f.number == TRACK_UUID)
			track.uuid = f.value;
		else if (f.number == TRACK_NAME || f.number == TRACK_STATIC_NAME)
			track.name = pb_string(r->p->arena, f.bytes);
		else if (f.number == TRACK_THREAD && (e = read_thread(r, f.bytes, &track)) < 0)
			return e;
	}
	if (e == 0)
		keep_track(r->p, &track);
	return e;
}

/* In the older form a thread belongs to the sequence: its events that name no track are of that thread. */
static int read_sequence_thread(struct reading *r, struct sequence *s, struct pb m)
{
	struct perfetto_track track = { 0 };
	int e = read_thread(r, m, &track);

	if (e < 0)
		return e;
	track.uuid = hash_u64(hash_str(0, "thread of a sequence"), (uint64_t)track.pid << 32 | track.tid);
	s->track = track.uuid;
	s->pid = track.pid;
	keep_track(r->p, &track);
	return 0;
}

/* ---- events ---- */

static bool take_number(struct perfetto_notes *n, const char *name, uint64_t value)
{
	if (strcmp(name, "vprof.sid") == 0) {
		n->sid = value;
		return n->has_sid = true;
	}
	if (strcmp(name, "vprof.thread") == 0 || strcmp(name, "vprof.end_thread") == 0) {
		n->thread = value;
		return n->has_thread = true;
	}
	if (strcmp(name, "vprof.waker") == 0) {
		n->waker = value;
		return n->has_waker = true;
	}
	if (strcmp(name, "vprof.wake_ns") == 0)
		n->wake_ns = value <= INT64_MAX ? (int64_t)value : 0;
	else if (strcmp(name, "line") == 0)
		n->line = value;
	else
		return false;
	return true;
}

static bool take_text(struct perfetto_notes *n, const char *name, const char *text)
{
	const char **to = strcmp(name, "vprof.wait") == 0 ? &n->wait : strcmp(name, "file") == 0 ? &n->file :
			  strcmp(name, "vprof.kind") == 0 ? &n->kind : NULL;

	if (to)
		*to = text;
	return to != NULL;
}

static int read_note(struct reading *r, const struct sequence *s, struct pb m, struct perfetto_notes *to, bool *found)
{
	const char *name = NULL, *text = NULL;
	bool is_number = false;
	uint64_t value = 0;
	struct pb_field f;
	int e;

	while ((e = pb_next(&m, &f)) > 0) {
		if (f.number == NOTE_NAME || f.number == NOTE_NAME_IID)
			name = f.number == NOTE_NAME ? pb_string(r->p->arena, f.bytes) : text_of(r, s, NOTE_NAMES, f.value);
		else if (f.number == NOTE_TEXT)
			text = pb_string(r->p->arena, f.bytes);
		else if (f.number == NOTE_UINT || f.number == NOTE_INT) {
			is_number = true;
			value = f.value;
		}
	}
	if (name && is_number)
		*found |= take_number(to, name, value);
	else if (name && text)
		*found |= take_text(to, name, text);
	return e;
}

/* An older event with an id is of no track: its beginning and end have the id, its scope and the category in common. */
static int read_legacy(struct reading *r, const struct sequence *s, struct pb m, struct perfetto_event *v, int *phase)
{
	uint64_t key = hash_str(1, v->category ? v->category : "");
	struct pb_field f;
	int e;

	while ((e = pb_next(&m, &f)) > 0) {
		if (f.number == LEGACY_NAME_IID && !v->name)
			v->name = text_of(r, s, NAMES, f.value);
		else if (f.number == LEGACY_PHASE)
			*phase = (int)f.value;
		else if (f.number == LEGACY_DURATION_US && f.value < PERFETTO_NS_MAX / 1000)
			v->duration_ns = (int64_t)f.value * 1000;
		else if (f.number == LEGACY_ID || f.number == LEGACY_GLOBAL_ID)
			key = hash_u64(key, f.value);
		else if (f.number == LEGACY_LOCAL_ID)
			key = hash_u64(hash_u64(key, f.value), s->pid);
		else if (f.number == LEGACY_SCOPE && is_there(f.bytes))
			key = hash_bytes(key, f.bytes.at, (size_t)(f.bytes.end - f.bytes.at));
	}
	v->is_async = *phase == 'b' || *phase == 'e' || *phase == 'S' || *phase == 'F';
	if (v->is_async)
		v->track = key;
	return e;
}

static bool phase_of(uint64_t type, int legacy, enum perfetto_phase *ret)
{
	if (type == TYPE_BEGIN || legacy == 'B' || legacy == 'b' || legacy == 'S')
		*ret = PERFETTO_BEGIN;
	else if (type == TYPE_END || legacy == 'E' || legacy == 'e' || legacy == 'F')
		*ret = PERFETTO_END;
	else if (type == TYPE_INSTANT)
		*ret = PERFETTO_INSTANT;
	else if (legacy == 'X')
		*ret = PERFETTO_WHOLE;
	else
		return false;
	return true;
}

static int read_event(struct reading *r, const struct sequence *s, const struct packet *packet)
{
	struct perfetto_event v = { .track = s->track };
	struct perfetto_notes notes = { 0 };
	struct pb m = packet->event, legacy = { 0 };
	bool has_notes = false;
	uint64_t type = 0;
	int legacy_phase = 0, e;
	struct pb_field f;

	while ((e = pb_next(&m, &f)) > 0) {
		switch (f.number) {
		case EVENT_TYPE: type = f.value; break;
		case EVENT_TRACK: v.track = f.value; break;
		case EVENT_NAME: v.name = pb_string(r->p->arena, f.bytes); break;
		case EVENT_NAME_IID: v.name = text_of(r, s, NAMES, f.value); break;
		case EVENT_CATEGORY: v.category = pb_string(r->p->arena, f.bytes); break;
		case EVENT_CATEGORY_IID: v.category = text_of(r, s, CATEGORIES, f.value); break;
		case EVENT_LEGACY: legacy = f.bytes; break;
		case EVENT_NOTE: e = read_note(r, s, f.bytes, &notes, &has_notes); break;
		default: break;
		}
		if (e < 0)
			return e;
	}
	if (e == 0 && is_there(legacy))
		e = read_legacy(r, s, legacy, &v, &legacy_phase);
	if (e < 0 || !phase_of(type, legacy_phase, &v.phase) || !packet->has_time)
		return e;
	v.time = packet->time;
	if (has_notes) {
		v.notes = memcpy(ARENA_NEW(r->p->arena, struct perfetto_notes, 1), &notes, sizeof(notes));
		r->p->is_own |= notes.has_sid;
	}
	VEC_ADD(&r->p->events, v);
	return 0;
}

/* ---- packets ---- */

static int read_fields(struct pb m, struct packet *ret)
{
	struct pb_field f;
	int e;

	*ret = (struct packet){ 0 };
	while ((e = pb_next(&m, &f)) > 0) {
		switch (f.number) {
		case PACKET_TIMESTAMP: ret->timestamp = f.value; ret->has_time = true; break;
		case PACKET_SEQUENCE: ret->sequence = (uint32_t)f.value; break;
		case PACKET_FLAGS: ret->flags |= (uint32_t)f.value; break;
		case PACKET_CLEARED: ret->flags |= f.value ? FLAG_CLEARED : 0; break;
		case PACKET_DROPPED: ret->dropped = f.value; break;
		case PACKET_CLOCK_ID: ret->clock_id = (uint32_t)f.value; break;
		case PACKET_CLOCK_SNAPSHOT: ret->snapshot = f.bytes; break;
		case PACKET_TRACK_EVENT: ret->event = f.bytes; break;
		case PACKET_INTERNED: ret->interned = f.bytes; break;
		case PACKET_DEFAULTS: ret->defaults = f.bytes; break;
		case PACKET_TRACK: ret->track = f.bytes; break;
		case PACKET_THREAD: ret->thread = f.bytes; break;
		case PACKET_COMPRESSED:
		case PACKET_COMPRESSED_ZSTD: ret->compressed = f.bytes; ret->is_zstd = f.number == PACKET_COMPRESSED_ZSTD; break;
		default: break;
		}
	}
	return e < 0 ? -EBADMSG : 0;
}

static int read_packets(struct reading *r, struct pb *m, bool is_packed);

static int read_compressed(struct reading *r, const struct packet *packet)
{
	_cleanup_(str_release) struct str plain = STR_INIT;
	int e = perfetto_unpack(packet->compressed, packet->is_zstd, &plain);
	struct pb inner;

	if (e < 0)
		return e;
	inner = pb_of(str_cstr(&plain), plain.len);
	e = read_packets(r, &inner, true);
	return e == -E2BIG ? e : e < 0 ? -EBADMSG : 0;
}

static int read_packet(struct reading *r, struct pb m, bool is_packed)
{
	struct packet packet;
	struct sequence *s;
	int e = read_fields(m, &packet);

	if (e < 0)
		return e;
	if (is_there(packet.compressed))
		return is_packed ? -EBADMSG : read_compressed(r, &packet);
	s = sequence_at(r, packet.sequence);
	s->is_lost |= packet.dropped != 0;
	if (packet.flags & FLAG_CLEARED)
		clear_sequence(s);
	if (s->is_lost && (packet.flags & FLAG_NEEDS_STATE)) {
		r->p->incomplete++;
		return 0;
	}
	if (is_there(packet.interned))
		e = add_interned(r, s, packet.interned);
	if (e == 0 && is_there(packet.defaults))
		e = add_defaults(s, packet.defaults);
	if (e == 0 && is_there(packet.snapshot))
		e = perfetto_clocks_add(r->p->clocks, packet.sequence, packet.snapshot);
	if (packet.has_time)		/* also where nothing else of it counts: the next may count from here */
		packet.time = perfetto_clocks_time(r->p->clocks, packet.sequence, packet.clock_id ? packet.clock_id : s->clock_id,
						   packet.timestamp);
	if (e == 0 && is_there(packet.track))
		e = read_track(r, packet.track);
	if (e == 0 && is_there(packet.thread))
		e = read_sequence_thread(r, s, packet.thread);
	if (e == 0 && is_there(packet.event))
		e = read_event(r, s, &packet);
	return e < 0 ? -EBADMSG : 0;
}

/* Stops at the packet that is damaged. */
static int read_packets(struct reading *r, struct pb *m, bool is_packed)
{
	struct pb_field f;
	int e;

	for (;;) {
		struct pb before = *m;

		e = pb_next(m, &f);
		if (e > 0 && (f.number != TRACE_PACKET || !is_there(f.bytes)))
			e = -EBADMSG;
		if (e > 0)
			e = read_packet(r, f.bytes, is_packed);
		else if (e == 0)
			return 0;
		if (e < 0) {
			*m = before;
			return e;
		}
	}
}

/* ---- the file ---- */

static void release(struct reading *r)
{
	for (size_t i = 0; i < r->sequences.cnt; i++)
		release_sequence(&r->sequences.items[i]);
	VEC_RELEASE(&r->sequences);
	VEC_RELEASE(&r->texts);
	map_free(r->sequence_of);
}

/* A trace begins with a packet: field 1, of bytes. */
static bool is_like_a_trace(const char *data)
{
	return *data == (TRACE_PACKET << 3 | 2);
}

static int not_a_trace(const char *path, const char *data, int e, struct diag *reterr)
{
	bool is_json = data[strspn(data, " \t\r\n")] == '[' || data[strspn(data, " \t\r\n")] == '{';

	diag_set(reterr, EXIT_DATA, e, "%s: byte 0: a packet of a Perfetto trace was expected", path);
	return is_json ? diag_remedy(reterr, e, "vprof import --from chrome-trace %s, if it is JSON", path) : e;
}

static int damaged_at(const char *path, size_t at, int e, struct diag *reterr)
{
	return diag_set(reterr, EXIT_DATA, e, e == -E2BIG ? "%s: byte %zu: a compressed packet is larger than any tracer writes" :
			"%s: byte %zu: this packet is damaged", path, at);
}

struct perfetto *perfetto_read(const char *path, const char *data, size_t len, struct diag *reterr)
{
	_cleanup_(perfetto_freep) struct perfetto *p = xcalloc(1, sizeof(*p));
	struct reading r = { .p = p, .sequence_of = map_new() };
	struct pb m = pb_of(data, len);
	size_t at;
	int e;

	p->arena = arena_new();
	p->track_of = map_new();
	p->clocks = perfetto_clocks_new();
	e = read_packets(&r, &m, false);
	release(&r);
	at = (size_t)((const char *)m.at - data);
	if (e == -ENODATA && at) {
		warn_line("%s: byte %zu: the file was cut off: it is read up to the last whole packet", path, at);
		e = 0;
	}
	if (e < 0 && !is_like_a_trace(data))
		not_a_trace(path, data, e, reterr);
	else if (e < 0)
		damaged_at(path, at, e, reterr);
	perfetto_clocks_relate(p->clocks, p->events.cnt ? p->events.items[0].time.clock : 0);
	return e < 0 ? NULL : TAKE_PTR(p);
}

void perfetto_free(struct perfetto *p)
{
	if (!p)
		return;
	VEC_RELEASE(&p->events);
	VEC_RELEASE(&p->tracks);
	map_free(p->track_of);
	perfetto_clocks_free(p->clocks);
	arena_free(p->arena);
	free(p);
}

const struct perfetto_track *perfetto_track(const struct perfetto *p, uint64_t uuid)
{
	uint64_t at;

	return map_get(p->track_of, uuid, &at) && at ? &p->tracks.items[at - 1] : NULL;
}
