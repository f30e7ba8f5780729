/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel.h - the kernel's side of a run (kernel.vpk), and its place in the model.
 *
 *	kernel_read.c		bytes -> struct kernel_trace, checked
 *	kernel_sort.c		... in order
 *	kernel_spill.c		the same for traces that are longer than memory
 *	kernel_class.c		what a time off the CPU was
 *	kernel_presence.c	when a thread of the model was one of the kernel's
 *	kernel_threads.c	whose it was: threads of the model by kernel tid and time; devices
 *	kernel_merge.c		segments and wakeups
 *	kernel_stacks.c		what threads were in
 *	kernel_devices.c	what devices did
 *	requests.c		requests on sockets as intervals
 *	upstreams.c		which servers threads waited for
 *	arrivals.c		... or when those of other intervals arrived
 *	kernel_windows.c	all of this for a trace that comes in windows
 */
#ifndef TRACE_KERNEL_KERNEL_H
#define TRACE_KERNEL_KERNEL_H

#include "base/diag.h"
#include "trace/kernel_format.h"
#include "trace/model.h"

struct kernel_off {			/* a time off the CPU: (out, in] */
	int64_t out_ns, in_ns;
	int64_t woken_ns;		/* with OFF_WOKEN; not later than in_ns, may be before out_ns */
	uint32_t tid, pid;
	uint32_t flags;			/* enum kernel_off_flags */
	uint32_t state;
	int32_t syscall;		/* -1: none */
	enum kernel_waker waker_kind;
	uint32_t waker;
	uint64_t argument[3];
	bool after_loss;		/* records before it are missing */
};

struct kernel_life {
	enum kernel_record_kind kind;	/* KERNEL_FORK and later */
	uint32_t tid, pid, other;
	int64_t ns;
	const char *name;
};

struct kernel_name {
	enum kernel_waker kind;
	uint32_t number;
	const char *name;
};

struct kernel_stack {
	uint32_t tid;
	uint32_t stack;			/* index into texts */
	int64_t ns;
	enum kernel_stack_reason reason;
};

struct kernel_request {			/* a disk had it in (issue, done]; a network interface a packet */
	enum kernel_waker kind;
	uint32_t device;
	uint32_t tid;			/* the thread that caused it; 0: unknown */
	int64_t issue_ns, done_ns;
};

struct kernel_exchange {		/* a request and its answer on one connection */
	uint32_t connection, port;	/* port: or EXCHANGE_PATH + index of paths */
	uint32_t flags;			/* enum exchange_flags */
	uint32_t receiver, sender;
	uint32_t bytes_in, bytes_out;
	uint32_t unsolicited;		/* sends on this connection before, which answered nothing */
	int64_t start_ns, first_read_ns, last_read_ns, first_send_ns, last_send_ns;
};

struct kernel_upstream {		/* a thread took bytes of a server that it asks */
	uint32_t tid;
	uint32_t name;			/* index into upstream_names, or EXCHANGE_PATH + index of paths */
	uint32_t connection;		/* of the request that the server was asked for; 0: unknown */
	bool after_wait;		/* they are the first bytes since it waited */
	int64_t sent_ns, arrival_ns, ns;	/* it was asked, they were in the queue, and were read; the first two with a connection */
};

struct kernel_trace {
	struct arena *arena;		/* owns the names */
	VEC(struct kernel_off) offs;		/* by tid, then time; one tid's do not overlap */
	VEC(struct kernel_life) lives;		/* by tid, then time */
	VEC(struct kernel_name) names;		/* of devices */
	VEC(struct kernel_stack) stacks;	/* by tid, then time */
	VEC(struct kernel_request) requests;	/* by device, then time of issue */
	VEC(struct kernel_exchange) exchanges;	/* by start, then connection */
	VEC(struct kernel_upstream) upstreams;	/* by tid, then time */
	strings upstream_names;			/* HOST:PORT; each once */
	strings texts;				/* of stacks */
	strings system;				/* functions of system libraries in them */
	strings paths;				/* of Unix sockets */
	strings calls;				/* KERNEL_CALLS; none: exchanges are those of sockets */
	int64_t start_ns, end_ns, last_off_ns;
	int64_t sample_ns;		/* period of samples; 0: none */
	int64_t sample_cost_ns;		/* what one takes of the thread that it hits */
	bool has_exchanges;		/* they were recorded, if there were any */
	bool for_arrivals;		/* ... for the arrivals of other intervals' requests (arrivals.h) */
	uint64_t lost, cut_bytes;
	struct runqueue_sums runqueue;
	int64_t exchange_cost_ns;	/* that recording one takes; 0: it was not measured */
	uint64_t unasked;		/* sends on accepted sockets before anything was read from them */
	int64_t watched_ns;		/* for how long exchanges were; 0: not known */
	uint64_t calls_without_start;	/* ends of intervals that had not begun */
	bool reduced;			/* no reasons, no wakers */

	/* kernel_spill.c: receives the offs as they are read; stacks are not read then. */
	void (*take_off)(void *arg, const struct kernel_off *o);
	void *take_arg;
	size_t spilled_bytes;		/* size of the mapped file that holds offs; 0: offs are in memory */
};

/* k is zeroed; kernel_release() in any case. */
int kernel_read(struct kernel_trace *k, const char *path, struct diag *reterr);
/* Of what its first block says; all false if that cannot be read. */
struct kernel_kind {
	bool is_reduced, has_exchanges;	/* as of struct kernel_trace */
};
struct kernel_kind kernel_kind_of(const char *path);
void kernel_release(struct kernel_trace *k);

/* The same for windows: reads no stacks, and keeps offs in a file of TMPDIR if there are many.  k->take_off
 * is NULL afterwards. */
int kernel_read_spilled(struct kernel_trace *k, const char *path, struct diag *reterr);
/* Tells the kernel that pages which were read need not stay in memory. */
void kernel_spill_forget(const struct kernel_trace *k);
/* The least number of offs that go to a file.  Tests make it small. */
extern size_t kernel_spill_offs;

/* Brings the arrays into the order noted above; kernel_read() has done that. */
void kernel_sort(struct kernel_trace *k);

/* STATE_RUNNABLE: the thread could have run on.  thread_of_process: whether a number that the thread waits
 * for is a thread of its own process, as in pthread_join(). */
enum trace_state kernel_class(const struct kernel_off *o,
			      bool (*thread_of_process)(void *context, uint32_t pid, uint32_t tid),
			      void *context);

/* Adds what k knows to t, which is sorted, and sorts it again. */
void kernel_merge(struct trace *t, const struct kernel_trace *k);

/* Reads and merges. */
int kernel_add(struct trace *t, const char *path, struct diag *reterr);

#endif
