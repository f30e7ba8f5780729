/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * observed.c - calls that a run shows and the static call graph does not know.
 *
 * A function recorded directly inside another was called by it, perhaps through functions that
 * carry no probe: a library that calls back, assembler, a pointer that came from dlsym() or was cast.
 * Where static calls explain the nesting nothing is learnt.
 *
 * Example: handle calls dispatch (no probe), dispatch calls get; set is found with dlsym().
 *
 *	handle [ get [] set [] ]	handle > get: through dispatch.  handle > set: observed.
 *
 * What stands between the two must be silent.  Inside an interval that was recorded in full these are the
 * functions without a probe; elsewhere any function, because most probes are off there.
 */
#include "analysis/passes.h"

#include <stdlib.h>
#include "base/map.h"
#include "base/banned.h"

struct nesting {
	uint32_t caller, callee;
	bool inside;			/* an interval */
};

struct explorer {
	const struct trace *t;
	VEC(struct nesting) nestings;
	size_t *first;			/* per function: its calls in t->calls, one more at the end */
	uint32_t *wanted, *seen;	/* == visit: in the search going on */
	uint32_t visit;
	uint64_t *latest;		/* per callee: the nesting that it was last seen in */
	VEC(uint32_t) todo;
};

static bool has_keys(const struct trace *t, uint32_t caller, uint32_t callee)
{
	return caller != callee && t->functions.items[caller].key && t->functions.items[callee].key;
}

/* Intervals of which not every probe has left its record. */
static struct map *partly_recorded(const struct trace *t)
{
	struct map *sids = map_new();

	for (size_t i = 0; i < t->intervals.cnt; i++)
		if (t->intervals.items[i].root_only || t->intervals.items[i].lost)
			map_set(sids, t->intervals.items[i].sid, 1);
	return sids;
}

/* Both in one interval that was recorded in full. */
static bool are_inside(const struct map *partly, const struct invocation *outer,
		       const struct invocation *inner)
{
	uint64_t unused;

	return inner->sid != SID_NONE && inner->sid == outer->sid &&
	       (map_cnt(partly) == 0 || !map_get(partly, inner->sid, &unused));
}

static void collect_nestings(struct explorer *x, const struct timeline *tl)
{
	_cleanup_(map_freep) struct map *known = map_new(), *partly = partly_recorded(x->t);
	const struct invocation *items = x->t->invocations.items;

	for (size_t i = 0; i < x->t->invocations.cnt; i++) {
		const struct invocation *inner = &items[i], *outer;
		uint64_t pair;
		bool inside;

		if (tl->parents[i] == INVOCATION_NONE)
			continue;
		outer = &items[tl->parents[i]];
		inside = are_inside(partly, outer, inner);
		pair = (uint64_t)inside << 63 | (uint64_t)outer->function << 32 | inner->function;
		if (x->latest[inner->function] == pair + 1)
			continue;	/* nearly always, and cheaper than the map */
		x->latest[inner->function] = pair + 1;
		if (!has_keys(x->t, outer->function, inner->function) ||
		    (*map_slot(known, pair))++ > 0)
			continue;
		VEC_ADD(&x->nestings,
			(struct nesting){ outer->function, inner->function, inside });
	}
}

static int compare_nestings(const void *pa, const void *pb)
{
	const struct nesting *a = pa, *b = pb;

	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	if (a->inside != b->inside)
		return a->inside ? -1 : 1;
	return (a->callee > b->callee) - (a->callee < b->callee);
}

/* Marks as seen what static calls reach from the caller; stops when all that is wanted was. */
static void search(struct explorer *x, uint32_t caller, bool inside, size_t wanted_cnt)
{
	x->todo.cnt = 0;
	x->seen[caller] = x->visit;
	VEC_ADD(&x->todo, caller);
	while (x->todo.cnt > 0 && wanted_cnt > 0) {
		uint32_t f = x->todo.items[--x->todo.cnt];

		for (size_t i = x->first[f]; i < x->first[f + 1]; i++) {
			uint32_t callee = x->t->calls.items[i].callee;

			if (x->seen[callee] == x->visit)
				continue;
			x->seen[callee] = x->visit;
			wanted_cnt -= x->wanted[callee] == x->visit;
			if (!inside || !x->t->functions.items[callee].probed)
				VEC_ADD(&x->todo, callee);
		}
	}
}

/* Nestings first .. end - 1 have the same caller, and are all inside or all outside. */
static void explain_group(struct explorer *x, struct findings *f, size_t first, size_t end)
{
	const struct function *functions = x->t->functions.items;
	const struct nesting *group = &x->nestings.items[first];

	x->visit++;
	for (size_t i = first; i < end; i++)
		x->wanted[x->nestings.items[i].callee] = x->visit;
	search(x, group->caller, group->inside, end - first);
	for (size_t i = first; i < end; i++) {
		const struct nesting *n = &x->nestings.items[i];

		if (x->seen[n->callee] != x->visit)
			VEC_ADD(&f->observed, (struct observed_call){ functions[n->caller].key,
								      functions[n->callee].key });
	}
}

static int compare_observed(const void *pa, const void *pb)
{
	const struct observed_call *a = pa, *b = pb;

	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	return (a->callee > b->callee) - (a->callee < b->callee);
}

/* In an order that does not depend on the trace's, each once. */
static void sort_unique(struct findings *f)
{
	size_t cnt = 0;

	if (f->observed.cnt > 1)
		qsort(f->observed.items, f->observed.cnt, sizeof(*f->observed.items),
		      compare_observed);
	for (size_t i = 0; i < f->observed.cnt; i++)
		if (cnt == 0 ||
		    compare_observed(&f->observed.items[cnt - 1], &f->observed.items[i]) != 0)
			f->observed.items[cnt++] = f->observed.items[i];
	f->observed.cnt = cnt;
}

void find_observed_calls(struct analysis *a)
{
	size_t function_cnt = a->t->functions.cnt;
	struct explorer x = {
		.t = a->t,
		.first = xcalloc(function_cnt + 2, sizeof(*x.first)),
		.wanted = xcalloc(function_cnt + 1, sizeof(*x.wanted)),
		.seen = xcalloc(function_cnt + 1, sizeof(*x.seen)),
		.latest = xcalloc(function_cnt + 1, sizeof(*x.latest)),
	};

	for (size_t i = 0; i < a->t->calls.cnt; i++)
		x.first[a->t->calls.items[i].caller + 1]++;
	for (size_t i = 0; i < function_cnt; i++)
		x.first[i + 1] += x.first[i];
	collect_nestings(&x, a->tl);
	if (x.nestings.cnt > 1)
		qsort(x.nestings.items, x.nestings.cnt, sizeof(*x.nestings.items),
		      compare_nestings);
	for (size_t i = 0, end; i < x.nestings.cnt; i = end) {
		for (end = i + 1; end < x.nestings.cnt; end++)
			if (x.nestings.items[end].caller != x.nestings.items[i].caller ||
			    x.nestings.items[end].inside != x.nestings.items[i].inside)
				break;
		explain_group(&x, a->f, i, end);
	}
	sort_unique(a->f);
	free(x.first);
	free(x.wanted);
	free(x.seen);
	free(x.latest);
	VEC_RELEASE(&x.nestings);
	VEC_RELEASE(&x.todo);
}
