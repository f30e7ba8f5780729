/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perf_line.h - one line of what `perf script` prints, or ftrace (trace_pipe, trace-cmd report).
 *
 *	   dd 17496/17497 [001] 11618.242631007:  sched:sched_switch: prev_comm=dd prev_pid=17497 ...
 *	   comm pid/tid   cpu   ns                event               text
 *
 *	   dd-17497 (17496) [001] d..2. 11618.242631: sched_switch: prev_comm=dd prev_pid=17497 ...
 *	   comm-tid (pid)   cpu   flags ns            event         text	pid and flags may be missing
 *
 * Allocates nothing: text points into the line.
 */
#ifndef TRACE_PERF_PERF_LINE_H
#define TRACE_PERF_PERF_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_text {
	const char *at;
	size_t len;
};

struct perf_line {
	struct perf_text comm;
	uint32_t pid, tid;		/* pid is tid where only that is printed; tid 0: idle, or gone */
	uint32_t cpu;
	int64_t ns;
	struct perf_text event;		/* without the subsystem: "sched_switch" */
	struct perf_text text;
};

enum perf_line_kind {
	PERF_EVENT,
	PERF_NOTHING,			/* blank, a comment or heading, a frame of a stack */
	PERF_DAMAGED
};

enum perf_line_kind perf_line_parse(const char *line, size_t len, struct perf_line *ret);

/* Whether the line can be a frame without an address: it is one if it follows an event or a frame. */
bool perf_line_may_be_frame(const char *line, size_t len);

bool perf_text_is(struct perf_text t, const char *word);

/* The value of "key=", up to the next blank.  Takes the last one on the line, since a comm may contain anything. */
bool perf_field(const struct perf_line *l, const char *key, struct perf_text *ret);
bool perf_field_number(const struct perf_line *l, const char *key, uint32_t *ret);

/* The text between "key=" and " next=": a comm, which may contain blanks. */
bool perf_field_until(const struct perf_line *l, const char *key, const char *next, struct perf_text *ret);

struct perf_switch {
	uint32_t prev, next;
	struct perf_text prev_comm, next_comm, state;
};

/* Parses the long form of sched_switch, whatever the names contain. */
bool perf_switch_fields(const struct perf_line *l, struct perf_switch *ret);

/* A decimal number at the beginning of t, which is moved past it. */
bool perf_take_number(struct perf_text *t, uint64_t max, uint64_t *ret);

#endif
