/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model.h - the data of a run: the paper's tuples (section 3.3.1) as arrays.
 *
 * Two sources make this model and nothing else does: trace/read/reader.c (the binary trace
 * of a recorded run) and trace/tuples/tuples.c (the text form, vprof-tuples(5)).  The
 * analysis sees only this.  Times are integer nanoseconds, CLOCK_MONOTONIC; spans are
 * half-open (start, end] as in the paper.
 *
 * The arrays may come in any order; trace_sort() gives each the order noted below, which
 * depends on the content only, so results never depend on the order of the input.
 */
#ifndef TRACE_MODEL_H
#define TRACE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/alloc.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "trace/wait_classes.h"

/* States of a segment, and the wait classes of pieces, nodes and factors.  "wakeup" is never
 * the state of a segment: it is the part of a wait after its wake-up (vprof-formats(5), WAITS).  Nor are the last four, which say
 * what a request on a socket waited for that its thread did not work for: it was not read yet, its thread worked for
 * others, another thread had yet to take it up, no thread here had it. */
#define TRACE_STATES(X)		\
	X(RUNNING,  "running")	\
	WAIT_CLASSES(X)		\
	X(RUNNABLE, "runnable")	\
	X(WAKEUP,   "wakeup")	\
	X(OTHER,    "other")	\
	X(ARRIVED,     "arrived")	\
	X(BUSY,        "busy")		\
	X(HANDED_OVER, "handed-over")	\
	X(PARKED,      "parked")

enum trace_state {
#define X(id, name) STATE_##id,
	TRACE_STATES(X)
#undef X
	STATE_CNT
};

const char *trace_state_name(enum trace_state state);
/* false if name is no state. */
bool trace_state_parse(const char *name, enum trace_state *ret);

/* The thread was runnable without a CPU. */
static inline bool state_is_runqueue(enum trace_state state)
{
	return state == STATE_RUNNABLE || state == STATE_WAKEUP;
}

/* Its thread does not work for the interval, or is not known yet: a piece is explained by what the thread does meanwhile. */
static inline bool state_is_queue(enum trace_state state)
{
	return state == STATE_QUEUE || state >= STATE_ARRIVED;
}

#define SID_NONE UINT64_MAX		/* "-": work on behalf of no interval */
#define SID_SHARED (UINT64_MAX - 1)	/* of all requests that the thread has then (trace/kernel/requests.h) */
#define FUNCTION_NONE UINT32_MAX
#define CALL_SITE_NONE UINT32_MAX
#define NAME_NONE UINT32_MAX

enum interval_status { INTERVAL_OPEN, INTERVAL_COMPLETED, INTERVAL_ABORTED };

struct interval {
	uint64_t sid;			/* unique within the trace */
	uint32_t name;			/* index into trace.interval_names */
	enum interval_status status;
	bool lost;			/* records that belong to it were dropped: not used, counted */
	bool root_only;			/* its functions were not recorded, by lot (record --sample) */
	uint32_t weight;		/* number of intervals it represents if recorded in full (--sample auto); 0: 1 */
	uint32_t origin;		/* index into trace.origins: the part of a merged run that it is from */
	uint64_t start_tid, end_tid;
	int64_t start_ns, end_ns;	/* end_*: only if not open */
	int64_t begun_ns;		/* its request had arrived at start_ns, and it began only then; 0: of the arrival nothing is known */
	int64_t idle_ns;		/* until then the thread that began it waited for a file or connection, for no interval; 0: not known */
};

static inline uint32_t interval_weight(const struct interval *iv)
{
	return iv->weight ? iv->weight : 1;
}

/* Whether the squares of cnt latencies, none longer than this, sum to at most 2^124: with that all sums are exact. */
static inline bool squares_fit(uint64_t cnt, __int128 longest_ns)
{
	return longest_ns < (__int128)1 << 62 &&
	       longest_ns * longest_ns <= ((__int128)1 << 124) / (__int128)(cnt ? cnt : 1);
}

/* A recording from which intervals come: the run's own, or a part of a merged one.  Texts: NULL if unknown, as of an import. */
struct trace_origin {
	uint32_t run;			/* the number of the run that recorded or imported it */
	const char *machine, *host, *container, *build;	/* as in struct summed_source */
};

struct segment {
	uint64_t tid, sid;		/* sid may be SID_NONE, or one without an interval */
	int64_t start_ns, end_ns;
	enum trace_state state;
	uint32_t caller;		/* of a wait: the caller of the primitive that blocked, number in
					 * trace.callers; 0: unknown */
};
typedef VEC(struct segment) segment_list;

/* A function of the program that called a primitive, by its return address: it need not have a probe. */
struct code_function {
	const char *name, *file;	/* as the program's symbols have them; name "", file NULL: they do not say */
	uint32_t line;			/* 0: they do not say */
	uint64_t key;			/* of the project's function (struct function); 0: the project has none */
	bool is_one;			/* no other function of that name (without parameters) can be meant */
};

enum { CALLER_FUNCTIONS = 8 };

/* Several functions where some are inlined: the innermost first, the last is the symbol's. */
struct wait_caller {
	struct code_function functions[CALLER_FUNCTIONS];
	uint32_t function_cnt;		/* 0: its file has no name for it */
	const char *module;		/* the file that it is in, without directories; NULL: not known, and so are the rest */
	bool is_built;			/* vprof built some unit of that file */
};

struct invocation {
	uint64_t tid, sid;
	uint32_t function;		/* index into trace.functions */
	uint32_t call_site;		/* index into trace.call_sites, or CALL_SITE_NONE */
	int64_t start_ns, end_ns;
	uint32_t order;			/* order of appearance: equal spans nest by it */
};

struct wakeup {
	uint64_t tid, waker_tid;
	int64_t time_ns;
};

struct creation {			/* tid created a task, tid2 picked it up */
	uint64_t tid, tid2;
	int64_t time_ns, time2_ns;
	uint32_t task;			/* index into trace.task_names, or NAME_NONE */
	uint64_t sid;			/* of that interval alone, a request; 0: of whatever is picked up there */
	uint64_t peer;			/* in between the request waits for that one's answer; 0: nobody's */
};

/* What tracing systems call the interval; 0: unknown.  A call of another service has a span, which is the parent there. */
struct interval_ids {
	uint64_t sid;
	uint64_t trace[2];		/* high half, low half */
	uint64_t span, parent;
};

struct remote_call {			/* tid calls another service */
	uint64_t tid, span;
	int64_t time_ns;
};

struct work {
	uint64_t sid;
	uint32_t name;			/* index into trace.work_names */
	int64_t value;
};

/* A function that has invocations, or that the static call graph names. */
struct function {
	const char *name;
	const char *file;		/* NULL if unknown (imported tuples) */
	uint32_t line;			/* of its body; 0 if unknown */
	uint64_t key;			/* hash of (real path, line, name), runtime/shared/probe.h; 0 if unknown */
	bool probed;			/* could have invocations in this run */
	bool left_out;			/* calls of it do not count in the call graph */
	bool registered;		/* a program of the run has its probe */
	bool beyond_graph;		/* it was instrumented by a build whose call graph is not here */
	bool is_system;			/* of a system library, where functions are those of stacks (struct look) */
	bool is_loop;			/* there: threads wait for requests in it, so it is around all of them */
};

struct call {				/* static call graph: caller may call callee */
	uint32_t caller, callee;	/* indexes into functions */
	uint32_t call_site;		/* index into call_sites ("server.c:28"), or CALL_SITE_NONE */
	bool observed;			/* learnt from an earlier run's nesting, not in the sources */
};

/*
 * A device stands among the threads, under a TID of its own (wPerf's pseudo threads):
 *	running		it has requests to serve
 *	queue		it has none; a wake-up names the thread that made the next one
 *	no segment	idle as well, if it has any segments at all; else unknown
 * It is the waker of threads that wait for its work; a timer, of those that only wait for time.
 *
 * A peer is the other end of a connection, or a file (trace/peers.h): it only ends waits.
 *
 * Threads of the kernel's own (jbd2, kworker) have segments as the program's have, and wait for devices themselves.
 */
#define TRACE_THREAD_KINDS(X)	\
	X(THREAD, "thread")	\
	X(DISK,   "disk")	\
	X(NIC,    "nic")	\
	X(TIMER,  "timer")	\
	X(KERNEL, "kernel")	\
	X(PEER,   "peer")

enum thread_kind {
#define X(id, name) KIND_##id,
	TRACE_THREAD_KINDS(X)
#undef X
	KIND_CNT
};

/* It runs on a processor; KIND_KERNEL: but executes no function of the program. */
static inline bool kind_is_thread(enum thread_kind kind)
{
	return kind == KIND_THREAD || kind == KIND_KERNEL;
}

const char *thread_kind_name(enum thread_kind kind);
bool thread_kind_parse(const char *name, enum thread_kind *ret);

/* Devices have TIDs above all threads'; this one is the timer's: what the kernel calls by that number (trace/kernel/kernel_threads.h),
 * and the waker of a wait that timed out. */
#define TID_TIMER (1ULL << 48 | 3ULL << 40)
#define TID_PEER(number) (1ULL << 49 | (number))	/* in a recorded trace: TRACE_OUTSIDE (trace/format.h) */
#define TID_NOBODY (1ULL << 50)		/* the waker of a wake-up of which only the time is known */

struct thread_name {
	uint64_t tid;
	uint64_t pid;			/* 0 if unknown */
	const char *name;		/* may be NULL */
	enum thread_kind kind;
	bool open_end;			/* its end was not recorded: it may have waited on, unseen */
	uint32_t function;		/* of a peer: index into functions of its name (trace/peers.h) */
};

/* The thread's last wake-up turned out to be false: it waits for the same again. */
struct false_wakeup {
	uint64_t tid;
	int64_t time_ns;
};

/*
 * The functions that a thread was in, seen from outside: when it left the CPU, when it woke another thread, or
 * at a sample.  A stack has more detail than the invocations, which are
 * those of probed functions only; views of whole runs use it, results of intervals do not.
 *
 * A stack is text: names of functions, the outermost first, between ';', each perhaps with the
 * place where it was.  What would end a name is %XX.
 *	main;serve;write_log@log.c:31;fsync
 */
struct stack_span {
	uint64_t tid;
	int64_t start_ns, end_ns;	/* the thread's spans are disjoint */
	uint32_t stack;			/* index into trace.call_stacks */
};

/* A stack by its functions; those of system libraries below the program's own are left out, except the first. */
struct chain {
	uint32_t parent;		/* index into trace.chains; 0 is the empty one */
	uint32_t function;		/* index into trace.functions */
};

struct stack_sample {			/* tid was running then */
	uint64_t tid;
	int64_t ns;
	uint32_t chain;
};

/* A request on a socket, as the kernel saw it: the interval of that SID. */
struct request {
	uint64_t sid;
	uint32_t connection;		/* counted from 1 */
	uint32_t port;			/* 0: the name says its path */
	uint32_t bytes_in, bytes_out;
};

/* Data of a look at requests besides the requests. */
struct look {
	bool is_one;			/* functions are those of stacks, and requests are intervals */
	int64_t sample_ns;		/* mean period of the samples; 0: there are none */
	int64_t sample_cost_ns;		/* that one takes of the thread that it hits */
	int64_t duration_ns;
	int64_t cost_ns;		/* of recording one request, measured; 0: it was not */
	bool is_of_calls;		/* of places in the code, in fact, not of sockets */
	uint64_t without_start;		/* ends of such intervals that had not begun */
	uint64_t requests, connections;
	uint64_t unseen_arrivals;		/* requests whose arrival was not seen: left out */
	uint64_t several;		/* that hold several, sent without waiting for the answer */
	uint64_t answers, unsolicited;	/* sends in all; those that answer nothing */
	const char *reader, *writer;	/* functions in which requests are read, and answers sent; NULL: not known */
	uint64_t stacks, unnamed_stacks;	/* of threads with a request; those whose innermost function has no name */
	const char *unnamed_file;	/* most of these are in that file; NULL: none */
};

enum { HOLE_TIDS = 4 };

/* Records that the recorder could not keep; counted exactly, reported by every view. */
/* A table of the recorder that ran out of room; dropped 0: it did not. */
struct full_table {
	const char *table;		/* NULL: it is none, but names of functions that the program does not carry */
	const char *dropped_what, *effect;
	uint64_t size, dropped;
};

enum { FULL_TABLES_MAX = 16 };

struct full_tables {
	struct full_table items[FULL_TABLES_MAX];
};

struct losses {
	uint64_t records;		/* records dropped for lack of room */
	uint64_t stacks;		/* moments at which a call may have run on another stack of its thread
					 * than recorded */
	uint64_t intervals;		/* intervals touched by either */
	bool cut_off;			/* the recorder did not finish: the last records of its threads are missing */
	uint64_t cut_bytes;		/* bytes after the last whole block of a cut trace */
	uint64_t before_window;		/* intervals that began before what was kept of the run */
	uint64_t at_pause;		/* intervals that were cut since the recording paused */
	struct {			/* of the trace itself: blocks are missing, or damaged */
		uint64_t cnt, blocks, records, tables, files;	/* blocks of records; records as far as known; blocks of names */
		uint64_t bytes, twice;	/* bytes that are no block; blocks that are there twice */
		int64_t since_ns, until_ns, ns;	/* start of the first hole, end of the last, and their total length */
		uint64_t tids[HOLE_TIDS];	/* of the threads concerned, as many as there is room for */
		uint64_t tid_cnt;
	} holes;
	bool kernel_damaged;		/* what the kernel saw is left out */
	uint64_t callers_line;		/* the first malformed line of the file of callers; 0: none */
	uint64_t stray_events;		/* ends, drops and resumes of intervals that were not open */
	struct full_tables full;
};

/* Time outside recorded waits in which, by the kernel's accounts, the thread was not running. */
struct off_cpu {
	uint64_t placed_ns;		/* off the CPU for an unknown reason: segments of state other */
	uint64_t runnable_ns;		/* in the run queue: segments of state runnable */
	uint64_t unplaced_ns;		/* off the CPU at an unknown time: counted as running */
	uint64_t run_ns, delay_ns;	/* of all threads whose accounts were read from outside: on a CPU, in the run queue */
};

struct cpu_user {
	const char *comm;		/* as the process calls itself, any bytes; "": further ones */
	uint64_t ns;
};

/* Times for which the run's threads were ready to run and did not, each squared: as variance has them, one long one counts more than
 * many short ones.  ns^2. */
struct runqueue_sums {
	double all;
	double from_idle;		/* the CPU had nothing else to do: it took so long to wake up */
};

/* Other processes' use of the CPUs during the recording: sums over ns.  0 ns: not measured. */
struct cpu_use {
	uint64_t ns;
	uint32_t cpu_cnt;		/* that the machine has */
	uint32_t allowed_cnt;		/* that the recorded threads may run on, all together; 0: unknown */
	double runnable_ns;		/* threads that ran or were ready to run, summed over time */
	bool has_stalled;
	uint64_t stalled_ns;		/* time in which a thread waited for a CPU (PSI) */
	uint64_t throttled_ns;		/* a control group of the recorded processes was at its limit; of each CPU */
	uint64_t busy_ns, seen_ns;	/* of all CPUs; the part that known processes used */
	bool kernel_knows;		/* whether times in the run queue are recorded */
	uint64_t stolen_ns;		/* by other virtual machines */
	struct runqueue_sums runqueue;	/* by the kernel's side; 0: not known */
	VEC(struct cpu_user) users;	/* of the allowed CPUs, without the recorded processes and vprof; names in the trace's arena */
};

/* A start or an end that found no partner: its key, and the thread it was on. */
struct unpaired {
	bool known;
	uint64_t key, tid;
};

/* How the starts and ends of one name were paired, in a recorded trace. */
struct pairing {
	uint64_t starts;		/* all of them, nested ones as well */
	uint64_t nested;		/* ... those inside an interval of the same name and key */
	uint64_t unended;		/* ... and those that had no end, or not before the next start or a pause */
	uint64_t unmatched_ends;	/* ends of keys that were not started */
	uint64_t aborted;		/* by VPROF_ABORT; not among the unended */
	struct unpaired start, end;	/* an example of both; of one thread, if there is a pair of that kind */
	struct unpaired inner, given_up;	/* ... of a nested start, of an aborted interval */
};

typedef VEC(const char *) strings;	/* numbered from 0 */

/* A stack (runtime/stacks.h) that no thread was on; afterwards its thread has this number in the kernel. */
struct away {
	uint64_t tid;
	int64_t start_ns, end_ns;
	uint32_t kernel_tid;			/* 0: the same as before */
};

/* In a run of causal experiments: the lag of the thread's virtual clock at ns (trace/causal/in_virtual_time.h). */
struct trace_shift {
	uint64_t tid;
	int64_t ns, shift_ns;
};

/* ... a block, in which a target was virtually faster.  Intervals that began from begin_ns to end_ns count if they ended until over_ns. */
struct faster_block {
	uint32_t number, target, speed;	/* target: index; speed: per mille, 0: the baseline */
	int64_t begin_ns, end_ns, over_ns;	/* INT64_MAX: it was not recorded */
	uint32_t round;			/* of a round that was repeated, the last block of each point is the one that counts */
};

/*
 * In a run that noted every synchronisation (record --order): a lock was taken, by one or with other readers, and let go; a
 * semaphore was posted; a thread came to a barrier (at since_ns) and went on (at ns).
 *
 *	T1 takes m at 10; T2 asks for it at 20, gets it at 52: { T2, 52, 20, m, SYNC_TAKE }; T1 let it go at 50
 */
enum sync_kind { SYNC_TAKE, SYNC_SHARE, SYNC_GIVE, SYNC_POST, SYNC_MEET };

const char *sync_kind_name(enum sync_kind kind);
bool sync_kind_parse(const char *name, enum sync_kind *ret);

struct sync_op {
	uint64_t tid;
	int64_t ns, since_ns;		/* since_ns < ns: the thread waited for it */
	uint32_t object;		/* index into trace.sync_objects */
	enum sync_kind kind;
	uint32_t order;			/* of appearance */
};

struct trace {
	struct arena *arena;		/* owns every string below */
	strings interval_names, call_sites, task_names, work_names, call_stacks, sync_objects;
	VEC(struct function) functions;
	VEC(struct interval) intervals;		/* sorted: start_ns, sid */
	segment_list segments;		/* sorted: tid, start_ns, end_ns */
	VEC(struct invocation) invocations;	/* sorted: tid, start_ns, longest first, order */
	VEC(struct wakeup) wakeups;		/* sorted: tid, time_ns, waker_tid */
	VEC(struct creation) creations;		/* sorted: tid2, time2_ns, time_ns, tid */
	VEC(struct call) calls;			/* sorted: caller, callee, call_site */
	VEC(struct work) works;			/* sorted: sid, name, value */
	VEC(struct interval_ids) ids;		/* sorted: sid; not of windows */
	const char *host;			/* that recorded it; NULL: unknown */
	VEC(struct remote_call) remote_calls;	/* sorted: tid, time_ns, span; not of windows */
	VEC(struct thread_name) threads;	/* sorted: tid, pid, kind, name */
	VEC(struct false_wakeup) false_wakeups;	/* sorted: tid, time_ns */
	VEC(struct chain) chains;		/* parents first */
	VEC(struct stack_sample) samples;		/* sorted: tid, ns */
	VEC(struct request) requests;		/* sorted: sid */
	struct look look;
	VEC(struct stack_span) stack_spans;	/* sorted: tid, start_ns, end_ns */
	VEC(struct wait_caller) callers;	/* [0] is none */
	VEC(struct away) aways;			/* sorted: tid, start_ns; for the kernel's side (trace/kernel/kernel.h) alone */
	VEC(struct trace_shift) shifts;		/* of a thread: by time */
	VEC(struct faster_block) blocks;		/* by time */
	VEC(struct sync_op) sync_ops;		/* sorted: tid, ns, order */
	struct losses losses;
	struct off_cpu off_cpu;
	struct cpu_use cpu_use;
	VEC(struct trace_origin) origins;	/* in order of run; not of windows; there may be none */
	VEC(struct pairing) pairings;		/* by name; there may be fewer */
	bool windowed;				/* only the end of its run was kept, or all up to a moment */
	bool from_arrival;			/* intervals begin as their requests arrive (trace/kernel/arrivals.h) */
	bool kernel_reduced;			/* the recorder noted when threads were off the CPU, but not why */
};

struct trace *trace_new(void);
void trace_free(struct trace *t);		/* NULL is fine */
DEFINE_CLEANUP(struct trace *, trace_free);

/*
 * For windows of a trace: names and functions are those of `from`, which keeps them and must outlive the
 * window. Give them back before the window is freed; borrow them again when `from` has more of them.
 */
void trace_borrow_names(struct trace *window, const struct trace *from);
void trace_return_names(struct trace *window);

/* Copies the devices' numbers and kinds; a window needs nothing else of the threads. */
void trace_copy_devices(struct trace *window, const struct trace *from);

/* Waits in the socket are known, and when a thread that they wait for had no CPU. */
static inline bool trace_has_arrivals(const struct trace *t)
{
	return t->look.is_one || t->from_arrival;
}

/* Puts every array into the order noted above. */
void trace_sort(struct trace *t);
/* That of invocations, for qsort(): outer ones come before those inside them. */
int compare_invocations(const void *a, const void *b);
/* Sets idle_ns of the intervals of a sorted import from its segments: io, for no interval.  A recording has them already. */
void trace_find_idle(struct trace *t);
/* All arrays except the invocations, which are most of the trace. */
void trace_sort_events(struct trace *t);

/* Index of text in list, added (copied into t's arena) if it is new.  Linear: for short lists;
 * readers with many strings keep a struct names of their own. */
uint32_t trace_add_string(struct trace *t, strings *list, const char *text);

/* How the starts and ends of this name were paired; NULL: unknown. */
static inline const struct pairing *trace_pairing(const struct trace *t, uint32_t name)
{
	return name < t->pairings.cnt ? &t->pairings.items[name] : NULL;
}

#endif
