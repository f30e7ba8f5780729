/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_hostile.c - digests that were damaged, by accident or on purpose.
 */
#include <errno.h>
#include <string.h>
#include "base/pack.h"
#include "digest/unite.h"
#include "tests/oracle/random_trace.h"
#include "tests/unit/digest/sums_of.h"

/* Each byte changed, each end cut off: an error, or the same content; never a crash. */
static void test_damage(void **state)
{
	_cleanup_(trace_freep) struct trace *t = random_trace(4, RANDOM_PROGRAM);
	_cleanup_(summed_freep) struct summed *s = sum_up(t, 0, 1);
	_cleanup_(str_release) struct str bytes = STR_INIT;

	(void)state;
	assert_int_equal(digest_write(s, &bytes, NULL), 0);
	for (size_t i = 0; i < bytes.len; i++) {
		struct diag diag = DIAG_INIT;
		struct summed *ret = NULL;

		bytes.data[i] ^= 0x55;
		assert_int_equal(digest_parse(bytes.data, bytes.len, "it", &ret, &diag), -EBADMSG);
		assert_int_equal(diag.status, EXIT_DATA);
		bytes.data[i] ^= 0x55;
		assert_int_equal(digest_parse(bytes.data, i, "it", &ret, &diag), -EBADMSG);
	}
}

/* The bytes of a body give an error with a message, or whole sums: these can be united, analysed and written. */
static bool look_at_body(const char *body, size_t len)
{
	_cleanup_(str_release) struct str bytes = STR_INIT, again = STR_INIT;
	_cleanup_(summed_freep) struct summed *s = NULL, *both = NULL, *copy = NULL;
	_cleanup_(uniter_freep) struct uniter *u = uniter_new();
	struct diag diag = DIAG_INIT;

	str_add(&bytes, DIGEST_MAGIC);
	assert_int_equal(pack(body, len, &bytes), 0);
	if (digest_parse(bytes.data, bytes.len, "it", &s, &diag) < 0) {
		assert_int_equal(diag.status, EXIT_DATA);
		return false;
	}
	uniter_add(u, s);
	if (uniter_end(u, &both, &diag) < 0) {
		assert_int_equal(diag.status, EXIT_USAGE);
		return false;
	}
	assert_int_equal(digest_write(both, &again, &diag), 0);
	assert_int_equal(digest_parse(again.data, again.len, "it", &copy, &diag), 0);
	if (summed_roll_up(both, 0, &diag) < 0)
		assert_int_equal(diag.status, EXIT_DATA);
	for (size_t i = 0; i < both->interval_names.cnt; i++) {
		struct analyze_options o = { .interval = both->interval_names.items[i] };
		_cleanup_(findings_freep) struct findings *f = NULL;
		int r = summed_findings(both, &o, &f);

		assert_true(r == 0 || r == -EOVERFLOW);
	}
	return true;
}

/* Damaged on purpose: the checksum is right. */
static void test_body(void **state)
{
	static const char xors[] = { 0x01, 0x02, 0x04, 0x55, 0x7f, (char)0x80 };
	_cleanup_(trace_freep) struct trace *t = random_trace(4, RANDOM_PROGRAM);
	_cleanup_(summed_freep) struct summed *s = sum_up(t, 100, 1);
	_cleanup_(str_release) struct str bytes = STR_INIT;
	_cleanup_(freep) char *body = NULL;
	size_t len, accepted = 0;

	(void)state;
	assert_int_equal(digest_write(s, &bytes, NULL), 0);
	assert_int_equal(unpack(bytes.data + strlen(DIGEST_MAGIC), bytes.len - strlen(DIGEST_MAGIC), DIGEST_BYTES_MAX, &body, &len), 0);
	assert_true(look_at_body(body, len));
	for (size_t i = 0; i < len; i++)
		for (size_t k = 0; k < sizeof(xors); k++) {
			body[i] ^= xors[k];
			accepted += look_at_body(body, len);
			body[i] ^= xors[k];
		}
	assert_true(accepted > len / 10);		/* names, times, sums: it is not always the first check */
	for (size_t i = 0; i < len; i++)
		assert_false(look_at_body(body, i));
}

static void assert_refused(const struct summed *s, const char *why)
{
	_cleanup_(str_release) struct str bytes = STR_INIT;
	struct diag diag = DIAG_INIT;
	struct summed *ret = NULL;

	if (digest_write(s, &bytes, &diag) == 0)
		assert_int_equal(digest_parse(bytes.data, bytes.len, "it", &ret, &diag), -EBADMSG);
	assert_int_equal(diag.status, EXIT_DATA);
	if (!strstr(diag.text, why))
		fail_msg("'%s' does not say '%s'", diag.text, why);
}

static struct summed *sums_by_hand(int64_t started_ns)
{
	_cleanup_(trace_freep) struct trace *t =
		parsed("vprof-tuples 1\ninterval 1 r 7 0 7 10\nsegment 7 1 0 10 running\ninvocation 7 1 f 1 5\n");

	return sum_up(t, 0, started_ns);
}

static void test_no_function(void **state)
{
	_cleanup_(summed_freep) struct summed *s = summed_new();

	(void)state;
	VEC_ADD(&s->interval_names, "r");
	VEC_ADD(&s->places, (struct summed_place){ .parent = NODE_NONE, .kind = NODE_INTERVAL, .function = SUMMED_NO_FUNCTION,
						   .call_site = CALL_SITE_NONE });
	VEC_ADD(&s->places, (struct summed_place){ .kind = NODE_FUNCTION, .call_site = CALL_SITE_NONE });
	assert_refused(s, "an impossible number");
}

/* Whatever a program calls its interval, what was exported is imported. */
static void test_names(void **state)
{
	static const char name[] = "a\nb\033[31m\t\x7f\xff";
	_cleanup_(summed_freep) struct summed *s = sums_by_hand(1), *same = NULL;

	(void)state;
	s->interval_names.items[0] = name;
	same = copied(s);
	assert_string_equal(same->interval_names.items[0], name);
}

/* Siblings, functions, sums of a function. */
static void test_twins(void **state)
{
	_cleanup_(summed_freep) struct summed *places = sums_by_hand(1), *functions = sums_by_hand(1), *owns = sums_by_hand(1);
	_cleanup_(uniter_freep) struct uniter *u = uniter_new();
	struct summed_place twin;
	struct diag diag = DIAG_INIT;
	struct summed *ret = NULL;

	(void)state;
	for (uint32_t i = 1; i < places->places.cnt; i++) {
		twin = places->places.items[i];
		if (twin.kind == NODE_FUNCTION) {
			VEC_ADD(&places->places, twin);
			VEC_ADD(&places->windows.items[0].pairs, (struct summed_pair){ i, (uint32_t)places->places.cnt - 1, 1 });
			break;
		}
	}
	assert_int_equal(places->windows.items[0].pairs.cnt, 2);
	assert_refused(places, "lists the same function or place twice");
	VEC_ADD(&functions->functions, functions->functions.items[0]);
	assert_refused(functions, "lists the same function or place twice");
	VEC_ADD(&owns->windows.items[0].owns, owns->windows.items[0].owns.items[0]);
	assert_refused(owns, "an impossible number");
	uniter_add(u, places);
	assert_int_equal(uniter_end(u, &ret, &diag), -EBADMSG);
	assert_int_equal(diag.status, EXIT_DATA);
}

/* Sums that cannot be there, or that together are none that are exact. */
static void test_too_large(void **state)
{
	_cleanup_(summed_freep) struct summed *waits = sums_by_hand(1), *bucket = sums_by_hand(1), *a = sums_by_hand(1);
	struct diag diag = DIAG_INIT;
	struct summed_window second;

	(void)state;
	waits->windows.items[0].counts.waited_ns = ((__int128)1 << 100) + 1;
	assert_refused(waits, "longer than any can be");
	bucket->windows.items[0].buckets.items[0].bucket = BUCKETS_MAX(BUCKET_BITS_FINE) - 1;
	assert_refused(bucket, "a sum is larger");
	a->windows.items[0].n = a->windows.items[0].recorded = (uint64_t)3 << 60;
	second = (struct summed_window){ .source = a->windows.items[0].source, .root = a->windows.items[0].root,
					 .n = (uint64_t)3 << 60, .recorded = 1, .unit = 1, .from_ns = 1, .until_ns = 2 };
	VEC_ADD(&a->windows, second);
	assert_int_equal(summed_roll_up(a, 0, &diag), -EOVERFLOW);
	assert_int_equal(diag.status, EXIT_DATA);
	assert_int_equal(a->windows.cnt, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_body), cmocka_unit_test(test_damage), cmocka_unit_test(test_names),
		cmocka_unit_test(test_no_function), cmocka_unit_test(test_too_large), cmocka_unit_test(test_twins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
