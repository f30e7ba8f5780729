/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perfetto_clocks.h - the clocks of a Perfetto trace, and one for all its events.
 *
 * Each packet names its clock: one of the system's (BOOTTIME unless it says another one), or one of its sequence alone, whose times
 * may be in units of their own and differences from the last.  Snapshots say what several clocks showed at one moment.
 *
 *	snapshot: BOOTTIME 1000, MONOTONIC 400; events at BOOTTIME 1500, MONOTONIC 700	the second event is at BOOTTIME 1300
 */
#ifndef CMD_FORMATS_SPANS_PERFETTO_CLOCKS_H
#define CMD_FORMATS_SPANS_PERFETTO_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include "cmd/formats/spans/protobuf_read.h"

#define PERFETTO_NS_MAX INT64_C(4000000000000000000)

struct perfetto_clocks;

struct perfetto_time {
	uint64_t clock;			/* as perfetto_clock() names it */
	uint64_t ns;
};

struct perfetto_clocks *perfetto_clocks_new(void);
void perfetto_clocks_free(struct perfetto_clocks *c);

/* A ClockSnapshot in a packet of that sequence; -EBADMSG: it is damaged. */
int perfetto_clocks_add(struct perfetto_clocks *c, uint32_t sequence, struct pb snapshot);

/* The time of a packet: what its field "timestamp" says in the clock of that number (0: the default).  To be called once for each packet
 * that has a time, in their order, because some count from the last. */
struct perfetto_time perfetto_clocks_time(struct perfetto_clocks *c, uint32_t sequence, uint32_t clock_id, uint64_t timestamp);

/* When all snapshots and times are known.  first: the clock of the first event. */
void perfetto_clocks_relate(struct perfetto_clocks *c, uint64_t first);

/* After that: the same moment by the clock of the trace, from 0 to below PERFETTO_NS_MAX.  False: no snapshot relates the two clocks,
 * or the time is out of range. */
bool perfetto_clocks_convert(const struct perfetto_clocks *c, struct perfetto_time time, int64_t *ret_ns);

#endif
