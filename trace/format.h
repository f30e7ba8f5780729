/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.h - the contents of a trace: the events, and the file that holds them.
 *
 * The runtime logs records of 64-bit words, the drainer packs them into blocks of a file, the
 * reader makes tuples of them.
 *
 *	invocation	start, length << 32 | fid << 8 | gate	(fid 1..TRACE_FIDS_MAX, gate not 0: runtime/shared/frame.h)
 *	event		ticks, kind << 8, payload words		(as many as the table says)
 *
 * An invocation that takes 2^32 ticks or more (about a second) is logged as the event FRAME.
 *
 * Ticks are those of the recording machine's clock; anchors (ticks, CLOCK_MONOTONIC ns,
 * CLOCK_REALTIME ns) say what they mean.  Threads have serial numbers, unique in the run, because
 * the kernel gives a tid out again; functions (fid) and labels are numbered from 1.
 *
 * The file: struct trace_header, then blocks.  A block is struct trace_block and stored_bytes: struct trace_place, and
 * zstd that unpacks to raw_bytes of varints (encode.h):
 *
 *	BLOCK_CHUNKS	{ serial, pid, tid, record_cnt, records }...
 *			record: head, zigzag(start - start of the record before it)
 *			invocation: head = fid << 1, then length
 *			event: head = kind << 1 | 1, then the payload words
 *	BLOCK_ANCHORS	{ ticks, mono_ns, real_ns }...
 *	BLOCK_FUNCTIONS	{ fid, key, line, level, name, file }...	strings: length, bytes
 *	BLOCK_LABELS	{ id, name }...
 *	BLOCK_TABLES	{ enum trace_table, its size, how many had no room }...	the last word about one counts
 *	BLOCK_END	lost records without a thread, since when (ticks): the last block
 *	BLOCK_WINDOW	what of the run the trace holds: from (ticks), until (ticks; 0: to its end), and no more
 *			than this many ns before that (0: all)
 *	BLOCK_PAUSES	{ from, until }...	when nothing was recorded (ticks; until 0: not known yet); the last
 *			entry about one that began then counts
 *	BLOCK_CONTENTS	{ number, since, until - since, records, thread_cnt, serial... }... of the blocks of chunks, so that
 *			it is known what a missing one held (doc/design/holes.md)
 *
 *	BLOCK_ACCOUNTS	{ serial, ticks, processor time ns, run queue ns, times it got a CPU << 1 | it slept, looks that found
 *			this since the entry before }...	of a thread, from outside
 *	BLOCK_CPU_USE	how long, CPUs, those that the recorded threads may use (0: unknown), 1000 times the mean number of
 *			runnable threads, whether the kernel tells of stalls, ns stalled, ns throttled, ns all CPUs were busy,
 *			of these seen, ns stolen, number of users, { ns, name }...	of one period, from outside; the users
 *			are other processes, by name; an empty name: further ones
 *
 * A trace may come in parts, files of the same form beside it: trace.vpt, trace.vpt.000041 ...  The last
 * word about the window is the narrowest.
 *
 * For example the event PAUSE of thread 7 at tick 1000, alone in its chunk: 7, pid, tid, 1,
 * EVENT_PAUSE << 1 | 1, 2000.
 */
#ifndef TRACE_FORMAT_H
#define TRACE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>
#include "trace/wait_classes.h"

/* kind, payload words; their meaning */
#define TRACE_EVENTS(X)										\
	X(BEGIN, 3)		/* label, key, enum begin_mark and the rate of its lot */	\
	X(END, 2)		/* label, key */						\
	X(RESUME, 2)		/* label, key */						\
	X(PAUSE, 0)										\
	X(DROP, 2)		/* label, key */						\
	X(LEAVE, 2)		/* label, key: only logged where it meant something */		\
	X(ENQUEUE, 2)		/* queue, task */						\
	X(DEQUEUE, 2)		/* queue, task */						\
	X(WAIT, 5)		/* from ticks to: end, wait_word(), object, waker, woken at; of a stack that its thread \
				 * was not on (WAIT_QUEUE) the object is the kernel's number of the thread that is back on it */ \
	X(RELEASE, 1)		/* a lock was released while a thread waited for it; not all its takings may be recorded: object */ \
	X(FALSE_WAKEUP, 0)									\
	X(WORK, 2)		/* label, value */						\
	X(LOSS, 2)		/* until ticks: since, records; 0: none is missing, but they may be of another stack */ \
	X(FRAME, 2)		/* invocation closed for it (longjmp, thread end), or a long one: end, fid */	\
	X(OPEN_FRAME, 1)	/* still open when its thread was last seen: fid */		\
	X(CREATE, 1)		/* serial of the new thread or process */			\
	X(START, 3)		/* pid << 32 | tid, name: two words */				\
	X(STOP, 2)		/* the thread, or the program, ends; name: two words, or zeros */ \
	X(PARENT, 2)		/* a process of the run comes from another: pid, parent's pid */ \
	X(REOPEN, 1)		/* after a pause: what the thread did from then (ticks) to now is unknown */	\
	X(TAKEN, 1)		/* a lock was taken at once while another thread waited for it: object */	\
	X(UNLOCK, 1)		/* as RELEASE, for a lock whose takings are all recorded, by WAIT or TAKEN: object */ \
	X(POST, 1)		/* a semaphore was posted while another thread waited for it: object */	\
	X(ACCOUNT, 1)		/* the thread's processor time so far: ns */ \
	X(FINISH, 2)		/* label, key: a function that ends the interval begins on another thread */ \
	X(HANDED, 2)		/* label, key: the function that began it returned; another function ends it */ \
	X(UNWOUND, 3)		/* label, key, whole: frames with its BEGIN went without an END (longjmp): all
				 * but the outermost, or, if whole, that one too */ \
	X(SWITCHES, 1)		/* follows ACCOUNT: how often the thread left its CPU to wait, so far */ \
	X(SHIFT, 2)		/* of a causal experiment: by how many ns the thread's virtual clock is behind the real one from \
				 * here on; number of the block that this belongs to */ \
	X(BLOCK, 3)		/* of an experiment, by the recorder: number << 8 | enum block_phase; block_what(); ns by which \
				 * all clocks are behind, G */ \
	X(ORDER, 2)		/* record --order, a synchronisation: object; order_word() */ \
	X(OBJECT, 2)		/* ... whose object has a name: object, label */ \
	X(IDS, 4)		/* of the interval whose BEGIN is just before: trace id, high half and low half; its span; its \
				 * parent's span; 0: unknown */ \
	X(CALL, 1)		/* the thread calls another service: the span that this service has as its parent */

enum trace_event {
	EVENT_NONE,
#define X(kind, words) EVENT_##kind,
	TRACE_EVENTS(X)
#undef X
	EVENT_CNT
};

enum { EVENT_WORDS_MAX = 5 };

enum { TRACE_FIDS_MAX = 1 << 20, TRACE_LABELS_MAX = 1 << 20 };	/* a reader refuses larger numbers */
enum { TRACE_CALLERS_MAX = 8192 };	/* ... and does not know larger ones */

enum begin_mark {			/* why the functions of an interval are not recorded, if they are not: */
	BEGIN_SHORT = 1,		/* for lack of room */
	BEGIN_ROOT_ONLY = 2,		/* by lot: so that there are some without the cost of probes */
	/* and, independent of that: */
	BEGIN_IN_FRAME = 4,		/* the function that begins it ends it as it returns */
	BEGIN_AGAIN = 8,		/* its thread had an interval of this name and key on its stack already */
};

/*
 * A block of a causal experiment (doc/design/causal.md): for some time something is virtually faster.  It is in force
 * from SET to OVER; intervals count that begin between OPEN and SHUT and end until OVER.  What it was:
 *
 *	block_what(3, 500, 7)	target number 3 was 50 % faster, in round 7
 */
enum block_phase { BLOCK_SET = 1, BLOCK_OPEN, BLOCK_SHUT, BLOCK_OVER };

enum { BLOCK_NO_TARGET = 0xffff };	/* the baseline */

static inline uint64_t block_what(uint32_t target, uint32_t speed, uint32_t round)
{
	return (uint64_t)round << 32 | (uint64_t)(target & 0xffff) << 16 | (speed & 0xffff);
}

/* What a thread did with the object of an ORDER, and for how many ticks it waited before: 0, it did not. */
enum order_what { ORDER_TAKE = 1, ORDER_SHARE, ORDER_GIVE, ORDER_POST, ORDER_MEET };

enum { ORDER_WHAT_BITS = 3 };

static inline uint64_t order_word(enum order_what what, uint64_t waited)
{
	return waited << ORDER_WHAT_BITS | (uint64_t)what;
}

/*
 * The rate of a lot that changes during a recording (record --sample auto), stored above the marks.  At level
 * k, 15 of 16 << k intervals are recorded in full, so each of them represents 2^k intervals of level 0.  0:
 * the rate never changed.
 *
 *	BEGIN_ROOT_ONLY | begin_rate(3)		one of those 113 of 128 at level 3 that were not
 */
enum { SAMPLE_FULL = 15, SAMPLE_OF = 16, SAMPLE_LEVELS = 10, BEGIN_RATE_SHIFT = 8 };

static inline uint64_t begin_rate(unsigned int level)
{
	return (uint64_t)(level + 1) << BEGIN_RATE_SHIFT;
}

/* The number of intervals that it represents; a damaged rate counts as none. */
static inline uint32_t begin_weight(uint64_t word)
{
	uint64_t rate = word >> BEGIN_RATE_SHIFT;

	return rate && rate <= SAMPLE_LEVELS ? (uint32_t)1 << (rate - 1) : 1;
}

static inline unsigned int event_words(unsigned int kind)
{
	static const unsigned char words[EVENT_CNT] = {
#define X(kind, words) [EVENT_##kind] = words,
		TRACE_EVENTS(X)
#undef X
	};

	return words[kind];
}

/*
 * Tables of a fixed size.  The recorder counts the entries that had no room, and every view reports them
 * (doc/design/limits.md).  Add new tables at the end.
 */
enum trace_table {
	TABLE_FUNCTIONS,		/* probes whose function got no number, so its calls are not recorded */
	TABLE_LABELS,			/* uses of names of intervals and work that got no number */
	TABLE_TEXT,			/* names of functions and files that had no room */
	TABLE_THREADS,			/* threads that are not recorded, because too many ran at the same time */
	TABLE_CALLS,			/* calls that are not recorded, because too many calls below them were
					 * open on their thread */
	TABLE_INTERVALS,		/* intervals that a thread lost, because it began or resumed too many
					 * others inside; no longer written, since the reader finds out which
					 * of them mattered */
	TABLE_LOCKS,			/* home-made locks acquired while too many others were being acquired */
	TABLE_UNITS,			/* probes of compiled units that are not known, for lack of memory */
	TABLE_NOTES,			/* no table: probes of units without a note, of functions that the recorder's plan does not know */
	TABLE_STRANGERS,		/* no table: programs built with the probes of another vprof version */
	TRACE_TABLE_CNT
};

enum wait_class {
	WAIT_NONE,
#define X(id, name) WAIT_##id,
	WAIT_CLASSES(X)
#undef X
	WAIT_CLASS_CNT
};

/* A WAIT's class, above it the number of the primitive's caller (runtime/waits/code.h; 0: unknown), and whether it is a poll. */
enum { WAIT_CALLER_SHIFT = 4, WAIT_CALLER_BITS = 14, WAIT_POLLS = 1 << (WAIT_CALLER_SHIFT + WAIT_CALLER_BITS) };
_Static_assert(WAIT_CLASS_CNT <= 1 << WAIT_CALLER_SHIFT, "the caller's number stands above the class");

/* In place of an object: a poll that no thread of the run ended, as far as is known.  A disk's wait has none, 0. */
#define OBJECT_POLLED 1ULL

static inline uint64_t wait_word(enum wait_class class, uint32_t caller)
{
	return (uint64_t)caller << WAIT_CALLER_SHIFT | class;
}

/* Whether it waited for any of several files; what is left of it is class and caller. */
static inline bool wait_word_polls(uint64_t *word)
{
	bool polls = *word & WAIT_POLLS;

	*word &= ~(uint64_t)WAIT_POLLS;
	return polls;
}

/* Its caller; what is left of it is the class. */
static inline uint32_t wait_word_caller(uint64_t *word)
{
	uint64_t caller = *word >> WAIT_CALLER_SHIFT;

	*word &= (1U << WAIT_CALLER_SHIFT) - 1;
	return caller <= TRACE_CALLERS_MAX ? (uint32_t)caller : 0;
}

/* A waker: 0 unknown; serial << 1; or tid << 1 | 1 where only the kernel's number is known.  No thread has the number 0: that
 * is the wait's own time-out. */
#define WAKER_TIME_OUT 1ULL

static inline uint64_t waker_serial(uint64_t serial)
{
	return serial << 1;
}

static inline uint64_t waker_tid(uint64_t tid)
{
	return tid << 1 | 1;
}

/* Outside the run: a number that no thread has, and in it that of the label that says its name behind this prefix. */
#define TRACE_OUTSIDE (1ULL << 49)
#define TRACE_OUTSIDE_LABEL "peer:"
#define TRACE_OBJECT_LABEL "object:"		/* ... of an OBJECT's label */

static inline uint64_t waker_outside(uint32_t label)
{
	return waker_tid(TRACE_OUTSIDE | label);
}

static inline bool waker_is_outside(uint64_t waker)
{
	return waker & TRACE_OUTSIDE << 1;
}

#define TRACE_MAGIC 0x31656361727456ULL		/* "Vtrace1" */
#define TRACE_BLOCK_MAGIC 0x4b4c4256u		/* "VBLK" */

enum { TRACE_BLOCK_RAW_MAX = 1 << 22 };		/* a reader refuses more */
enum { TRACE_BLOCK_RATIO_MAX = 512 };		/* ... and blocks larger than their packed size by more than this
						 * factor: a bomb */

struct trace_header {
	uint64_t magic;
	uint32_t version, header_bytes;
};

/* Raise it when a reader of the version before would misread the file. */
enum { TRACE_VERSION = 1 };

enum trace_block_kind {
	BLOCK_CHUNKS = 1, BLOCK_ANCHORS, BLOCK_FUNCTIONS, BLOCK_LABELS, BLOCK_END,
	BLOCK_WINDOW, BLOCK_PAUSES, BLOCK_TABLES, BLOCK_ACCOUNTS, BLOCK_CONTENTS, BLOCK_CPU_USE
};

struct trace_block {
	uint32_t magic, kind;
	uint32_t raw_bytes, stored_bytes;
	uint64_t checksum;			/* encode_checksum() of the stored bytes */
};

/* The first of a block's stored bytes (kernel.vpk's, too). */
struct trace_place {
	uint64_t number;			/* of the trace's blocks, over all parts, from 1 */
	uint64_t since, until;			/* ticks: when its first record was logged, and its last; 0: it has none */
	uint64_t checksum;			/* trace_place_checksum(): right also where the rest is damaged */
};

#endif
