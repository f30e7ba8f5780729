/* SPDX-License-Identifier: GPL-3.0-or-later */
/* beside.c - see beside.h. */
#include "project/build/beside.h"

#include <string.h>

#include "base/banned.h"
#include "base/cleanup.h"

enum {
	LEVELS_UP = 12,
	LINES_LEAST = 8,		/* of a function that calls none of the project's: a shorter one is no reason to wait */
	CALLERS_MOST = 4,		/* what more functions call is a tool of theirs: its time is theirs */
};

struct beside {
	const struct project *p;
	uint32_t *first_call, *first_caller;	/* by function, into the lists below */
	uint32_t *callees, *callers;
	bool *above;			/* the start can be reached from it */
	uint32_t *queue;		/* of those above, the nearest first */
	size_t queued;
	uint32_t taken[BESIDE_MOST];
	size_t taken_cnt;
	const bool *skips;
	bool *ret;
};

static bool is_direct(const struct project_call *c)
{
	return !c->may;
}

/* Lists by one end of the calls: of `from`, which is its caller (or callee, if up). */
static void list_calls(const struct project *p, bool up, uint32_t *first, uint32_t *others)
{
	size_t cnt = p->functions.cnt;

	for (size_t i = 0; i < p->calls.cnt; i++)
		first[(up ? p->calls.items[i].callee : p->calls.items[i].caller) + 2]++;
	for (size_t i = 2; i < cnt + 2; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; i < p->calls.cnt; i++) {
		const struct project_call *c = &p->calls.items[i];

		others[first[(up ? c->callee : c->caller) + 1]++] = (uint32_t)i;
	}
}

static void rise_to(struct beside *b, uint32_t function)
{
	if (b->above[function])
		return;
	b->above[function] = true;
	b->queue[b->queued++] = function;
}

/* Its direct callers; where there are none, those that may call it through a pointer. */
static void rise_from(struct beside *b, uint32_t function)
{
	bool any = false;

	for (uint32_t i = b->first_caller[function]; i < b->first_caller[function + 1]; i++) {
		const struct project_call *c = &b->p->calls.items[b->callers[i]];

		if (is_direct(c) && c->caller != function) {
			any = true;
			rise_to(b, c->caller);
		}
	}
	for (uint32_t i = b->first_caller[function]; !any && i < b->first_caller[function + 1]; i++)
		rise_to(b, b->p->calls.items[b->callers[i]].caller);
}

static void rise(struct beside *b, const bool *starts)
{
	size_t at = 0, end;

	for (uint32_t i = 0; i < b->p->functions.cnt; i++)
		if (starts[i])
			rise_to(b, i);
	for (int level = 0; level < LEVELS_UP; level++)
		for (end = b->queued; at < end; at++)
			rise_from(b, b->queue[at]);
}

static bool is_small(const struct beside *b, uint32_t function)
{
	const struct project_function *f = &b->p->functions.items[function];

	return b->first_call[function] == b->first_call[function + 1] && f->end_line < f->line + LINES_LEAST;
}

static bool is_tool(const struct beside *b, uint32_t function)
{
	uint32_t cnt = 0, last = UINT32_MAX;

	for (uint32_t i = b->first_caller[function]; i < b->first_caller[function + 1]; i++) {
		const struct project_call *c = &b->p->calls.items[b->callers[i]];

		cnt += c->caller != last;
		last = c->caller;
	}
	return cnt > CALLERS_MOST;
}

static void take(struct beside *b, uint32_t function)
{
	const struct project_function *f = &b->p->functions.items[function];

	if (b->above[function] || b->ret[function] || b->skips[function] || f->left_out || f->skipped || f->looked_through ||
	    is_small(b, function) || is_tool(b, function) || b->taken_cnt == BESIDE_MOST)
		return;
	b->ret[function] = true;
	b->taken[b->taken_cnt++] = function;
}

/* The larger functions that it calls itself. */
static void take_callees(struct beside *b, uint32_t function)
{
	for (uint32_t i = b->first_call[function]; i < b->first_call[function + 1]; i++) {
		const struct project_call *c = &b->p->calls.items[b->callees[i]];

		if (is_direct(c) && b->first_call[c->callee] < b->first_call[c->callee + 1])
			take(b, c->callee);
	}
}

/* A library calls it: so it may call others of that type, from the same loop. */
static void take_other_callbacks(struct beside *b, uint32_t function)
{
	const struct project_function *f = &b->p->functions.items[function];

	if (!f->address_taken || !f->type || b->first_caller[function] < b->first_caller[function + 1])
		return;
	for (uint32_t i = 0; i < b->p->functions.cnt; i++) {
		const struct project_function *other = &b->p->functions.items[i];

		if (i != function && other->address_taken && other->type && strcmp(other->type, f->type) == 0 &&
		    b->first_caller[i] == b->first_caller[i + 1])
			take(b, i);
	}
}

static void spread(struct beside *b, const bool *starts)
{
	size_t cnt;

	for (size_t q = 0; q < b->queued; q++) {
		uint32_t function = b->queue[q];

		take_other_callbacks(b, function);
		for (uint32_t i = b->first_call[function]; !starts[function] && i < b->first_call[function + 1]; i++)
			take(b, b->p->calls.items[b->callees[i]].callee);
	}
	cnt = b->taken_cnt;
	for (size_t i = 0; i < cnt; i++)
		take_callees(b, b->taken[i]);
}

void find_beside(const struct project *p, const bool *starts, const bool *skips, bool *ret_beside)
{
	size_t cnt = p->functions.cnt;
	_cleanup_(freep) uint32_t *first_call = xcalloc(cnt + 2, sizeof(*first_call)), *first_caller = xcalloc(cnt + 2, sizeof(*first_caller));
	_cleanup_(freep) uint32_t *callees = xcalloc(p->calls.cnt + 1, sizeof(*callees)), *callers = xcalloc(p->calls.cnt + 1, sizeof(*callers));
	_cleanup_(freep) uint32_t *queue = xcalloc(cnt + 1, sizeof(*queue));
	_cleanup_(freep) bool *above = xcalloc(cnt + 1, sizeof(*above));
	struct beside b = {
		.p = p, .first_call = first_call, .first_caller = first_caller, .callees = callees, .callers = callers, .above = above,
		.queue = queue, .skips = skips, .ret = ret_beside,
	};

	list_calls(p, false, first_call, callees);
	list_calls(p, true, first_caller, callers);
	rise(&b, starts);
	spread(&b, starts);
}
