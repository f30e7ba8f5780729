/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_report_causes.c - the sentence, and the causes that it is made of, from findings made by hand (sample_findings.h). */
#include <math.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "base/banned.h"
#include "report/style.h"
#include "report/words/sentence.h"
#include "tests/unit/report/report_check.h"
#include "tests/unit/sample_findings.h"

static void want_sentence(const struct findings *f, const struct select_options *o, const char *text)
{
	_cleanup_(freep) char *sentence = sentence_text(f, o, false);

	assert_string_equal(sentence, text);
}

static void test_sentences(void **state)
{
	_cleanup_(findings_freep) struct findings *f = sample_server(), *none = findings_new();
	struct select_options o = { 3, 0.05, false, false };

	(void)state;
	f->interval.cnt = 400;
	want_sentence(f, &o, "flush_log (server.c:41) causes 60 % of the variance of 'request'"
			" (95 % CI 51 to 72): log_append > lock wait (server.c:28) because of flush_log, which sleeps."
			" Next: unknown (36 %).");
	/* 60 % -+ 60: half the width must come down to 30, so that half of it is sure: 400 * (60/30)^2 - 400 = 1,200. */
	f->causes.items[0].ci95[0] = 0;
	f->causes.items[0].ci95[1] = 1.2;
	want_sentence(f, &o, "flush_log (server.c:41) may cause 60 % of the variance of 'request'"
			" (95 % CI 0 to 120): log_append > lock wait (server.c:28) because of flush_log, which sleeps."
			" That is not resolved yet: it takes about 1,200 more intervals to tell. Next: unknown (36 %).");
	f->interval.cnt = 20;
	f->causes.items[0].has_ci95 = false;
	want_sentence(f, &o, "flush_log (server.c:41) may cause 60 % of the variance of 'request':"
			" log_append > lock wait (server.c:28) because of flush_log, which sleeps."
			" 20 intervals are too few to tell: it takes at least 30. Next: unknown (36 %).");
	f->interval.cnt = 400;
	f->causes.items[0].has_ci95 = true;
	f->causes.items[0].ci95[0] = .55;
	f->causes.items[0].ci95[1] = .65;
	o.threshold = 0.9;
	want_sentence(f, &o, "Nothing causes more than 90 % of the variance of 'request';"
			" the largest cause is flush_log with 60 % of the variance of 'request' (95 % CI 55 to 65).");
	o.threshold = 0.5;		/* only part of it is through that wait; then it acts by itself, in a function that is open */
	f->causes.items[0].waiter_share = .4;
	want_sentence(f, &o, "flush_log (server.c:41) causes 60 % of the variance of 'request' (95 % CI 55 to 65):"
			" mostly, log_append > lock wait (server.c:28) because of flush_log, which sleeps.");
	f->causes.items[0].has_waiter = f->causes.items[0].is_wait = false;
	f->causes.items[0].how = HOW_CPU;
	f->causes.items[0].places.items[0] = 7;
	want_sentence(f, &o, "flush_log (server.c:41) causes 60 % of the variance of 'request' (95 % CI 55 to 65): it runs."
			" It calls functions that carry no probe yet: probe them to see further.");
	/* It sleeps, as far as is known; a function without a probe that it calls may be the one. */
	f->causes.items[0].how = HOW_OTHER;
	f->causes.items[0].is_wait = true;
	f->causes.items[0].wait = STATE_SLEEP;
	want_sentence(f, &o, "flush_log (server.c:41) causes 60 % of the variance of 'request' (95 % CI 55 to 65): it sleeps."
			" It calls functions that carry no probe yet: probe them to see further.");
	f->causes.items[0].how = HOW_CPU;
	f->causes.items[0].is_wait = false;
	f->causes.items[0].share = 1.5;
	f->causes.items[0].ci95[0] = 1.45;
	f->causes.items[0].ci95[1] = 1.55;
	want_sentence(f, &o, "flush_log (server.c:41) causes all of the variance of 'request' (and more, which other causes offset):"
			" it runs. It calls functions that carry no probe yet: probe them to see further.");
	f->interval.variance_ns2 = 0;
	want_sentence(f, &o, "'request' does not vary: each of 400 intervals took 1.06 ms.");
	f->interval.cnt = 1;
	want_sentence(f, &o, "Only one interval of 'request' was completed (1.06 ms):"
			" a variance needs several.");
	want_sentence(none, &o, "No interval was completed: there is nothing to explain.");
}

/* The first cause is not known: the sentence says why, and what would name it. */
static void test_unknown_cause(void **state)
{
	_cleanup_(findings_freep) struct findings *f = sample_server();
	struct select_options o = { 3, 0.05, false, false };
	struct summed_cause *c = &f->causes.items[0];

	(void)state;
	f->interval.cnt = 400;
	*c = f->causes.items[1];
	f->causes.cnt = 1;
	want_sentence(f, &o, "Not known what causes 36 % of the variance of 'request' (95 % CI 31 to 41): mostly, a request waits"
			" (queue wait), and its thread was in no probed function meanwhile; vprof build --functions all would name"
			" it.");
	c->waiter = "get";
	c->waited = STATE_LOCK;
	want_sentence(f, &o, "Not known what causes 36 % of the variance of 'request' (95 % CI 31 to 41): mostly, get waits"
			" (lock wait), and the thread that ended the wait was in no probed function; vprof build --functions all"
			" would name it.");
	findings_warn(f, "no-waker", "for 90 %%");
	want_sentence(f, &o, "Not known what causes 36 % of the variance of 'request' (95 % CI 31 to 41): mostly, get waits"
			" (lock wait), and which thread ended the wait is not recorded; list what lets go under [sync] release, or"
			" vprof build --functions all.");
	c->waited = STATE_PARKED;
	want_sentence(f, &o, "Not known what causes 36 % of the variance of 'request' (95 % CI 31 to 41): mostly, no thread here has"
			" the request (parked): a process behind it, a timer or the client has it; look at that, too.");
	c->has_waiter = false;
	want_sentence(f, &o, "Not known what causes 36 % of the variance of 'request' (95 % CI 31 to 41): mostly, it runs in no"
			" probed function; vprof build --functions all would name it.");
	f->look.is_one = true;		/* a build would name no more than the look did */
	want_sentence(f, &o, "Not known what causes 36 % of the variance of 'request' (95 % CI 31 to 41): mostly, it runs in no"
			" function that has a name; debugging symbols of the program, or a longer look, would name it.");
}

/* Variance before the start is reported after the cause, and makes the cause uncertain. */
static void test_before_start(void **state)
{
	_cleanup_(findings_freep) struct findings *f = sample_server();
	struct select_options o = { 3, 0.05, false, false };
	struct view_input in = input_of(f);
	json_t *summary = json_of("summary", &in);

	(void)state;
	want_string(summary, "before_start/by/0/function", "save");
	want_number(summary, "before_start/sd_ns", 200000.5);
	want_number(summary, "before_start/p99_ns", 300000);
	assert_true(json_is_false(at(summary, "before_start/exact")));
	json_decref(summary);
	f->interval.cnt = 400;
	f->causes.cnt = 1;
	f->before.sd_ns = f->interval.stddev_ns + 1;
	want_sentence(f, &o, "flush_log (server.c:41) causes 60 % of the variance of 'request' (95 % CI 51 to 72): log_append >"
			" lock wait (server.c:28) because of flush_log, which sleeps. But 'request' may begin too late: before it"
			" requests may wait up to 100 us on average (p99 300 us), mostly for save, and that varies more (vprof show"
			" summary).");
	f->before.by.items[0].function = NULL;
	want_sentence(f, &o, "flush_log (server.c:41) causes 60 % of the variance of 'request' (95 % CI 51 to 72): log_append >"
			" lock wait (server.c:28) because of flush_log, which sleeps. But 'request' may begin too late: before it"
			" requests may wait up to 100 us on average (p99 300 us), mostly while its thread is busy in no probed function"
			" (vprof build --functions all would name it), and that varies more (vprof show summary).");
	summary = json_of("summary", &in);
	assert_true(json_is_false(at(summary, "sentence/sure")));
	json_decref(summary);
	f->before.sd_ns = f->interval.stddev_ns;
	summary = json_of("summary", &in);
	assert_true(json_is_true(at(summary, "sentence/sure")));
	json_decref(summary);
	findings_warn(f, "table-full", "full");
	summary = json_of("summary", &in);
	assert_true(json_is_false(at(summary, "sentence/sure")));
	json_decref(summary);
}

/* Warnings that make the answer wrong or uncertain come before those that qualify it. */
static void test_warning_order(void **state)
{
	static const char *const codes[] = { "parked", "burst", "few-intervals", "unsolicited", "paused" };
	_cleanup_(findings_freep) struct findings *f = findings_new();

	(void)state;
	for (size_t i = ARRAY_SIZE(codes); i-- > 0; )
		findings_warn(f, codes[i], "text");
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		assert_string_equal(f->warnings.items[i].code, codes[i]);
}

static void test_causes_data(void **state)
{
	_cleanup_(findings_freep) struct findings *f = sample_server();
	struct view_input in = input_of(f);
	json_t *o = json_of("causes", &in);
	double sum = 0;

	(void)state;
	for (size_t i = 0; i < json_array_size(at(o, "causes")); i++)
		sum += json_number_value(json_object_get(json_array_get(at(o, "causes"), i), "share"));
	assert_true(fabs(sum - 1) < 1e-9);
	want_number(o, "causes/0/rank", 1);
	want_string(o, "causes/0/function", "flush_log");
	want_number(o, "causes/0/line", 41);
	want_string(o, "causes/0/wait", "sleep");
	want_string(o, "causes/0/how", "lock");
	want_null(o, "causes/0/peer");
	want_number(o, "causes/0/ci95/1", .72);
	want_number(o, "causes/0/places/0", 4);
	want_string(o, "causes/0/through/function", "log_append");
	assert_true(json_is_true(at(o, "causes/0/known")));
	assert_true(json_is_false(at(o, "causes/1/known")));
	want_null(o, "causes/1/function");
	want_string(o, "sentence/function", "flush_log");
	want_number(o, "sentence/line", 41);
	want_number(o, "sentence/share", .6);
	json_decref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sentences), cmocka_unit_test(test_unknown_cause), cmocka_unit_test(test_before_start), cmocka_unit_test(test_causes_data),
		cmocka_unit_test(test_warning_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
