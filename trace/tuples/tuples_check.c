/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tuples_check.c - lines that are well formed one by one and impossible together.
 *
 * Each check sorts indexes and compares neighbours, so that it costs n log n and the arrays
 * keep the order of the file.  Spans are half-open: [10,20] and [20,30] neither overlap nor
 * cross.  Example of crossing: f [10,30] and g [20,40] on one thread; a thread cannot leave
 * f before it has left g, which it entered later.
 */
#include "trace/tuples/tuples_check.h"

#include <errno.h>
#include <inttypes.h>
#include "base/map.h"
#include "base/banned.h"

static int check_sids(const struct trace *t, const struct origins *o, struct diag *reterr);
static int check_segments(const struct trace *t, const struct origins *o, struct diag *reterr);
static int check_invocations(const struct trace *t, const struct origins *o, struct diag *reterr);
static int check_stacks(const struct trace *t, const struct origins *o, struct diag *reterr);

int tuples_check(const struct trace *t, const struct origins *o, struct diag *reterr)
{
	int r = check_sids(t, o, reterr);

	if (r == 0)
		r = check_segments(t, o, reterr);
	if (r == 0)
		r = check_invocations(t, o, reterr);
	if (r == 0)
		r = check_stacks(t, o, reterr);
	return r;
}

/* The message names the line that was read later; the earlier one is the one it contradicts. */
static int clash(const struct origins *o, struct origin a, struct origin b, struct diag *reterr,
		 const char *what)
{
	bool a_first = a.file != b.file ? a.file < b.file : a.line < b.line;
	struct origin early = a_first ? a : b, late = a_first ? b : a;

	return diag_set(reterr, EXIT_DATA, -EBADMSG, "%s:%" PRIu32 ": %s (%s:%" PRIu32 ")",
			o->files.items[late.file], late.line, what,
			o->files.items[early.file], early.line);
}

static int check_sids(const struct trace *t, const struct origins *o, struct diag *reterr)
{
	_cleanup_(map_freep) struct map *seen = map_new();

	for (size_t i = 0; i < t->intervals.cnt; i++) {
		uint64_t first;

		if (map_get(seen, t->intervals.items[i].sid, &first))
			return clash(o, o->intervals.items[first], o->intervals.items[i], reterr,
				     "expected a SID of its own for each interval; "
				     "this one is taken");
		map_set(seen, t->intervals.items[i].sid, i);
	}
	return 0;
}

static uint32_t *identity(size_t cnt)
{
	uint32_t *index = xcalloc(cnt + 1, sizeof(*index));

	for (size_t i = 0; i < cnt; i++)
		index[i] = (uint32_t)i;
	return index;
}

static int by_segment(const void *pa, const void *pb, void *arg)
{
	const struct segment *items = arg;
	const struct segment *a = &items[*(const uint32_t *)pa], *b = &items[*(const uint32_t *)pb];

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

static int check_segments(const struct trace *t, const struct origins *o, struct diag *reterr)
{
	_cleanup_(freep) uint32_t *index = identity(t->segments.cnt);
	const struct segment *items = t->segments.items, *last = NULL;

	if (t->segments.cnt > 1)
		qsort_r(index, t->segments.cnt, sizeof(*index), by_segment, (void *)items);
	for (size_t i = 0; i < t->segments.cnt; i++) {
		const struct segment *s = &items[index[i]];

		if (s->start_ns == s->end_ns)
			continue;	/* covers no time, so contradicts nothing */
		if (last && last->tid == s->tid && last->end_ns > s->start_ns)
			return clash(o, o->segments.items[last - items],
				     o->segments.items[s - items], reterr,
				     "expected one state of a thread at a time; "
				     "this segment overlaps another");
		last = s;
	}
	return 0;
}

static int by_invocation(const void *pa, const void *pb, void *arg)
{
	const struct invocation *items = arg;

	return compare_invocations(&items[*(const uint32_t *)pa], &items[*(const uint32_t *)pb]);
}

static int check_invocations(const struct trace *t, const struct origins *o, struct diag *reterr)
{
	_cleanup_(freep) uint32_t *index = identity(t->invocations.cnt);
	const struct invocation *items = t->invocations.items;
	VEC(uint32_t) open = { NULL, 0, 0 };
	int r = 0;

	if (t->invocations.cnt > 1)
		qsort_r(index, t->invocations.cnt, sizeof(*index), by_invocation, (void *)items);
	for (size_t i = 0; i < t->invocations.cnt && r == 0; i++) {
		const struct invocation *inv = &items[index[i]];

		while (open.cnt) {
			const struct invocation *top = &items[open.items[open.cnt - 1]];

			if (top->tid == inv->tid && top->end_ns > inv->start_ns)
				break;
			open.cnt--;
		}
		if (open.cnt && items[open.items[open.cnt - 1]].end_ns < inv->end_ns)
			r = clash(o, o->invocations.items[open.items[open.cnt - 1]],
				  o->invocations.items[index[i]], reterr,
				  "expected invocations of a thread to nest; this one crosses another");
		VEC_ADD(&open, index[i]);
	}
	VEC_RELEASE(&open);
	return r;
}

static int by_stack_span(const void *pa, const void *pb, void *arg)
{
	const struct stack_span *items = arg;
	const struct stack_span *a = &items[*(const uint32_t *)pa], *b = &items[*(const uint32_t *)pb];

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static int check_stacks(const struct trace *t, const struct origins *o, struct diag *reterr)
{
	_cleanup_(freep) uint32_t *index = identity(t->stack_spans.cnt);
	const struct stack_span *items = t->stack_spans.items;

	if (t->stack_spans.cnt > 1)
		qsort_r(index, t->stack_spans.cnt, sizeof(*index), by_stack_span, (void *)items);
	for (size_t i = 1; i < t->stack_spans.cnt; i++) {
		const struct stack_span *last = &items[index[i - 1]], *s = &items[index[i]];

		if (last->tid == s->tid && last->end_ns > s->start_ns)
			return clash(o, o->stacks.items[last - items], o->stacks.items[s - items], reterr,
				     "expected one stack of a thread at a time; this one overlaps another");
	}
	return 0;
}
