/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * requests.h - requests and answers on sockets (struct kernel_exchange) as intervals, and which thread works for which.
 *
 *	requests.c		intervals, where they were picked up
 *	request_turns.c		whose a thread's time is
 *	request_frames.c	functions, from stacks
 *	request_answers.c	what other servers answered
 *
 * A request begins as its first byte is in the socket and ends with the last piece of its answer.  The thread that reads it
 * has it from the first read on; where another one answers, that one has it since the reader woke it, or since its own
 * answer before if that is later:
 *
 *	T1 reads at 14 what arrived at 10, answers at 30	interval 10..30; creation T1 10 -> T1 14; T1's 14..30 is its
 *	T1 reads at 14 what arrived at 10, wakes T2 at 16, which answers at 30
 *								creations T1 10 -> T1 14 -> T2 16; T2's 16..30 is its
 *
 * A thread with several has a turn for each, from its read to the next one's: A read at 10, B read at 20, A answered at 40, B at 42:
 * 10..20 is A's, 20..b is B's (A's thread is busy), b..40 is of both (SID_SHARED).  b: where the function that reads requests is
 * no longer in the thread's stacks, or the first answer is sent.
 *
 * A thread that waits, while it has a request, where it also waits when it has none has nothing to do for it: the request is
 * parked (an upstream, a timer has it meanwhile), and the wait is nobody's.  If it had asked a server it waits for that one's answer.
 */
#ifndef TRACE_KERNEL_REQUESTS_H
#define TRACE_KERNEL_REQUESTS_H

#include "trace/kernel/kernel_threads.h"

struct request_owner {			/* of an exchange: threads of the model */
	uint64_t sid;			/* 0: it is no interval, for its arrival was not seen */
	uint64_t receiver, sender;
	int64_t from_ns;		/* since when the sender has it */
};

/* The reading of one stack's text. */
struct stack_reading {
	uint32_t chain;			/* index into trace.chains */
	uint32_t own_chain;		/* without what it called of a system library */
	bool reads;			/* the function that reads requests is in it */
	bool is_idle;			/* threads without a request wait there */
};

struct request_frames {
	struct stack_reading *texts;	/* by index of kernel_trace.texts */
	bool knows_reader;		/* some function reads requests */
};

/* k's exchanges by connection, then time.  The caller frees it. */
const struct kernel_exchange **exchanges_by_connection(const struct kernel_trace *k);

/* Finds the owner of each of k's exchanges, into an array of as many.  t is sorted. */
void request_owners_find(struct trace *t, const struct kernel_trace *k, struct kernel_threads *x, struct request_owner *owners);

/* The ways of a request to the thread that answers it, as creations: in the socket, then handed over. */
void request_add_ways(struct trace *t, const struct kernel_exchange *x, const struct request_owner *o, uint64_t sid, int64_t read_ns);

/* Adds [start_ns, end_ns) of a segment, for that interval, in that state; nothing if it is empty. */
void segment_add_piece(segment_list *list, const struct segment *of, int64_t start_ns, int64_t end_ns, uint64_t sid, enum trace_state state);

/* After kernel_merge_threads(); sorts t.  k->has_exchanges. */
void requests_add(struct trace *t, const struct kernel_trace *k, struct kernel_threads *x);

/* request_frames.c: functions and chains into t; invocations of waits; samples.  owners: of k's exchanges. */
void request_frames_add(struct request_frames *f, struct trace *t, const struct kernel_trace *k, const struct kernel_threads *x,
			const struct request_owner *owners);
void request_frames_release(struct request_frames *f);

struct request_answer {			/* of a server that was asked for the request */
	uint32_t exchange;		/* that request: index of k's exchanges */
	uint64_t peer;			/* the server's TID */
	int64_t sent_ns, arrival_ns, read_ns;
};
typedef VEC(struct request_answer) request_answers;

/* request_answers.c: those that the thread of the request itself read, into ret, by thread and time.  peers: of upstreams_add(). */
void request_answers_find(const struct kernel_trace *k, const struct request_owner *owners, const uint64_t *peers, struct kernel_threads *x,
			  request_answers *ret);
/* After request_turns_add(): the stretches that requests waited for, as creations. */
void request_answers_add(struct trace *t, const struct request_owner *owners, const request_answers *answers);

/* request_turns.c: cuts t's segments, which are sorted, and says whose they are. */
void request_turns_add(struct trace *t, const struct kernel_trace *k, const struct request_owner *owners,
		       const struct request_frames *f, const request_answers *answers);

#endif
