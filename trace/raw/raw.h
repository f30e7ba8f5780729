/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * raw.h - a trace file as it was written, checked but not yet understood: the room between the
 * bytes (raw.c) and the tuples (reader.c, replay.c, segments.c).
 *
 * raw_read() yields threads, events and invocations with times in ticks; raw_to_ns() turns them
 * into CLOCK_MONOTONIC and sorts the events by time.
 */
#ifndef TRACE_RAW_RAW_H
#define TRACE_RAW_RAW_H

#include "base/diag.h"
#include "base/map.h"
#include "trace/encode.h"
#include "trace/format.h"
#include "trace/full_tables.h"
#include "trace/model.h"

struct raw_thread {
	uint64_t serial, tid;		/* tid: unique in the trace */
	uint32_t pid, kernel_tid;
	const char *name;		/* NULL: unknown */
	int64_t first_ns, last_ns;	/* span of what is known about it; first > last: nothing */
};

struct raw_event {
	int64_t ns;
	uint32_t thread;		/* index into threads */
	uint32_t order;			/* of appearance */
	enum trace_event kind;
	uint32_t caller : 31;		/* of a WAIT, whose words[1] then holds the class alone */
	uint32_t polls : 1;		/* ... and it waited for any of several files */
	uint64_t words[EVENT_WORDS_MAX];	/* times among them are ns, too */
};

struct raw_invocation {
	int64_t start_ns, end_ns;	/* RAW_OPEN: it never ended */
	uint32_t thread, fid;
	uint32_t order;			/* of appearance: the innermost ends first */
};

#define RAW_OPEN INT64_MAX

struct raw_function {
	const char *name, *file;	/* NULL: no such number */
	uint64_t key;
	uint32_t line, level;
};

struct raw_anchor {
	uint64_t ticks, mono_ns;
};

struct raw_pause {			/* nothing was recorded from .. until; ticks, then ns */
	uint64_t from, until;		/* until 0: unknown; becomes INT64_MAX in ns */
};

/* The kernel's account of a thread at a moment. */
struct raw_account {
	uint64_t serial;
	int64_t ns;			/* ticks, then ns */
	uint64_t run_ns, delay_ns, slices, look_cnt;
	bool is_off;			/* it slept */
	bool is_own;			/* the thread's own account, at its beginning or end: only run_ns is
					 * known, and exact */
	uint64_t left_cnt;		/* is_own: how often it left its CPU to wait, and 1; 0: unknown */
};

struct raw_hole {			/* records logged then are missing: from, until; ticks, then ns */
	uint64_t since, until;
};

struct raw_gap {			/* from where to where a hole leaves the thread's actions unknown */
	uint32_t thread;
	uint64_t since, until;
};

struct raw_damage {
	uint64_t blocks, records;	/* missing: blocks of records; records, where that is known */
	uint64_t tables;		/* blocks of names and the like */
	uint64_t files;			/* of which nothing is whole */
	uint64_t bytes, twice;		/* bytes that are no block; blocks that stood there before */
};

struct raw {
	struct arena *arena;		/* the caller's; owns strings */
	struct map *thread_of;		/* serial -> index + 1 */
	VEC(struct raw_thread) threads;
	VEC(struct raw_event) events;
	VEC(struct raw_invocation) invocations;
	VEC(struct raw_function) functions;	/* by fid */
	VEC(const char *) labels;		/* by number; NULL: none */
	VEC(struct raw_anchor) anchors;
	VEC(struct raw_pause) pauses;	/* in ns: by time, disjoint */
	VEC(struct raw_account) accounts;	/* in the order of the file; in ticks (trace/read/off_cpu.h) */
	uint64_t lost_cnt, lost_since;	/* records of threads that could not say so (ticks, then ns) */
	struct full_tables full;
	struct cpu_use cpu_use;
	struct map *cpu_users;		/* of cpu_use, by name */
	uint64_t cut_bytes;
	struct trace_holes *found;		/* holes and damage, until they are settled */
	VEC(struct raw_hole) holes;	/* in ns: by time, disjoint */
	VEC(struct raw_gap) gaps;
	struct raw_damage damage;
	bool ended;			/* its recorder closed it */
	bool has_moves;			/* a stack (runtime/stacks.h) moved to another thread */
	bool windowed;			/* it covers only a part of the run: */
	uint64_t from_ticks, until_ticks, keep_ns;	/* as in BLOCK_WINDOW; the narrowest one */
	int64_t from_ns;		/* INT64_MIN: it covers all of the run */
};

/* One record of a chunk, as stored. */
struct raw_record {
	uint64_t ticks;			/* when it began */
	enum trace_event kind;		/* EVENT_NONE: an invocation */
	uint32_t fid;			/* of an invocation */
	uint32_t caller : 31, polls : 1;	/* as of struct raw_event */
	uint64_t words[EVENT_WORDS_MAX];	/* of an invocation: its end */
};

struct raw_call {			/* an invocation */
	uint64_t start, end;		/* ticks */
	uint32_t fid;
};

/* A wait in which the thread itself waited, not one for another stack of the thread (runtime/stacks.h), which
 * works meanwhile. */
static inline bool is_own_wait(unsigned int kind, const uint64_t *words)
{
	return kind == EVENT_WAIT && words[1] != WAIT_QUEUE;
}

/* The stack continued on another thread than before. */
static inline bool is_move(unsigned int kind, const uint64_t *words, const struct raw_thread *t)
{
	return kind == EVENT_WAIT && words[1] == WAIT_QUEUE && words[2] && words[2] != t->kernel_tid;
}

struct blocks;

/* Adds EVENT_ACCOUNT, or the EVENT_SWITCHES that belongs to the thread's last one; ignores other events. */
void raw_add_own_look(struct raw *r, uint32_t thread, const struct raw_record *record);

/* Reads the data before a chunk's records; false: it makes no sense, and d->bad is set. */
struct raw_chunk {
	uint64_t serial, cnt;
	uint32_t pid, tid;
};
bool raw_decode_chunk(struct decoder *d, struct raw_chunk *ret);
/* before: start of the record before; 0 for the first.  Nonsense sets d->bad. */
void raw_decode_record(struct decoder *d, uint64_t *before, struct raw_record *ret);
enum { CALL_BYTES_MIN = 3 };		/* of an invocation: three varints */
/* Decodes as many of the next cnt records as are invocations of a few bytes, as nearly all are.  Returns how
 * many; consumes nothing after them. */
size_t raw_decode_calls(struct decoder *d, uint64_t *before, struct raw_call *ret, size_t cnt);
/* Tests set it to decode without instructions that not every CPU has.  The calls are the same. */
extern bool raw_calls_anywhere;
/* Decodes a block of any kind except chunks. */
int raw_decode_table(struct raw *r, const struct blocks *b, struct diag *reterr);
/* Index of the thread; adds it if it is new. */
uint32_t raw_add_thread(struct raw *r, const struct raw_chunk *c);

/* When the record was written.  An open frame was not written while its thread ran. */
static inline uint64_t raw_logged_at(const struct raw_record *r)
{
	if (r->kind == EVENT_OPEN_FRAME)
		return UINT64_MAX;
	return (r->kind == EVENT_WAIT || r->kind == EVENT_FRAME) && r->words[0] > r->ticks ? r->words[0] : r->ticks;
}

/* r is zeroed but for arena; raw_release() in any case. */
int raw_read(struct raw *r, const char *path, struct diag *reterr);
void raw_release(struct raw *r);

int raw_to_ns(struct raw *r, const char *path, struct diag *reterr);

/* Converts ticks to ns by anchors; cnt is 0 if no record has a time. */
struct ruler {
	const struct raw_anchor *anchors;
	size_t cnt, at;			/* at: where the last conversion happened */
	/* Between those two anchors: from_ns + (t - from) * ns / ticks.  ticks 0: the shortcut does not apply. */
	uint64_t from, ticks, ns, inverse;	/* inverse: 2^64 / ticks; at most 1 below what is exact */
	int64_t from_ns;
};
/* Sorts the anchors; has_times: whether there are records at all. */
int ruler_init(struct ruler *ret, struct raw *r, bool has_times, const char *path, struct diag *reterr);
/* Converts the pauses to ns. */
void ruler_pauses(struct ruler *ruler, struct raw *r);
int64_t ruler_find_ns(struct ruler *ruler, uint64_t ticks);
/* Most times lie between the same two anchors as the one before; there two multiplications replace a
 * division.  The quotient is right or 1 too small: 2^64 n / c, truncated twice. */
static inline int64_t ruler_ns(struct ruler *ruler, uint64_t ticks)
{
	uint64_t product = (ticks - ruler->from) * ruler->ns, quotient;

	if (ticks - ruler->from >= ruler->ticks)
		return ruler_find_ns(ruler, ticks);
	quotient = (uint64_t)((unsigned __int128)product * ruler->inverse >> 64);
	quotient += product - quotient * ruler->ticks >= ruler->ticks;
	return ruler->from_ns + (int64_t)quotient;
}
/* Converts payload words that are times to ns. */
void ruler_words(struct ruler *ruler, enum trace_event kind, uint64_t *words);

/* The order of events, and of a thread's invocations: outer ones first. */
int compare_raw_events(const void *a, const void *b);
int compare_raw_invocations(const void *a, const void *b);

/* Index of the thread, or UINT32_MAX. */
static inline uint32_t raw_find_thread(const struct raw *r, uint64_t serial)
{
	uint64_t index;

	return map_get(r->thread_of, serial, &index) ? (uint32_t)index - 1 : UINT32_MAX;
}

#endif
