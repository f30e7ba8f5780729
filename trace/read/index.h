/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * index.h - where the records of a trace file stand, so that they can be read in order of time: the first of the
 * two readings of stream.h.
 */
#ifndef TRACE_READ_INDEX_H
#define TRACE_READ_INDEX_H

#include "trace/blocks.h"
#include "trace/raw/false_wakeups.h"
#include "trace/raw/raw.h"

struct index_chunk {
	uint64_t block_at;		/* byte of the file */
	uint32_t at, cnt;		/* byte of the unpacked block where the records begin; how many */
	uint32_t thread;
	bool is_loaded;			/* stream_load.c */
	bool has_open;			/* open frames, which may begin after last_ns */
	uint32_t first_event, first_invocation;	/* in the order of the file */
	uint64_t floor;			/* ticks: records that began before are among the index's early records */
	int64_t due_ns;			/* when the first of the others began; INT64_MAX: there is none */
	int64_t last_ns;		/* when the last one was logged */
};

struct trace_index {
	struct raw *raw;		/* the caller's: threads, tables; times in ns */
	VEC(struct index_chunk) chunks;	/* by due_ns */
	/* Records that began before their chunk did: open calls and waits. */
	VEC(struct raw_event) events;	/* by time */
	VEC(struct raw_invocation) invocations;	/* by thread and time, frames among them */
	VEC(struct raw_event) losses;
	VEC(int64_t) open_ns;		/* when the frames began that never ended */
	struct false_wakeups false_wakeups;
	bool *stopped;			/* per thread */
	bool times_out;			/* a wait ended by its own time-out */
	VEC(uint64_t) waited_ns;	/* per thread: time in waits, to be compared with its accounts */
	uint64_t record_cnt, begin_cnt;	/* begin_cnt: weighted */
	int64_t first_ns, last_ns;	/* of all threads */
	uint32_t last_fid;
	struct ruler ruler;
	bool seems_nested;		/* a BEGIN_AGAIN is among the records */
	bool has_stacks;		/* a thread ran on several stacks */
	bool unfit;			/* for windows, see stream.h */
};

/* Reads all of the file.  index_release() in any case. */
int index_read(struct trace_index *x, struct raw *r, struct blocks *b, struct diag *reterr);
void index_release(struct trace_index *x);

struct archive;

/* Writes the index, or reads one into x, which is zeroed, and r, which has the tables of the trace; then index_settle(). */
void index_save(struct trace_index *x, struct raw *r, const struct blocks *b, struct archive *s);
/* Completes a saved index: the clock, and the times that the tables have in ticks. */
int index_settle(struct trace_index *x, const struct blocks *b, struct diag *reterr);
void raw_event_save(struct archive *s, struct raw_event *e, const struct raw *r);

/* A wait that ended with a false wake-up has no waker. */
void index_forget_waker(const struct trace_index *x, struct raw_event *e);

/* A frame as an invocation; of equal ones frames are outside, the later one outermost. */
bool index_frame(const struct raw_event *e, struct raw_invocation *ret);

#endif
