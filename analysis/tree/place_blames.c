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

uint32_t blame_path_at(struct vtree *v, uint32_t wait, uint32_t innermost, enum trace_state state, enum thread_kind device)
{
	uint32_t function, path;

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
	return blame_in(v, wait, blamed_kind(v, queue->taken_up_tid), STATE_RUNNING);
}

/* Its thread waits where it also waits without a request, for whatever comes next: an upstream or a timer has the request, and a look
 * does not see which. */
static bool is_with_others(const struct vtree *v, const struct piece *queue, enum trace_state state)
{
	return v->tl->trace->look.is_one && queue->wait == STATE_PARKED && state == STATE_IO;
}

/* In a look, whose thread is not busy with other requests, waits for this one: that is no cause of its not being read. */
uint32_t queue_blame_waiting(struct vtree *v, uint32_t wait, const struct piece *queue)
{
	if (is_taken_up(queue, queue->meanwhile))
		return blame_of_taking_up(v, wait, queue);
	if (is_with_others(v, queue, queue->meanwhile))
		return blame_nobody(v, wait);
	return queue->wait == STATE_ARRIVED && v->tl->trace->look.is_one ? blame_nobody(v, wait) : NODE_NONE;
}

uint32_t blame_of_key(struct vtree *v, uint32_t wait, uint64_t key, const struct piece *queue)
{
	uint32_t low = (uint32_t)key;
	enum trace_state state = (enum trace_state)(key >> 32 & 0xffff);
	enum thread_kind device = queue ? KIND_THREAD : (enum thread_kind)(key >> 48);

	if (queue && is_taken_up(queue, state))
		return blame_of_taking_up(v, wait, queue);
	/* Woken for the request, without a CPU yet: no function has to do with that, but the run queue has. */
	if (queue && low == FUNCTION_NONE && trace_has_arrivals(v->tl->trace) && state_is_runqueue(state))
		return blame_in(v, wait, FUNCTION_NONE, state);
	if (queue && (state == STATE_QUEUE || low == FUNCTION_NONE || is_with_others(v, queue, state)))
		return blame_nobody(v, wait);
	if (v->tl->trace->look.is_one && low < v->tl->trace->invocations.cnt)
		return blame_path_at(v, wait, low, state, device);
	return blame_of(v, wait, low, state, device);
}
