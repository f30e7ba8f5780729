/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perfetto_clocks.c - see perfetto_clocks.h.
 *
 * The clock of the trace is the one that a snapshot calls the primary one, else BOOTTIME; if no snapshot relates that to the events, the
 * first event's.  A moment is taken along with the last snapshot before it that knows both clocks, or the first one.
 */
#include "cmd/formats/spans/perfetto_clocks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "base/search.h"

enum {
	SNAPSHOT_CLOCKS = 1, SNAPSHOT_PRIMARY = 2,
	CLOCK_ID = 1, CLOCK_TIMESTAMP = 2, CLOCK_IS_INCREMENTAL = 3, CLOCK_UNIT_NS = 4,
	BOOTTIME = 6, OF_SEQUENCE_FROM = 64, OF_SEQUENCE_TO = 127,
};

struct reading {			/* what a clock showed */
	uint64_t clock, ns;
};

struct relation {			/* of a clock to that of the trace, at one moment */
	uint64_t clock, from_ns, to_ns;
};

struct local {				/* a clock of a sequence */
	bool is_incremental;
	uint64_t unit_ns, last;		/* last: in its unit */
};

struct perfetto_clocks {
	VEC(struct reading) readings;	/* by snapshot */
	VEC(size_t) first_of;		/* of each snapshot: index in readings */
	VEC(struct local) locals;
	struct map *local_of;		/* clock -> index in locals + 1 */
	uint64_t primary;		/* a clock; 0: not known */
	uint64_t of_trace;
	VEC(struct relation) relations;	/* sorted */
};

struct perfetto_clocks *perfetto_clocks_new(void)
{
	struct perfetto_clocks *c = xcalloc(1, sizeof(*c));

	c->local_of = map_new();
	return c;
}

void perfetto_clocks_free(struct perfetto_clocks *c)
{
	if (!c)
		return;
	VEC_RELEASE(&c->readings);
	VEC_RELEASE(&c->first_of);
	VEC_RELEASE(&c->locals);
	VEC_RELEASE(&c->relations);
	map_free(c->local_of);
	free(c);
}

static uint64_t clock_of(uint32_t sequence, uint32_t clock_id)
{
	return clock_id >= OF_SEQUENCE_FROM && clock_id <= OF_SEQUENCE_TO ? (uint64_t)sequence << 32 | clock_id : clock_id;
}

static uint64_t to_ns(uint64_t value, uint64_t unit_ns)
{
	uint64_t ns;

	return __builtin_mul_overflow(value, unit_ns, &ns) ? UINT64_MAX : ns;
}

static int add_clock(struct perfetto_clocks *c, uint32_t sequence, struct pb clock)
{
	struct local l = { .unit_ns = 1 };
	struct pb_field f;
	uint32_t id = 0;
	uint64_t key, *slot;
	int r;

	while ((r = pb_next(&clock, &f)) > 0) {
		if (f.number == CLOCK_ID)
			id = (uint32_t)f.value;
		else if (f.number == CLOCK_TIMESTAMP)
			l.last = f.value;
		else if (f.number == CLOCK_IS_INCREMENTAL)
			l.is_incremental = f.value != 0;
		else if (f.number == CLOCK_UNIT_NS && f.value)
			l.unit_ns = f.value;
	}
	if (r < 0)
		return -EBADMSG;
	key = clock_of(sequence, id);
	VEC_ADD(&c->readings, (struct reading){ key, to_ns(l.last, l.unit_ns) });
	slot = map_slot(c->local_of, key);
	if (!*slot) {
		VEC_EXTEND(&c->locals);
		*slot = c->locals.cnt;
	}
	c->locals.items[*slot - 1] = l;
	return 0;
}

int perfetto_clocks_add(struct perfetto_clocks *c, uint32_t sequence, struct pb snapshot)
{
	size_t first = c->readings.cnt;
	struct pb_field f;
	int r;

	while ((r = pb_next(&snapshot, &f)) > 0) {
		if (f.number == SNAPSHOT_PRIMARY)
			c->primary = (uint32_t)f.value;
		if (f.number == SNAPSHOT_CLOCKS && (r = add_clock(c, sequence, f.bytes)) < 0)
			return r;
	}
	VEC_ADD(&c->first_of, first);
	return r < 0 ? -EBADMSG : 0;
}

struct perfetto_time perfetto_clocks_time(struct perfetto_clocks *c, uint32_t sequence, uint32_t clock_id, uint64_t timestamp)
{
	struct perfetto_time time = { clock_of(sequence, clock_id ? clock_id : BOOTTIME), timestamp };
	uint64_t at;

	if (map_get(c->local_of, time.clock, &at) && at) {
		struct local *l = &c->locals.items[at - 1];

		if (l->is_incremental && __builtin_add_overflow(l->last, timestamp, &l->last))
			l->last = UINT64_MAX;
		time.ns = to_ns(l->is_incremental ? l->last : timestamp, l->unit_ns);
	}
	return time;
}

static int by_clock(const void *pa, const void *pb)
{
	const struct relation *a = pa, *b = pb;

	if (a->clock != b->clock)
		return a->clock < b->clock ? -1 : 1;
	if (a->from_ns != b->from_ns)
		return a->from_ns < b->from_ns ? -1 : 1;
	return (a->to_ns > b->to_ns) - (a->to_ns < b->to_ns);
}

/* All relations of clocks to that one. */
static void relate(struct perfetto_clocks *c, uint64_t to)
{
	c->relations.cnt = 0;
	for (size_t i = 0; i < c->first_of.cnt; i++) {
		size_t begin = c->first_of.items[i], end = i + 1 < c->first_of.cnt ? c->first_of.items[i + 1] : c->readings.cnt, at = begin;

		while (at < end && c->readings.items[at].clock != to)
			at++;
		for (size_t k = begin; at < end && k < end; k++)
			VEC_ADD(&c->relations, (struct relation){ c->readings.items[k].clock, c->readings.items[k].ns, c->readings.items[at].ns });
	}
	if (c->relations.cnt)
		qsort(c->relations.items, c->relations.cnt, sizeof(*c->relations.items), by_clock);
}

/* The last before that moment, else the first one; NULL: none of that clock. */
static const struct relation *relation_at(const struct perfetto_clocks *c, struct perfetto_time time)
{
	const struct relation *r = c->relations.items;
	size_t at = partition_point(i, c->relations.cnt, r[i].clock < time.clock || (r[i].clock == time.clock && r[i].from_ns <= time.ns));

	if (at && r[at - 1].clock == time.clock)
		return &r[at - 1];
	return at < c->relations.cnt && r[at].clock == time.clock ? &r[at] : NULL;
}

void perfetto_clocks_relate(struct perfetto_clocks *c, uint64_t first)
{
	c->of_trace = c->primary ? c->primary : BOOTTIME;
	relate(c, c->of_trace);
	if (first == c->of_trace || relation_at(c, (struct perfetto_time){ first, 0 }))
		return;
	c->of_trace = first;
	relate(c, c->of_trace);
}

bool perfetto_clocks_convert(const struct perfetto_clocks *c, struct perfetto_time time, int64_t *ret_ns)
{
	const struct relation *r = NULL;
	__int128 ns = time.ns;

	if (time.clock != c->of_trace) {
		r = relation_at(c, time);
		if (!r)
			return false;
		ns = ns - r->from_ns + r->to_ns;
	}
	*ret_ns = (int64_t)ns;
	return ns >= 0 && ns < PERFETTO_NS_MAX;
}
