/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_tuples.c - the text form: what is damage and how it is named, the round trip, and bytes
 * that nobody would write.
 */
#include <stdio.h>
#include <string.h>
#include "base/str.h"
#include "tests/oracle/random_trace.h"
#include "tests/unit/cmocka_all.h"
#include "trace/tuples/tuples.h"
#include "base/banned.h"

#define HEADER "vprof-tuples 1\n"
#define MUTATIONS 20000

static const struct {
	const char *text;
	const char *message;		/* what it begins with */
} damages[] = {
	{ "", "t:1: expected \"vprof-tuples 1\" as the first line, found nothing" },
	{ "# only a comment\n", "t:1: expected \"vprof-tuples 1\"" },
	{ "vprof-tuples 2\n", "t:1: expected \"vprof-tuples 1\" as the first line, found \"2\"" },
	{ "wakeup 1 2 3\n", "t:1: expected \"vprof-tuples 1\"" },
	{ HEADER "\n#\nsegmnt 1 1 0 9 running\n",
	  "t:4: expected interval, segment, invocation, wakeup, creation, call, work, thread, false-wakeup, stack, order, ids, remote-call or host, found \"segmnt\"" },
	{ HEADER "segment 1 1 0 9\n",
	  "t:2: expected more fields in \"segment TID SID START_NS END_NS STATE\", found nothing" },
	{ HEADER "segment 1 1 0 9 running 7\n", "t:2: expected fewer fields" },
	{ HEADER "interval 1 r 1 0 1 9 completed x y z\n", "t:2: expected fewer fields" },
	{ HEADER "segment x 1 0 9 running\n", "t:2: expected a number as TID" },
	{ HEADER "segment -1 1 0 9 running\n", "t:2: expected a number as TID" },
	{ HEADER "segment 1 1 0 9 walking\n", "t:2: expected running, lock, cond" },
	{ HEADER "segment 1 1 0 9 wakeup\n", "t:2: expected running, lock, cond" },
	{ HEADER "segment 1 1 9 3 running\n", "t:2: expected END_NS not before START_NS" },
	{ HEADER "segment 1 1 0x1 3 running\n", "t:2: expected whole nanoseconds as START_NS" },
	{ HEADER "segment 1 1 0 1.5 running\n", "t:2: expected whole nanoseconds as END_NS" },
	{ HEADER "segment 1 1 0 9223372036854775808 running\n",
	  "t:2: expected whole nanoseconds as END_NS" },
	{ HEADER "wakeup 1 18446744073709551616 3\n", "t:2: expected a number as WAKER_TID" },
	{ HEADER "wakeup 1 2 -3\n", "t:2: expected whole nanoseconds as TIME_NS" },
	{ HEADER "interval - r 1 0 1 9\n", "t:2: expected a number as SID" },
	{ HEADER "interval 1 r 1 5 1 4\n", "t:2: expected END_NS not before START_NS" },
	{ HEADER "interval 1 r 1 0 - 9\n", "t:2: expected a number as END_TID" },
	{ HEADER "interval 1 r 1 0 1 -\n", "t:2: expected whole nanoseconds as END_NS" },
	{ HEADER "interval 1 r 1 0 - - completed\n",
	  "t:2: expected END_TID and END_NS of a completed interval" },
	{ HEADER "interval 1 r 1 0 1 9 done\n", "t:2: expected completed or aborted" },
	{ HEADER "invocation 1 1 @a 0 9\n", "t:2: expected a name as FUNCTION" },
	{ HEADER "invocation 1 1 f@ 0 9\n", "t:2: expected a place after the '@' as CALLSITE" },
	{ HEADER "invocation 1 1 f%00 0 9\n", "t:2: expected a name as FUNCTION" },
	{ HEADER "creation 1 5 2\n", "t:2: expected more fields" },
	{ HEADER "thread 5 fridge\n", "t:2: expected thread, disk, nic, timer, kernel or peer as KIND" },
	{ HEADER "thread 5 disk-of-a-long-name\n", "t:2: expected thread, disk, nic, timer, kernel or peer as KIND" },
	{ HEADER "thread 5 disk sda closed\n", "t:2: expected open or nothing after NAME" },
	{ HEADER "thread x disk\n", "t:2: expected a number as TID" },
	{ HEADER "stack 5 1 9\n", "t:2: expected more fields in" },
	{ HEADER "stack 5 9 1 main\n", "t:2: expected END_NS not before START_NS" },
	{ HEADER "stack 5 1 9 main\nstack 5 8 10 main\n",
	  "t:3: expected one stack of a thread at a time; this one overlaps another (t:2)" },
	{ HEADER "false-wakeup 5 -\n", "t:2: expected whole nanoseconds as TIME_NS" },
	{ HEADER "order 5 9 m\n", "t:2: expected more fields in \"order TID TIME_NS OBJECT take|share|give|post|meet [SINCE_NS]\"" },
	{ HEADER "order 5 9 m lock\n", "t:2: expected take, share, give, post or meet" },
	{ HEADER "order 5 9 m take 10\n", "t:2: expected SINCE_NS not after TIME_NS" },
	{ HEADER "order 5 -1 m take\n", "t:2: expected whole nanoseconds as TIME_NS" },
	{ HEADER "work 1 rows many\n", "t:2: expected a whole number as VALUE" },
	{ HEADER "work 1 rows -\n", "t:2: expected a whole number as VALUE" },
	{ HEADER "work 1 rows -9223372036854775809\n", "t:2: expected a whole number as VALUE" },
	{ HEADER "segment 1 18446744073709551615 1 2 running\n",
	  "t:2: expected a number below 18446744073709551615" },
	{ HEADER "interval 1 r 1 0 1 9\n\ninterval 1 r 1 0 1 9\n",
	  "t:4: expected a SID of its own for each interval; this one is taken (t:2)" },
	{ HEADER "segment 1 1 5 9 running\nsegment 2 1 0 9 lock\nsegment 1 1 0 6 lock\n",
	  "t:4: expected one state of a thread at a time; this segment overlaps another (t:2)" },
	{ HEADER "invocation 1 1 f 0 6\ninvocation 1 1 g 5 9\n",
	  "t:3: expected invocations of a thread to nest; this one crosses another (t:2)" },
	{ HEADER "invocation 1 1 f 0 20\ninvocation 1 1 g 5 9\ninvocation 1 1 h 8 12\n",
	  "t:4: expected invocations of a thread to nest; this one crosses another (t:3)" },
};

static void test_damage_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		struct trace *untouched = (struct trace *)&state, *t = untouched;
		struct diag d = DIAG_INIT;

		assert_true(tuples_parse(damages[i].text, strlen(damages[i].text), "t", &t, &d) < 0);
		assert_ptr_equal(t, untouched);
		assert_int_equal(d.status, EXIT_DATA);
		if (!starts_with(d.text, damages[i].message))
			fail_msg("expected '%s', found '%s'", damages[i].message, d.text);
	}
}

static const char *const accepted[] = {
	HEADER,
	"# first\n\n  vprof-tuples\t1  # same line\r\n\r\n",
	HEADER "segment 1 - 0 9 running\nsegment 1 - 9 12 lock\nsegment 1 5 9 9 io",	/* touching */
	HEADER "invocation 1 - f 0 9\ninvocation 1 - g 9 12\ninvocation 1 - h 9 9\n",
	HEADER "invocation 1 - f 0 9\ninvocation 1 - f 0 9\ninvocation 2 - g 5 12\n",
	HEADER "creation 1 9 2 5\nwakeup 1 1 0\ncall f f\n",
	HEADER "interval 18446744073709551614 r 1 0 1 9223372036854775807 completed\n",
	HEADER "work 1 rows -9223372036854775808\nwork 2 rows 9223372036854775807\n",
	HEADER "interval 1 r 1 0 - -\ninterval 2 r 1 7 - - aborted\ninterval 3 r 1 7 9 9 aborted\n",
};

static void test_what_is_no_damage(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(accepted); i++) {
		_cleanup_(trace_freep) struct trace *t = NULL;
		struct diag d = DIAG_INIT;

		if (tuples_parse(accepted[i], strlen(accepted[i]), "t", &t, &d) < 0)
			fail_msg("'%s': %s", accepted[i], d.text);
	}
}

static char *written(const struct trace *t)
{
	char *text = NULL;
	size_t len = 0;
	FILE *stream = open_memstream(&text, &len);

	assert_int_equal(tuples_write(stream, t), 0);
	fclose(stream);
	return text;
}

/* Names that need escaping come back as they were. */
static void test_names_survive(void **state)
{
	static const char *const names[] = {
		"operator new(unsigned long)", "-", "#x", "a#b", "100%", "%41", "f@plt", "\t", "\xc3\xa9",
	};
	_cleanup_(trace_freep) struct trace *t = trace_new(), *back = NULL;
	_cleanup_(freep) char *text = NULL;
	struct diag d = DIAG_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct invocation inv = { .tid = i, .sid = SID_NONE, .function = (uint32_t)i,
					  .end_ns = 9, .order = (uint32_t)i };
		struct interval iv = { .sid = i, .start_ns = 1, .end_ns = 2,
				       .status = INTERVAL_COMPLETED };
		struct creation c = { .tid = i };

		inv.call_site = trace_add_string(t, &t->call_sites, names[i]);
		iv.name = trace_add_string(t, &t->interval_names, names[i]);
		c.task = trace_add_string(t, &t->task_names, names[i]);
		VEC_EXTEND(&t->functions)->name = names[i];
		VEC_ADD(&t->invocations, inv);
		VEC_ADD(&t->intervals, iv);
		VEC_ADD(&t->creations, c);
	}
	text = written(t);
	if (tuples_parse(text, strlen(text), "t", &back, &d) < 0)
		fail_msg("%s in\n%s", d.text, text);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct invocation *inv = &back->invocations.items[i];

		assert_string_equal(back->functions.items[inv->function].name, names[i]);
		assert_string_equal(back->call_sites.items[inv->call_site], names[i]);
		assert_string_equal(back->interval_names.items[back->intervals.items[i].name], names[i]);
		assert_string_equal(back->task_names.items[back->creations.items[i].task], names[i]);
	}
}

/* Reading what was written and writing it again changes nothing. */
static void test_round_trip(void **state)
{
	(void)state;
	for (unsigned int seed = 0; seed < 200; seed++) {
		_cleanup_(trace_freep) struct trace *t = random_trace(seed, seed % 2), *back = NULL;
		_cleanup_(freep) char *first = written(t), *second = NULL;
		struct diag d = DIAG_INIT;

		if (tuples_parse(first, strlen(first), "t", &back, &d) < 0)
			fail_msg("seed %u: %s", seed, d.text);
		second = written(back);
		assert_string_equal(first, second);
	}
}

/* Two functions of one name come out apart; an interval with lost records as aborted. */
static void test_what_text_cannot_say(void **state)
{
	_cleanup_(trace_freep) struct trace *t = trace_new();
	_cleanup_(freep) char *text = NULL;
	struct interval iv = { .sid = 1, .status = INTERVAL_COMPLETED, .end_ns = 9, .lost = true };

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		struct function *f = VEC_EXTEND(&t->functions);
		struct invocation inv = { .tid = 1, .sid = SID_NONE, .function = i, .order = i,
					  .call_site = CALL_SITE_NONE, .start_ns = i, .end_ns = 9 };

		f->name = "init";
		f->file = i ? "b.c" : "a.c";
		VEC_ADD(&t->invocations, inv);
	}
	iv.name = trace_add_string(t, &t->interval_names, "req");
	VEC_ADD(&t->intervals, iv);
	text = written(t);
	assert_string_equal(text, HEADER "interval 1 req 0 0 0 9 aborted\n"
				  "invocation 1 - a.c:init 0 9\ninvocation 1 - b.c:init 1 9\n");
}

static void mutate(struct random *r, struct str *s)
{
	static const char *const bits[] = {
		"-", "@", "%", "%0", "#", " ", "\n", "18446744073709551615", "9223372036854775807",
		"vprof-tuples 1\n", "interval", "invocation", "aborted", "\r", "0",
	};

	for (uint32_t n = 1 + random_below(r, 4); n > 0 && s->len > 0; n--) {
		size_t at = random_below(r, (uint32_t)s->len);

		if (random_below(r, 3) == 0) {
			s->data[at] = (char)random_below(r, 256);
		} else if (random_below(r, 2) == 0) {
			s->len = at;		/* cut */
			s->data[at] = '\0';
		} else {
			_cleanup_(freep) char *rest = xstrndup(s->data + at, s->len - at);

			s->len = at;
			str_add(s, bits[random_below(r, ARRAY_SIZE(bits))]);
			str_add(s, rest);
		}
	}
}

/* Whatever the bytes: a trace that can be written, or damage that is named. */
static void test_any_bytes(void **state)
{
	struct random r = { 42 };

	(void)state;
	for (unsigned int n = 0; n < MUTATIONS; n++) {
		_cleanup_(trace_freep) struct trace *model = NULL, *t = NULL;
		_cleanup_(str_release) struct str s = STR_INIT;
		struct diag d = DIAG_INIT;

		if (n % 100 == 0)
			model = random_trace(n, RANDOM_ANY);
		if (n % 100 == 0) {
			_cleanup_(freep) char *text = written(model);

			free(*state);
			*state = xstrdup(text);
		}
		str_add(&s, *state);
		mutate(&r, &s);
		if (tuples_parse(str_cstr(&s), s.len, "t", &t, &d) < 0) {
			assert_true(starts_with(d.text, "t:"));
			assert_non_null(strstr(d.text, ": expected "));
		} else {
			_cleanup_(freep) char *text = written(t);

			assert_true(starts_with(text, HEADER));
		}
	}
	free(*state);
	*state = NULL;
}

static void test_missing_file(void **state)
{
	const char *path = "no/such/file.tuples";
	struct trace *t = NULL;
	struct diag d = DIAG_INIT;

	(void)state;
	assert_true(tuples_read(&path, 1, &t, &d) < 0);
	assert_int_equal(d.status, EXIT_DATA);
	assert_non_null(strstr(d.text, path));
	assert_null(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_damage_is_named),
		cmocka_unit_test(test_what_is_no_damage),
		cmocka_unit_test(test_names_survive),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_what_text_cannot_say),
		cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_missing_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
