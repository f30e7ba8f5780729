/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_walked.c - parts that were walked one by one, written as bytes and put together again, against one analysis of them merged;
 * and bytes that are damaged.
 */
#include <errno.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "analysis/walked.h"
#include "base/banned.h"
#include "tests/oracle/random_trace.h"
#include "tests/unit/same_findings.h"
#include "trace/merge/merge.h"
#include "trace/merge/names_archive.h"

enum { PARTS_MAX = 4, ROUNDS = 200 };

static struct trace *random_part(unsigned int seed, struct random *r)
{
	struct trace *t = random_trace(seed, seed % 3 ? RANDOM_ANY : RANDOM_PROGRAM);

	for (size_t i = 0; i < t->intervals.cnt; i++) {
		t->intervals.items[i].weight = random_below(r, 3) ? 1U << random_below(r, 4) : 0;
		t->intervals.items[i].root_only = random_below(r, 5) == 0;
	}
	trace_sort(t);
	trace_find_idle(t);
	return t;
}

/* Numbers and names, then what the walk found: as a file of it. */
static void walk(const struct trace *t, struct str *ret)
{
	_cleanup_(analyzer_freep) struct analyzer *a = analyzer_new();
	_cleanup_(trace_merger_freep) struct trace_merger *m = trace_merger_new(1);
	struct archive to = { .out = ret };

	trace_merger_look(m, 0, t);
	analyzer_add(a, &(struct analysis_window){ t, INT64_MIN, INT64_MAX });
	trace_merger_archive(m, 0, &to);
	names_archive(&to, (struct trace *)t);
	analyzer_archive(a, t, &to);
	assert_false(to.failed);
}

struct together {
	struct trace_merger *merger;
	struct trace *names[PARTS_MAX];
	struct analyzer *analyzer;
};

/* -EBADMSG: somewhere they make no sense. */
static int put_together(struct together *x, const struct str *bytes, size_t cnt)
{
	struct archive from[PARTS_MAX];
	int r = 0;

	x->merger = trace_merger_new(cnt);
	x->analyzer = analyzer_new();
	for (size_t i = 0; i < cnt; i++) {
		x->names[i] = trace_new();
		from[i] = (struct archive){ .at = (const unsigned char *)bytes[i].data, .end = (const unsigned char *)bytes[i].data + bytes[i].len,
					    .arena = x->names[i]->arena };
		trace_merger_archive(x->merger, i, &from[i]);
		names_archive(&from[i], x->names[i]);
		if (from[i].failed)
			return -EBADMSG;
		trace_merger_names(x->merger, i, x->names[i]);
	}
	trace_merger_settle(x->merger);
	trace_sort_events(trace_merger_trace(x->merger));
	for (size_t i = 0; r == 0 && i < cnt; i++) {
		const struct merger_part numbering = { x->merger, i };
		struct merged_numbers n = trace_merger_numbers(x->merger, i);

		r = analyzer_take(x->analyzer, &from[i], &(struct taken_part){
			.names = x->names[i], .functions = n.functions, .interval_names = n.interval_names, .call_sites = n.call_sites,
			.work_names = n.work_names, .tid = merger_part_tid, .sid = merger_part_sid, .arg = &numbering, .origin = (uint32_t)i });
	}
	return r;
}

static void release(struct together *x, size_t cnt)
{
	analyzer_free(x->analyzer);
	trace_merger_free(x->merger);
	for (size_t i = 0; i < cnt; i++)
		trace_free(x->names[i]);
}

/* Does not compare by whom the thread was busy before: those are sums of doubles, part by part. */
static void compare(struct together *x, struct trace *merged)
{
	for (size_t i = 0; i < merged->interval_names.cnt; i++) {
		struct analyze_options o = { .interval = merged->interval_names.items[i] };
		_cleanup_(findings_freep) struct findings *wanted = NULL, *found = NULL;
		int r = analyze(merged, &o, &wanted);

		assert_int_equal(analyzer_finish(x->analyzer, trace_merger_trace(x->merger), &o, &found), r);
		if (r < 0)
			continue;
		found->before.by.cnt = wanted->before.by.cnt = 0;
		same_findings(wanted, found);
	}
}

static void test_random(void **state)
{
	struct random r = { 17 };
	size_t rows = 0;

	(void)state;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		size_t cnt = 1 + random_below(&r, PARTS_MAX);
		struct trace *parts[PARTS_MAX];
		struct str bytes[PARTS_MAX];
		struct together x = { .merger = NULL };
		_cleanup_(trace_freep) struct trace *merged = NULL;

		for (size_t i = 0; i < cnt; i++) {
			bytes[i] = (struct str)STR_INIT;
			parts[i] = random_part(round * PARTS_MAX + (unsigned int)i, &r);
			rows += parts[i]->intervals.cnt;
			walk(parts[i], &bytes[i]);
		}
		merged = traces_merge(parts, cnt);
		assert_int_equal(put_together(&x, bytes, cnt), 0);
		compare(&x, merged);
		release(&x, cnt);
		for (size_t i = 0; i < cnt; i++) {
			trace_free(parts[i]);
			str_release(&bytes[i]);
		}
	}
	assert_true(rows > 1000);
}

/* A byte that is changed, or an end that is missing, is refused or makes other numbers, and nothing is read beyond the end. */
static void test_damage(void **state)
{
	struct random r = { 23 };
	unsigned int refused = 0;

	(void)state;
	for (unsigned int round = 0; round < 400; round++) {
		_cleanup_(trace_freep) struct trace *t = random_part(round % 20, &r);
		struct together x = { .merger = NULL };
		struct str bytes = STR_INIT, exact = STR_INIT;

		walk(t, &bytes);
		exact.len = round % 2 ? bytes.len : random_below(&r, (uint32_t)bytes.len);
		exact.data = xmalloc(exact.len + 1);	/* valgrind and ASan see what is read behind it */
		memcpy(exact.data, bytes.data, exact.len);
		exact.data = xrealloc(exact.data, exact.len ? exact.len : 1, 1);
		if (round % 2)
			exact.data[random_below(&r, (uint32_t)exact.len)] ^= (char)(1 << random_below(&r, 8));
		x.names[0] = NULL;
		refused += put_together(&x, &exact, 1) < 0;
		release(&x, 1);
		free(exact.data);
		str_release(&bytes);
	}
	assert_true(refused > 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
