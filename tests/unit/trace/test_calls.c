/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_calls.c - calls that are taken many at a time are those that are taken one by one.
 *
 * One by one is what a trace that is read as a whole does.  Any changes of the interval, any waits, and calls of no honest
 * program: some reach out of their callers, end before they begin or never.
 */
#include <stdlib.h>
#include <string.h>
#include "tests/unit/cmocka_all.h"
#include "tests/oracle/random_trace.h"
#include "trace/read/replay.h"
#include "base/banned.h"

enum { CALLS = 60, TIME = 80, ROUNDS = 20000 };

static struct raw_invocation calls[CALLS];
static struct raw_thread thread = { .serial = 1, .tid = 11, .first_ns = 0, .last_ns = TIME };
static struct sid_history line;
/* Of functions 1 to 9; two of the numbers are calls of another function from a place. */
static struct number_meaning meanings[] = {
	{ 0, CALL_SITE_NONE }, { 0, CALL_SITE_NONE }, { 1, CALL_SITE_NONE }, { 2, CALL_SITE_NONE }, { 3, CALL_SITE_NONE }, { 4, CALL_SITE_NONE },
	{ 5, CALL_SITE_NONE }, { 6, CALL_SITE_NONE }, { 2, 0 }, { 2, 1 },
};
static const struct reading rd = {
	.raw = { .threads = { &thread, 1, 1 }, .from_ns = INT64_MIN }, .histories = &line, .meanings = meanings,
};

/* In order of time; sid: SID_NONE, 0, 1, 2. */
static void make_line(struct random *r)
{
	int64_t now = random_below(r, 10);

	line.changes.cnt = line.waits.cnt = 0;
	for (; now < TIME && random_below(r, 8); now += 1 + random_below(r, 20))
		VEC_ADD(&line.changes, (struct sid_change){ now, (uint64_t)random_below(r, 4) - 1 });
	for (now = random_below(r, TIME); now < TIME && random_below(r, 4); now += 1 + random_below(r, 30)) {
		int64_t start_ns = now;

		now += 1 + random_below(r, 20);
		VEC_ADD(&line.waits, (struct blocked){ start_ns, now });
	}
}

static size_t make_calls(struct random *r)
{
	size_t cnt = random_below(r, CALLS);
	bool honest = random_below(r, 2);

	for (size_t i = 0; i < cnt; i++) {
		int64_t start_ns = random_below(r, TIME), end_ns = start_ns + random_below(r, random_below(r, 3) ? 4 : TIME);

		if (!honest && random_below(r, 16) == 0)
			end_ns = random_below(r, 2) ? start_ns - random_below(r, 5) : RAW_OPEN;
		calls[i] = (struct raw_invocation){ start_ns, end_ns, 0, 1 + random_below(r, 9), (uint32_t)i };
	}
	qsort(calls, cnt, sizeof(*calls), compare_raw_invocations);
	return cnt;
}

static size_t take_one_by_one(size_t cnt, struct invocation *ret)
{
	struct call_line l = { .plain_sid = 0 };
	size_t taken = 0;

	call_line_start(&l);
	for (size_t i = 0; i < cnt; i++)
		taken += call_take(&l, &rd, &calls[i], &ret[taken]);
	VEC_RELEASE(&l.open_ends_ns);
	return taken;
}

/* Each ends where it ends, or where the first of those ends that go on as it begins. */
static void assert_nested(const struct invocation *taken, size_t cnt)
{
	size_t at = 0;

	for (size_t i = 0; i < cnt; i++, at++) {
		int64_t end_ns;

		while (calls[at].start_ns != taken[i].start_ns || meanings[calls[at].fid].function != taken[i].function ||
		       meanings[calls[at].fid].call_site != taken[i].call_site)
			at++;
		end_ns = calls[at].end_ns == RAW_OPEN ? TIME : calls[at].end_ns;
		end_ns = end_ns < taken[i].start_ns ? taken[i].start_ns : end_ns;
		for (size_t k = 0; k < i; k++)
			if (taken[k].end_ns > taken[i].start_ns && taken[k].end_ns < end_ns)
				end_ns = taken[k].end_ns;
		assert_int_equal(taken[i].end_ns, end_ns);
	}
}

/* In two windows, as many at a time as there can be, but none that begins after until_ns or the window. */
static size_t take_many(size_t cnt, int64_t window_ns, int64_t until_ns, struct invocation *ret, size_t *ret_plain)
{
	struct call_line l = { .plain_sid = 0 };
	size_t taken = 0, i = 0, plain = 0;

	call_line_start(&l);
	for (size_t at_once; i < cnt; i += at_once) {
		size_t begun = i;

		while (begun < cnt && calls[begun].start_ns <= window_ns)
			begun++;
		if (begun == i) {
			call_line_start(&l);
			window_ns = INT64_MAX;
			at_once = 0;
			continue;
		}
		at_once = call_take_plain(&l, &rd, &calls[i], begun - i, until_ns, &ret[taken]);
		for (size_t k = i; k < i + at_once; k++)
			assert_true(calls[k].start_ns <= until_ns);
		taken += at_once;
		plain += at_once;
		if (at_once == 0) {
			taken += call_take(&l, &rd, &calls[i], &ret[taken]);
			at_once = 1;
		}
	}
	VEC_RELEASE(&l.open_ends_ns);
	*ret_plain += plain;
	return taken;
}

static void test_plain(void **state)
{
	static struct invocation one[CALLS], many[CALLS];
	struct random r = { 3 };
	size_t plain = 0, all = 0;

	(void)state;
	for (size_t round = 0; round < ROUNDS; round++) {
		size_t cnt, taken;

		make_line(&r);
		cnt = make_calls(&r);
		all += cnt;
		taken = take_one_by_one(cnt, one);
		if (!line.waits.cnt)
			assert_nested(one, taken);
		assert_int_equal(take_many(cnt, random_below(&r, TIME), random_below(&r, 3) ? TIME : random_below(&r, TIME),
					   many, &plain), taken);
		for (size_t i = 0; i < taken; i++) {
			assert_int_equal(one[i].start_ns, many[i].start_ns);
			assert_int_equal(one[i].end_ns, many[i].end_ns);
			assert_true(one[i].sid == many[i].sid && one[i].tid == many[i].tid);
			assert_int_equal(one[i].function, many[i].function);
			assert_int_equal(one[i].call_site, many[i].call_site);
		}
	}
	assert_true(plain > all / 4 && plain < all);
	VEC_RELEASE(&line.changes);
	VEC_RELEASE(&line.waits);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_plain) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
