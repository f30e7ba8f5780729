/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_waiters.c - functions that waited without a probe: from the numbers in a trace to shares of the variance.
 *
 * handle has a probe.  In interval 1, 2 and 3 it waits 10, 30 and 50 for a lock, and runs 10: T is 20, 40 and 60, and the waits
 * are all of its variance.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/cmocka_all.h"

#include "analysis/analyze.h"
#include "base/banned.h"
#include "base/file.h"
#include "base/str.h"
#include "trace/callers.h"
#include "trace/tuples/tuples.h"

static const char text[] =
	"vprof-tuples 1\n"
	"interval 1 r 1 0 1 20\n" "interval 2 r 1 100 1 140\n" "interval 3 r 1 200 1 260\n"
	"segment 1 1 0 10 running\n" "segment 1 1 10 20 lock\n"
	"segment 1 2 100 110 running\n" "segment 1 2 110 140 lock\n"
	"segment 1 3 200 210 running\n" "segment 1 3 210 260 lock\n"
	"invocation 1 1 handle 0 20\n" "invocation 1 2 handle 100 140\n" "invocation 1 3 handle 200 260\n";

static struct trace *make_trace(void)
{
	struct trace *t = NULL;
	struct diag d = DIAG_INIT;

	if (tuples_parse(text, sizeof(text) - 1, "t", &t, &d) < 0)
		fail_msg("%s", d.text);
	t->functions.items[0].key = 7;
	for (size_t i = 0; i < t->segments.cnt; i++)
		t->segments.items[i].caller = t->segments.items[i].state == STATE_LOCK;
	for (int i = 0; i < 3; i++)
		VEC_ADD(&t->callers, (struct wait_caller){ .module = i ? "server" : NULL, .is_built = true });
	return t;
}

static void add_function(struct trace *t, uint32_t caller, const char *name, uint64_t key)
{
	struct wait_caller *c = &t->callers.items[caller];

	c->functions[c->function_cnt++] = (struct code_function){ name, strcmp(name, "read") ? "server.c" : "/usr/include/bits/unistd.h", 0, key, key < 100 };
}

/* "slow .99 in handle of server; "; the trace goes. */
static char *waiters(struct trace *t)
{
	_cleanup_(findings_freep) struct findings *f = NULL;
	struct analyze_options o = { .interval = NULL };
	struct str s = STR_INIT;

	assert_int_equal(analyze(t, &o, &f), 0);
	str_add(&s, "");
	for (size_t i = 0; i < f->waiters.cnt; i++) {
		const struct waiter *w = &f->waiters.items[i];

		assert_int_equal(w->wait, STATE_LOCK);
		str_addf(&s, "%s%s %.3f %.0f in %s of %s; ", w->is_outer ? "(" : "", w->function ? w->function : "?", w->share, w->mean_ns, w->inside, w->module);
	}
	trace_free(t);
	return str_take(&s);
}

static void expect(struct trace *t, const char *wanted)
{
	_cleanup_(freep) char *got = waiters(t);

	assert_string_equal(got, wanted);
}

static void test_itself(void **state)
{
	struct trace *t = make_trace();

	(void)state;
	add_function(t, 1, "handle", 7);
	expect(t, "");
	t = make_trace();			/* a header's function that was inlined into it */
	add_function(t, 1, "read", 0);
	add_function(t, 1, "handle", 7);
	expect(t, "");
	t = make_trace();			/* a helper stands for whoever calls it */
	add_function(t, 1, "std::mutex::lock()", 0);
	expect(t, "");
	t = make_trace();			/* the project's own file, without a name: that may be handle */
	expect(t, "");
	t = make_trace();			/* one of several of that name: it may be handle */
	add_function(t, 1, "handle(int)", 101);
	expect(t, "");
	t = make_trace();
	t->callers.items[1].module = NULL;
	expect(t, "");
	t = make_trace();
	t->callers.cnt = 1;			/* number 1 has no name */
	expect(t, "");
}

static void test_others(void **state)
{
	struct trace *t = make_trace();

	(void)state;
	add_function(t, 1, "slow", 9);
	expect(t, "slow 1.000 30 in handle of server; ");
	t = make_trace();			/* inlined into handle, and one the project knows */
	add_function(t, 1, "read", 0);
	add_function(t, 1, "slow", 9);
	add_function(t, 1, "handle", 7);
	expect(t, "slow 1.000 30 in handle of server; ");
	t = make_trace();			/* of two of another name one is reported */
	add_function(t, 1, "slow(int)", 101);
	expect(t, "slow(int) 1.000 30 in handle of server; ");
	t = make_trace();			/* stripped: in the program that may be handle */
	add_function(t, 1, "", 0);
	expect(t, "");
	t = make_trace();
	t->callers.items[1].is_built = false;
	t->callers.items[1].module = "libother.so";
	add_function(t, 1, "", 0);
	add_function(t, 1, "get", 0);
	expect(t, "? 1.000 30 in handle of libother.so; ");
	t = make_trace();			/* of the program, and none that vprof saw */
	add_function(t, 1, "linked", 0);
	add_function(t, 1, "handle", 7);
	expect(t, "linked 1.000 30 in handle of server; ");
	t = make_trace();			/* in a library, with a name and without */
	t->callers.items[1].is_built = false;
	t->callers.items[1].module = "libother.so";
	add_function(t, 1, "get", 0);
	expect(t, "get 1.000 30 in handle of libother.so; ");
	t = make_trace();
	t->callers.items[1].is_built = false;
	t->callers.items[1].module = "libother.so";
	expect(t, "? 1.000 30 in handle of libother.so; ");
}

/* The callers of the one that waited are reported as well, down to handle; what is beyond that is not. */
static void test_outer(void **state)
{
	struct trace *t = make_trace();

	(void)state;
	add_function(t, 1, "event_wait", 9);
	add_function(t, 1, "std::helper", 0);
	add_function(t, 1, "lock_wait", 10);
	add_function(t, 1, "handle", 7);
	add_function(t, 1, "main", 11);
	expect(t, "event_wait 1.000 30 in handle of server; (lock_wait 1.000 30 in handle of server; ");
	t = make_trace();			/* a library's helper that one of the project calls: that one waits */
	t->callers.items[1].is_built = false;
	t->callers.items[1].module = "libhelp.so";
	add_function(t, 1, "help_wait", 0);
	add_function(t, 1, "slow", 9);
	add_function(t, 1, "handle", 7);
	expect(t, "slow 1.000 30 in handle of libhelp.so; ");
	t = make_trace();			/* ... and one that handle itself calls */
	t->callers.items[1].is_built = false;
	t->callers.items[1].module = "libhelp.so";
	add_function(t, 1, "help_wait", 0);
	add_function(t, 1, "handle", 7);
	expect(t, "help_wait 1.000 30 in handle of libhelp.so; ");
	t = make_trace();
	t->callers.items[1].is_built = false;
	t->callers.items[1].module = "libstdc++.so.6";
	add_function(t, 1, "std::condition_variable::wait", 0);
	add_function(t, 1, "handle", 7);
	expect(t, "");
}

/* Without lines an inlined function has no name: the symbol is that of a probed one around it. */
static void test_inlined(void **state)
{
	static const char around[] = "invocation 1 1 serve 0 20\n" "invocation 1 2 serve 100 140\n" "invocation 1 3 serve 200 260\n";
	_cleanup_(str_release) struct str all = STR_INIT;
	struct trace *t = NULL;
	struct diag d = DIAG_INIT;

	(void)state;
	str_addf(&all, "%.*s%s%s", (int)(strstr(text, "invocation") - text), text, around, strstr(text, "invocation"));
	if (tuples_parse(str_cstr(&all), all.len, "t", &t, &d) < 0)
		fail_msg("%s", d.text);
	for (size_t i = 0; i < t->functions.cnt; i++)
		t->functions.items[i].key = strcmp(t->functions.items[i].name, "serve") ? 7 : 8;
	for (size_t i = 0; i < t->segments.cnt; i++)
		t->segments.items[i].caller = t->segments.items[i].state == STATE_LOCK;
	VEC_ADD(&t->callers, (struct wait_caller){ .module = NULL });
	VEC_ADD(&t->callers, (struct wait_caller){ .module = "server", .is_built = true });
	add_function(t, 1, "serve", 8);
	expect(t, "");
}

/* handle sleeps 10, 30 and 50; "slow > handle" for the function of the first cause, and the one that requests wait in; the trace goes. */
static void expect_cause(struct trace *t, const char *wanted)
{
	_cleanup_(findings_freep) struct findings *f = NULL;
	_cleanup_(freep) char *got = NULL;
	struct analyze_options o = { .interval = NULL };

	for (size_t i = 0; i < t->segments.cnt; i++)
		if (t->segments.items[i].state == STATE_LOCK)
			t->segments.items[i].state = STATE_SLEEP;
	assert_int_equal(analyze(t, &o, &f), 0);
	assert_true(f->causes.cnt && f->causes.items[0].known && f->causes.items[0].share > .99);
	got = xasprintf("%s > %s", f->causes.items[0].function, f->causes.items[0].waiter);
	assert_string_equal(got, wanted);
	trace_free(t);
}

/* A function of the project that sleeps without a probe is the cause if it makes nearly all of the wait. */
static void test_cause(void **state)
{
	struct trace *t = make_trace();

	(void)state;
	add_function(t, 1, "slow", 9);
	expect_cause(t, "slow > handle");
	t = make_trace();
	add_function(t, 1, "handle", 7);
	expect_cause(t, "handle > handle");
	t = make_trace();			/* none that vprof saw */
	add_function(t, 1, "linked", 0);
	expect_cause(t, "handle > handle");
	t = make_trace();			/* two of them: 10 and 50, 30 */
	add_function(t, 1, "slow", 9);
	add_function(t, 2, "slower", 10);
	t->segments.items[5].caller = 2;
	expect_cause(t, "handle > handle");
}

/* Two call sites of one function are one; what is handle's own has its part of the share and no name. */
static void test_shares(void **state)
{
	struct trace *t = make_trace();

	(void)state;
	add_function(t, 1, "slow", 9);
	add_function(t, 2, "slow", 9);
	t->segments.items[3].caller = 2;
	expect(t, "slow 1.000 30 in handle of server; ");
	t = make_trace();
	add_function(t, 1, "slow", 9);
	add_function(t, 2, "handle", 7);
	t->segments.items[5].caller = 2;	/* 50 of interval 3: X is 10, 30, 0; Cov(X,T) = (20 * 10 + 40 * 30) / 3 - 40 / 3 * 40 */
	expect(t, "slow -0.250 13 in handle of server; ");
}

/* ---- the file ---- */

static void read_text(const char *content, struct trace *t)
{
	char path[] = "/tmp/callers.XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(file_write(path, content, strlen(content), 0600), 0);
	callers_read(path, t);
	unlink(path);
}

static void test_file(void **state)
{
	_cleanup_(trace_freep) struct trace *t = trace_new();
	_cleanup_(str_release) struct str s = STR_INIT;
	struct wait_caller c = { .functions = { { "wait\ta\nbit", "wait.h", 12, 0, false }, { "handle", NULL, 0, 0, false } },
				 .function_cnt = 2, .module = "server", .is_built = true };

	(void)state;
	callers_text_begin(&s);
	callers_text_add(&s, 8192, &c);
	callers_text_add(&s, 1, &(struct wait_caller){ .module = "libx.so" });
	callers_text_add(&s, 7, &(struct wait_caller){ .functions = { { .name = CALLER_NAMELESS } }, .function_cnt = 1, .module = "liby.so" });
	read_text(str_cstr(&s), t);
	assert_int_equal(t->losses.callers_line, 0);
	assert_int_equal(t->callers.cnt, 8193);
	assert_string_equal(t->callers.items[8192].functions[0].name, "wait?a?bit");
	assert_string_equal(t->callers.items[8192].functions[0].file, "wait.h");
	assert_int_equal(t->callers.items[8192].functions[0].line, 12);
	assert_string_equal(t->callers.items[8192].functions[1].name, "handle");
	assert_null(t->callers.items[8192].functions[1].file);
	assert_true(t->callers.items[8192].is_built && !t->callers.items[1].is_built);
	assert_string_equal(t->callers.items[1].module, "libx.so");
	assert_int_equal(t->callers.items[1].function_cnt, 0);
	assert_string_equal(t->callers.items[7].functions[0].name, "");
	assert_null(t->callers.items[2].module);
	callers_read("/tmp/there/is/no/callers", t);
	assert_int_equal(t->losses.callers_line, 0);
}

static void test_damaged_file(void **state)
{
	static const char *const bad[] = {
		"", "vprof-callers 2\n", "vprof-callers 1\nx\n", "vprof-callers 1\n0\ta\tbuilt\n", "vprof-callers 1\n8193\ta\tbuilt\n",
		"vprof-callers 1\n99999999999\ta\tbuilt\n", "vprof-callers 1\n1\t\tbuilt\n", "vprof-callers 1\n1\ta\tperhaps\n",
		"vprof-callers 1\n1\ta\tbuilt\tf\n", "vprof-callers 1\n1\ta\tbuilt\tf\tf.c\t-1\n",
		"vprof-callers 1\n1\ta\tbuilt\t\tf.c\t1\n",
		"vprof-callers 1\n1\ta\tbuilt\ta\t\t1\tb\t\t1\tc\t\t1\td\t\t1\te\t\t1\tf\t\t1\tg\t\t1\th\t\t1\ti\t\t1\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		_cleanup_(trace_freep) struct trace *t = trace_new();

		read_text(bad[i], t);
		assert_int_equal(t->losses.callers_line, i < 2 ? 1 : 2);
		assert_true(!t->callers.cnt);
	}
}

static void test_what_is_whole(void **state)
{
	_cleanup_(trace_freep) struct trace *t = trace_new();

	(void)state;
	read_text("vprof-callers 1\n1\ta\tbuilt\n2\tb\n3\tc\tforeign\n4\td\tfor", t);
	assert_int_equal(t->losses.callers_line, 3);
	assert_int_equal(t->callers.cnt, 4);
	assert_string_equal(t->callers.items[1].module, "a");
	assert_null(t->callers.items[2].module);
	assert_string_equal(t->callers.items[3].module, "c");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_itself), cmocka_unit_test(test_others), cmocka_unit_test(test_outer), cmocka_unit_test(test_inlined), cmocka_unit_test(test_cause), cmocka_unit_test(test_shares),
		cmocka_unit_test(test_file), cmocka_unit_test(test_damaged_file), cmocka_unit_test(test_what_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
