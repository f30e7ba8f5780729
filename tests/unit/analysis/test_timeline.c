/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_timeline.c - what is around a call, where each thread's tuples are, and what is cut: against the definitions.
 *
 * Spans are random: most nest by accident, some cross, some have no length or a negative one.
 */
#include "tests/unit/cmocka_all.h"

#include "analysis/path/timeline.h"
#include "tests/oracle/random_trace.h"
#include "base/banned.h"

enum { TRACES = 4000, THREADS = 4, TUPLES = 40, TIME = 60 };

static int64_t end_after(struct random *r, int64_t start_ns)
{
	return start_ns + random_below(r, random_below(r, 3) ? 12 : TIME) - (random_below(r, 20) == 0 ? 3 : 0);
}

static struct trace *make_trace(struct random *r)
{
	struct trace *t = trace_new();

	for (uint32_t i = random_below(r, TUPLES); i > 0; i--) {
		uint64_t tid = 7 + 3 * random_below(r, THREADS);
		int64_t ns = random_below(r, TIME);

		VEC_ADD(&t->invocations, (struct invocation){ .tid = tid, .start_ns = ns, .end_ns = end_after(r, ns), .order = i });
		if (random_below(r, 2))
			VEC_ADD(&t->segments, (struct segment){ .tid = tid, .start_ns = ns, .end_ns = end_after(r, ns) });
		if (random_below(r, 3) == 0)
			VEC_ADD(&t->wakeups, (struct wakeup){ tid, 1, ns });
		if (random_below(r, 3) == 0)
			VEC_ADD(&t->creations, (struct creation){ .tid = 1, .tid2 = tid, .time2_ns = ns });
	}
	trace_sort(t);
	return t;
}

/* The last one before it that goes on as it begins. */
static uint32_t around(const struct timeline *tl, uint32_t call)
{
	const struct invocation *calls = tl->trace->invocations.items;

	for (uint32_t i = call; i-- > 0; )
		if (calls[i].tid == calls[call].tid && tl->ends_ns[i] > calls[call].start_ns)
			return i;
	return INVOCATION_NONE;
}

static uint64_t assert_nested(const struct timeline *tl)
{
	const struct invocation *calls = tl->trace->invocations.items;
	uint64_t cut = 0;

	for (uint32_t i = 0; i < tl->trace->invocations.cnt; i++) {
		uint32_t parent = around(tl, i);
		int64_t end_ns = calls[i].end_ns > calls[i].start_ns ? calls[i].end_ns : calls[i].start_ns;

		assert_int_equal(tl->parents[i], parent);
		if (parent != INVOCATION_NONE && end_ns > tl->ends_ns[parent]) {
			end_ns = tl->ends_ns[parent];
			cut++;
		}
		assert_int_equal(tl->ends_ns[i], end_ns);
	}
	return cut;
}

/* Each begins where the one before it ended, if it was to begin earlier; what has no length then is left out. */
static uint64_t assert_cut(const struct timeline *tl)
{
	const struct trace *t = tl->trace;
	size_t kept[THREADS] = { 0 };
	int64_t end_ns[THREADS] = { INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN };
	uint64_t cut = 0;

	for (size_t i = 0; i < t->segments.cnt; i++) {
		const struct segment *s = &t->segments.items[i];
		size_t n = (s->tid - 7) / 3;
		int64_t start_ns = s->start_ns > end_ns[n] ? s->start_ns : end_ns[n];
		const struct thread_line *l;

		if (s->start_ns >= s->end_ns)
			continue;
		cut += start_ns > s->start_ns;
		if (start_ns >= s->end_ns)
			continue;
		l = &tl->threads.items[timeline_thread(tl, s->tid)];
		assert_true(kept[n] < l->segments.cnt);
		assert_int_equal(tl->segments[l->segments.first + kept[n]].start_ns, start_ns);
		assert_int_equal(tl->segments[l->segments.first + kept[n]].end_ns, s->end_ns);
		end_ns[n] = s->end_ns;
		kept[n]++;
	}
	for (size_t n = 0; n < THREADS; n++) {
		uint32_t thread = timeline_thread(tl, 7 + 3 * n);

		assert_int_equal(thread == THREAD_NONE ? 0 : tl->threads.items[thread].segments.cnt, kept[n]);
	}
	return cut;
}

/* The range has all of a thread's, and nothing else. */
#define ASSERT_RANGES(array, tid_field)								\
	for (size_t n = 0; n < THREADS; n++) {							\
		uint32_t thread = timeline_thread(tl, 7 + 3 * n);				\
		struct index_range r = { 0, 0 };							\
		size_t cnt = 0;									\
												\
		if (thread != THREAD_NONE)							\
			r = tl->threads.items[thread].array;					\
		for (size_t i = 0; i < t->array.cnt; i++) {					\
			bool is_its = t->array.items[i].tid_field == 7 + 3 * n;			\
												\
			cnt += is_its;								\
			assert_true(is_its == (i >= r.first && i < r.first + r.cnt));		\
		}										\
		assert_int_equal(r.cnt, cnt);							\
	}

static void test_timelines(void **state)
{
	struct random random = { 5 };
	uint64_t all_cut = 0;

	(void)state;
	for (size_t round = 0; round < TRACES; round++) {
		_cleanup_(trace_freep) struct trace *t = make_trace(&random);
		_cleanup_(timeline_freep) struct timeline *tl = timeline_new(t);
		uint64_t cut = assert_nested(tl) + assert_cut(tl);

		assert_int_equal(tl->clamped, cut);
		all_cut += cut;
		ASSERT_RANGES(invocations, tid);
		ASSERT_RANGES(wakeups, tid);
		ASSERT_RANGES(creations, tid2);
	}
	assert_true(all_cut > TRACES);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_timelines) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
