/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * observed.c - finds calls that a run shows and the static call graph lacks.
 *
 * A function recorded directly inside another was called by it, perhaps through functions that carry no probe: a
 * library that calls back, assembler, a pointer that came from dlsym() or was cast. If static calls explain the
 * nesting, there is no observed call.
 *
 * Example: handle calls dispatch (no probe), dispatch calls get; set is found with dlsym().
 *
 *	handle [ get [] set [] ]	handle > get: through dispatch.  handle > set: observed.
 *
 * The functions between the two must be unrecorded.  Inside an interval in full those are the functions without a
 * probe; elsewhere any function, because most probes are off there.
 */
#include "analysis/pass/observed.h"

#include <stdlib.h>
#include "base/banned.h"

struct explorer {
	const struct trace *t;
	const struct nestings *nestings;
	size_t *first;			/* per function: its calls in t->calls, one more at the end */
	uint32_t *wanted, *seen;	/* equal to visit: part of the current search */
	uint32_t visit;
	VEC(uint32_t) todo;
};

static bool has_keys(const struct trace *t, const struct nesting *n)
{
	return n->caller != n->callee && t->functions.items[n->caller].key && t->functions.items[n->callee].key;
}

/* Marks functions that static calls reach from the caller; stops when all wanted ones are marked. */
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
	const struct nesting *group = &x->nestings->list.items[first];

	x->visit++;
	for (size_t i = first; i < end; i++)
		x->wanted[x->nestings->list.items[i].callee] = x->visit;
	search(x, group->caller, group->inside, end - first);
	for (size_t i = first; i < end; i++) {
		const struct nesting *n = &x->nestings->list.items[i];

		if (has_keys(x->t, n) && x->seen[n->callee] != x->visit)
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

/* Sorts, independent of the trace's order, and drops duplicates. */
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

void find_observed_calls(const struct trace *t, const struct nestings *nestings, struct findings *f)
{
	size_t function_cnt = t->functions.cnt;
	struct explorer x = {
		.t = t, .nestings = nestings,
		.first = xcalloc(function_cnt + 2, sizeof(*x.first)),
		.wanted = xcalloc(function_cnt + 1, sizeof(*x.wanted)),
		.seen = xcalloc(function_cnt + 1, sizeof(*x.seen)),
	};

	for (size_t i = 0; i < t->calls.cnt; i++)
		x.first[t->calls.items[i].caller + 1]++;
	for (size_t i = 0; i < function_cnt; i++)
		x.first[i + 1] += x.first[i];
	for (size_t i = 0, end; i < x.nestings->list.cnt; i = end) {
		for (end = i + 1; end < x.nestings->list.cnt; end++)
			if (x.nestings->list.items[end].caller != x.nestings->list.items[i].caller ||
			    x.nestings->list.items[end].inside != x.nestings->list.items[i].inside)
				break;
		explain_group(&x, f, i, end);
	}
	sort_unique(f);
	free(x.first);
	free(x.wanted);
	free(x.seen);
	VEC_RELEASE(&x.todo);
}
