/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * simulator.h - the inside of a simulated program: actors (threads), what they wait for, and the
 * operations that their scripts (scripts.c) consist of.
 */
#ifndef TESTS_PROPERTY_SIMULATOR_H
#define TESTS_PROPERTY_SIMULATOR_H

#include "tests/oracle/random_trace.h"
#include "tests/property/program.h"

#define LOCKS 6
#define CONDS 4
#define POOLS 3				/* task queues */
#define SCRIPT_MAX 512
#define STACK_MAX 32
#define NOBODY UINT32_MAX

enum op_kind {
	OP_SPEND,			/* value ns in state */
	OP_CALL, OP_RETURN,
	OP_LOCK, OP_UNLOCK,
	OP_WAIT,			/* for cond value, at most a while */
	OP_SIGNAL, OP_BROADCAST,
	OP_BARRIER,
	OP_BEGIN, OP_END,
	OP_PUSH,			/* the interval goes on with whoever picks the task up */
	OP_FORK, OP_JOIN,		/* a subtask; wait for all of mine */
	OP_POP, OP_FINISH,		/* a worker's task: begin and end */
	OP_SLICE, OP_YIELD,		/* an event loop's: begin or resume one, end or pause it */
};

struct op {
	enum op_kind kind;
	enum trace_state state;		/* OP_SPEND */
	uint32_t value;
};

enum role { ROLE_CLIENT, ROLE_WORKER, ROLE_LOOP, ROLE_BARRIER, ROLE_BACKGROUND, ROLE_CNT };

struct actor {
	uint64_t tid;
	enum role role;
	uint64_t sid;			/* what it works on, or SID_NONE */
	enum trace_state state;
	int64_t since_ns;		/* start of its segment */
	int64_t until_ns;		/* OP_SPEND: its end; a wait: its time-out */
	bool spending, blocked;
	enum op_kind blocked_in;
	uint32_t object;		/* lock, cond, pool */
	int64_t queued_ns;		/* began to wait, however often it was cut */
	bool woken;
	uint32_t waker;
	int64_t woken_ns, ready_ns;	/* ready: goes on from there */
	int64_t files_ns, files_woken_ns;	/* its last wait for files that a thread ended: from, to; 0, 0: none */
	uint32_t parent;		/* of the task it works on, or NOBODY */
	uint32_t children;		/* subtasks that are not done */
	struct op script[SCRIPT_MAX];
	size_t op_cnt, op_at;
	size_t stack[STACK_MAX];	/* open invocations, indexes into the trace's */
	size_t depth;
	struct charge_tick *plain;	/* what it did; one a tick */
	struct charge_tick *past;	/* the same, its waits explained */
	struct charge_tick *own;	/* the past of the interval that it works on */
};

struct task {				/* queued, or an interval that is paused */
	uint64_t sid;
	uint32_t from;			/* the actor that made or paused it */
	uint32_t parent;
	int64_t at_ns;
	struct charge_tick *own;	/* the interval's past until then */
};

typedef VEC(struct task) tasks;

struct simulator {
	const struct program_options *o;
	struct program *p;
	struct random random;
	struct actor *actors;
	uint32_t actor_cnt;
	uint32_t owners[LOCKS];		/* actor, or NOBODY */
	tasks pools[POOLS], paused;
	uint32_t at_barrier, barrier_cnt;
	int64_t now_ns;
};

static inline bool chance(struct simulator *s, uint32_t percent)
{
	return random_below(&s->random, 100) < percent;
}

/* Writes the actor's next script. */
void write_script(struct simulator *s, struct actor *a);

/* ---- primitives.c: what operations do; truth.c: what is noted down ---------------- */

void perform(struct simulator *s, struct actor *a, const struct op *op);

/* A blocked actor that is ready, or whose time is out: goes on, or waits again. */
void go_on(struct simulator *s, struct actor *a);

void end_segment(struct simulator *s, struct actor *a, enum trace_state next);

/* The wait [since, until_ns) ends; its waker, if there is one, explains it. */
void end_wait(struct simulator *s, struct actor *a, int64_t until_ns);
void note_tick(struct simulator *s, struct actor *a);

void call_function(struct simulator *s, struct actor *a, uint32_t function);
void return_function(struct simulator *s, struct actor *a);

void begin_interval(struct simulator *s, struct actor *a);
void end_interval(struct simulator *s, struct actor *a);
void detach(struct simulator *s, struct actor *a);
struct task make_task(struct simulator *s, const struct actor *a);
void take_task(struct simulator *s, struct actor *a, const struct task *task, bool same_thread);

#endif
