/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * place_blames.c - the places below a wait: the functions to blame for it.
 *
 * With probes, the blame is the innermost function.  With functions from stacks (struct look) it is a path of functions, each a
 * blame below the one before: one command of a server consists of many small functions, each too small to mention; together they
 * are not.
 *
 *	main > serve > sort > compare 3 ms, ... > sort > swap 2 ms, ... > get 1 ms
 *	-> by main > serve 6, below it sort 5 (compare 3, swap 2) and get 1
 */
#include "analysis/tree/variance_tree.h"

#include "base/banned.h"

/* Of one in that call; INVOCATION_NONE: in none, then it depends on what the thread is. */
static uint32_t blamed_function(const struct vtree *v, uint64_t tid, uint32_t innermost)
{
	if (innermost != INVOCATION_NONE)
		return v->tl->trace->invocations.items[innermost].function;
	if (timeline_kind(v->tl, tid) == KIND_PEER)
		return v->tl->threads.items[timeline_thread(v->tl, tid)].function;
	return FUNCTION_OF_DEVICE(timeline_kind(v->tl, tid));	/* of a thread: FUNCTION_NONE */
}

static uint32_t blame_of(struct vtree *v, uint32_t wait, uint32_t function, enum trace_state state, enum thread_kind device)
{
	bool is_wait = state != STATE_RUNNING;
	struct place like = {
		.kind = NODE_BLAME, .function = function, .call_site = CALL_SITE_NONE,
		.is_wait = is_wait, .wait = is_wait ? state : STATE_RUNNING, .device = device,
	};

	return vtree_other_child(v, wait, &like);
}

uint32_t blame_in(struct vtree *v, uint32_t wait, uint32_t function, enum trace_state state)
{
	return blame_of(v, wait, function, state, KIND_THREAD);
}

/* The functions around it and itself, the outermost first: each a blame below the one before. */
static uint32_t blame_path(struct vtree *v, uint32_t wait, uint32_t innermost)
{
	const uint32_t *parents = v->tl->parents;

	v->unplaced.cnt = 0;
	for (uint32_t i = innermost; i != INVOCATION_NONE; i = parents[i])
		VEC_ADD(&v->unplaced, i);
	for (size_t i = v->unplaced.cnt; i-- > 0; ) {
		uint32_t function = v->tl->trace->invocations.items[v->unplaced.items[i]].function;

		if (v->places.items[wait].kind != NODE_BLAME || v->places.items[wait].function != function)
			wait = blame_in(v, wait, function, STATE_RUNNING);
	}
	return wait;
}

/* The call itself, or the one of the program's own that it is called by. */
static uint32_t own_call(const struct vtree *v, uint32_t innermost)
{
	const struct trace *t = v->tl->trace;
	uint32_t above = v->tl->parents[innermost];

	return above != INVOCATION_NONE && t->functions.items[t->invocations.items[innermost].function].is_system ? above : innermost;
}

/* Where what one in that call was doing is charged; tid: of its thread. */
uint32_t blame_at(struct vtree *v, uint32_t wait, uint64_t tid, uint32_t innermost, enum trace_state state,
			 enum thread_kind device)
{
	uint32_t function = blamed_function(v, tid, innermost), path;

	if (!v->tl->trace->look.is_one || innermost == INVOCATION_NONE)
		return blame_of(v, wait, function, state, device);
	if (state_is_runqueue(state))	/* it could run on: what it had called of a library did not keep it */
		innermost = own_call(v, innermost);
	path = blame_path(v, wait, innermost);
	function = v->tl->trace->invocations.items[innermost].function;
	return blame_of(v, path, state == STATE_RUNNING ? FUNCTION_NONE : function, state, device);
}

/*
 * An interval was put aside, and its thread waited for files: for the one that made it take the interval up again, as far as that is known.
 *
 *	put aside at 10; its thread works for others until 15, waits until 90 and was woken by 127.0.0.1:5400
 *	-> by (127.0.0.1:5400) 75
 */
static bool is_taken_up(const struct piece *queue, enum trace_state state)
{
	return queue->taken_up_tid && state == STATE_IO;
}

static uint32_t blame_of_taking_up(struct vtree *v, uint32_t wait, const struct piece *queue)
{
	return blame_in(v, wait, blamed_function(v, queue->taken_up_tid, INVOCATION_NONE), STATE_RUNNING);
}

/* A thread that works for others, or idles, does so in some function, and may be blocked in it.  Of a request that was not
 * read the thread's wait for requests is no cause. */
uint32_t queue_blame_at(struct vtree *v, uint32_t wait, const struct piece *queue, uint32_t innermost, enum trace_state state)
{
	uint64_t tid = queue->tid;
	bool is_idle = v->places.items[wait].wait == STATE_ARRIVED && state_has_waker(state);

	if (is_taken_up(queue, state))
		return blame_of_taking_up(v, wait, queue);
	if (state == STATE_QUEUE || blamed_function(v, tid, innermost) == FUNCTION_NONE || is_idle)
		return blame_in(v, wait, FUNCTION_NONE, STATE_RUNNING);
	return blame_at(v, wait, tid, innermost, state, KIND_THREAD);
}

uint32_t blame_nobody(struct vtree *v, uint32_t wait)
{
	return blame_in(v, wait, FUNCTION_NONE, STATE_RUNNING);
}

/* In the low half what blame_of_key() has to know of the call: its number where blames are paths. */
uint64_t blame_key(const struct vtree *v, uint64_t tid, uint32_t innermost, enum trace_state state, enum thread_kind device)
{
	bool is_path = v->tl->trace->look.is_one && innermost != INVOCATION_NONE;

	return (uint64_t)device << 48 | (uint64_t)state << 32 | (is_path ? innermost : blamed_function(v, tid, innermost));
}

uint32_t blame_of_key(struct vtree *v, uint32_t wait, uint64_t key, const struct piece *queue)
{
	uint32_t low = (uint32_t)key;
	enum trace_state state = (enum trace_state)(key >> 32 & 0xffff);
	enum thread_kind device = queue ? KIND_THREAD : (enum thread_kind)(key >> 48);

	if (queue && is_taken_up(queue, state))
		return blame_of_taking_up(v, wait, queue);
	if (queue && (state == STATE_QUEUE || low == FUNCTION_NONE))
		return blame_nobody(v, wait);
	if (v->tl->trace->look.is_one && low < v->tl->trace->invocations.cnt)
		return blame_at(v, wait, 0, low, state, device);
	return blame_of(v, wait, low, state, device);
}
