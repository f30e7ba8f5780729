/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_because.c - the thread that --paper's sentence blames for a wait, and its words for the unknown. */
#include <stdio.h>

#include "tests/unit/cmocka_all.h"

#include "base/banned.h"
#include "report/probing.h"
#include "report/views/tree_label.h"
#include "report/words/sentence.h"
#include "tests/unit/sample_findings.h"

static void want_sentence(const struct findings *f, const struct select_options *o, const char *text)
{
	_cleanup_(freep) char *sentence = sentence_text(f, o, false);

	assert_string_equal(sentence, text);
}

/* A wait with a second waker: named from a tenth of the wait's share on. */
static void test_second_waker(void **state)
{
	_cleanup_(findings_freep) struct findings *f = sample_server();
	struct select_options o = { 3, 0.05, true, false };
	struct because *second = &f->factors.items[0].because_of.items[1];

	(void)state;
	f->interval.cnt = 4000;
	second->function = "rotate_log";
	second->share = .060;
	want_sentence(f, &o, "log_append > lock wait causes 62 % of the variance of 'request'; because of flush_log > sleep wait (60 %).");
	second->share = .062;
	want_sentence(f, &o, "log_append > lock wait causes 62 % of the variance of 'request'; because of flush_log > sleep wait (60 %) and rotate_log (6.2 %).");
}

/* The largest comes first, also if it is unknown; all that is unknown is one. */
static void test_unknown_in_sentence(void **state)
{
	_cleanup_(findings_freep) struct findings *f = sample_server();
	struct select_options o = { 3, 0.05, true, false };
	struct because told[3] = {
		{ NULL, NULL, true, STATE_IO, .40, NULL }, { "flush_log", NULL, true, STATE_IO, .15, "disk" },
		{ NULL, NULL, false, STATE_RUNNING, .13, NULL },
	};

	(void)state;
	f->interval.cnt = 4000;
	f->factors.items[0].because_of.items = told;
	f->factors.items[0].because_of.cnt = 2;
	want_sentence(f, &o, "log_append > lock wait causes 62 % of the variance of 'request'; because"
			" of unknown (40 %: its thread was in no probed function, in io wait; vprof build --functions all"
			" would name it) and flush_log > io wait for the disk (15 %).");
	/* Each alone is less than flush_log, both are more. */
	told[0].wait = STATE_OTHER;
	told[0].share = .14;
	f->factors.items[0].because_of.cnt = 3;
	want_sentence(f, &o, "log_append > lock wait causes 62 % of the variance of 'request'; because"
			" of unknown (27 %: its thread was not recorded at that time; vprof record --kernel tells more) and"
			" flush_log > io wait for the disk (15 %).");
	told[1].share = .30;
	want_sentence(f, &o, "log_append > lock wait causes 62 % of the variance of 'request'; because"
			" of flush_log > io wait for the disk (30 %) and unknown (27 %).");
}

/* The unknown part of a lock's wait: the thread that released it, or, if that is known, the thread's function. */
static void test_remedies(void **state)
{
	_cleanup_(findings_freep) struct findings *f = sample_server();
	struct select_options o = { 3, 0.05, true, false };
	struct because told[] = { { NULL, NULL, false, STATE_RUNNING, .50, NULL } };
	size_t cnt = f->warnings.cnt;

	(void)state;
	f->interval.cnt = 4000;
	f->warnings.cnt = 0;
	f->probing.root_only_cnt = 0;
	f->factors.items[0].because_of.items = told;
	f->factors.items[0].because_of.cnt = 1;
	want_sentence(f, &o, "log_append > lock wait causes 62 % of the variance of 'request'; because"
			" of unknown (50 %: the thread that ended the wait was in no probed function; vprof build --functions all"
			" would name it).");
	f->probing.root_only_cnt = 500;
	want_sentence(f, &o, "log_append > lock wait causes 62 % of the variance of 'request'; because"
			" of unknown (50 %: the thread that ended the wait was in no probed function; vprof record without --sample, or"
			" vprof build --functions all, would name it).");
	f->warnings.cnt = cnt;
	findings_warn(f, "no-waker", "for 90 %%");
	want_sentence(f, &o, "log_append > lock wait causes 62 % of the variance of 'request'; because"
			" of unknown (50 %: the thread that ended the wait is not recorded, or was in no probed function, or the lock changed hands"
			" more than 64 times in one wait; list what lets"
			" go under [sync] release, vprof record without --sample, or vprof build --functions all).");
	f->probing.root_only_cnt = 0;
	want_sentence(f, &o, "log_append > lock wait causes 62 % of the variance of 'request'; because"
			" of unknown (50 %: the thread that ended the wait is not recorded, or was in no probed function, or the lock changed hands"
			" more than 64 times in one wait; list what lets"
			" go under [sync] release, or vprof build --functions all).");
}

/* A function is one, whatever it did meanwhile: each of its ways would be below a tenth. */
static void test_by_function(void **state)
{
	_cleanup_(findings_freep) struct findings *f = sample_server();
	struct select_options o = { 3, 0.05, true, false };
	struct because told[] = {
		{ "rotate", "a.c", false, STATE_RUNNING, .059, NULL }, { "flush", "a.c", true, STATE_LOCK, .05, NULL },
		{ "flush", "a.c", true, STATE_IO, .045, "disk" }, { "flush", "b.c", false, STATE_RUNNING, .04, NULL },
		{ "flush", "a.c", false, STATE_RUNNING, .03, NULL },
	};

	(void)state;
	f->interval.cnt = 4000;
	f->factors.items[0].because_of.items = told;
	f->factors.items[0].because_of.cnt = 5;
	want_sentence(f, &o, "log_append > lock wait causes 62 % of the variance of 'request'; because"
			" of flush (12 %).");
	told[1].share = .4;			/* nearly all of it is one: then that is reported */
	want_sentence(f, &o, "log_append > lock wait causes 62 % of the variance of 'request'; because"
			" of flush > lock wait (48 %).");
}

static void test_many(void **state)
{
	enum { MANY = 144 };
	_cleanup_(findings_freep) struct findings *f = sample_server();
	struct select_options o = { 3, 0.05, true, false };
	struct because told[MANY];
	char names[MANY][16];

	(void)state;
	f->interval.cnt = 4000;
	for (int i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "f%d", i);
		told[i] = (struct because){ names[i], NULL, i % 2, STATE_LOCK, .004, NULL };
	}
	f->factors.items[0].because_of.items = told;
	f->factors.items[0].because_of.cnt = MANY;
	want_sentence(f, &o, "log_append > lock wait causes 62 % of the variance of 'request'; because"
			" of 144 functions (58 % together), f0 first (0.4 %).");
	f->factors.items[0].because_of.cnt = MANY / 4;	/* of a quarter of the wait that is no answer */
	want_sentence(f, &o, "log_append > lock wait causes 62 % of the variance of 'request'.");
	for (int i = 0; i < MANY; i++)		/* ... and all of it is one function's: it is reported as a whole */
		told[i].function = "f";
	f->factors.items[0].because_of.cnt = MANY;
	want_sentence(f, &o, "log_append > lock wait causes 62 % of the variance of 'request'; because"
			" of f (58 %).");
}

static void test_long_names(void **state)
{
	_cleanup_(findings_freep) struct findings *f = sample_server();
	struct select_options o = { 3, 0.05, true, false };
	struct because told[] = { { "store::pool<std::__cxx11::basic_string<char>, 16>::take(long)", NULL, false, STATE_RUNNING, .5, NULL } };

	(void)state;
	f->interval.cnt = 4000;
	f->factors.items[0].function = "server::session<server::tcp_stream, 4096>::handle_request";
	f->factors.items[0].because_of.items = told;
	f->factors.items[0].because_of.cnt = 1;
	want_sentence(f, &o, "server::session<..>::handle_request > lock wait causes 62 % of the variance of 'request'; because of store::pool<..>::take(long) (50 %).");
}

/* The cost of probes: too few intervals of a kind, or a ratio that means nothing. */
static void test_probing_not_measured(void **state)
{
	_cleanup_(findings_freep) struct findings *f = sample_server();

	(void)state;
	f->probing = (struct probing){ .root_only_cnt = 500, .mean = 43.41, .mean_low = -5, .mean_high = 92 };
	f->interval.cnt = 500;
	for (int few = 0; few < 2; few++) {
		_cleanup_(freep) char *text = NULL;

		f->interval.cnt = few ? PROBING_GROUP_MIN - 1 : 500;
		text = probing_text(f);
		assert_string_equal(text, few ? "instrumentation: not measured: needs 30 intervals in full and as many root-only" :
				    "instrumentation: not measurable here: latencies vary too much for so few intervals");
	}
}

/* In a narrow line the wait goes first, but not where it is what tells two lines apart. */
static void test_twin_labels(void **state)
{
	(void)state;
	for (int twin = 0; twin < 2; twin++) {
		struct findings f = { 0 };
		struct tree_line line = { .head = 2, .node = 2 };
		_cleanup_(str_release) struct str text = STR_INIT;
		struct tree_label label;

		VEC_ADD(&f.nodes, (struct node){ .id = 0, .parent = NODE_NONE, .kind = NODE_INTERVAL });
		VEC_ADD(&f.nodes, (struct node){ .id = 1, .parent = 0, .kind = NODE_WAIT, .wait = STATE_QUEUE, .is_wait = true });
		VEC_ADD(&f.nodes, (struct node){ .id = 2, .parent = 1, .kind = NODE_BLAME, .function = "sortCommandGeneric",
						 .wait = STATE_RUNNABLE, .is_wait = true });
		VEC_ADD(&f.nodes, (struct node){ .id = 3, .parent = 1, .kind = NODE_BLAME,
						 .function = twin ? "sortCommandGeneric" : "sortCommand" });
		label = tree_label_make(&f, &line, false);
		tree_label_add(&text, &label, 26);
		assert_string_equal(str_cstr(&text), twin ? "by so..dGeneric (runnable)" : "by sortCommandGeneric");
		tree_label_release(&label);
		VEC_RELEASE(&f.nodes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_second_waker), cmocka_unit_test(test_probing_not_measured),
		cmocka_unit_test(test_unknown_in_sentence), cmocka_unit_test(test_remedies),
		cmocka_unit_test(test_by_function), cmocka_unit_test(test_many), cmocka_unit_test(test_long_names), cmocka_unit_test(test_twin_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
