/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_predict.c - replays: of small traces answered by hand, and of random programs against an oracle.
 *
 * The oracle (tests/oracle/oracle_replay.c) is the definition, slow and obvious: nanosecond after nanosecond, each thread takes its
 * next step.  Its steps are written down as a trace; the prediction from that trace is compared with the oracle's run of the program
 * that was really changed.
 */
#include <math.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "analysis/causal/choose.h"
#include "analysis/causal/predict.h"
#include "analysis/causal/unfair.h"
#include "base/banned.h"
#include "base/str.h"
#include "tests/oracle/oracle_replay.h"
#include "tests/oracle/random_trace.h"
#include "trace/tuples/tuples.h"

struct want {
	const char *target;
	double speedup;
	double mean;			/* gain of the mean; NAN: refused */
};

static struct trace *read_text(const char *text)
{
	struct trace *t = NULL;
	struct diag d = DIAG_INIT;

	if (tuples_parse(text, strlen(text), "text", &t, &d) < 0)
		fail_msg("%s", d.text);
	trace_sort(t);
	return t;
}

static void predictions_are(const char *text, const struct want *wants, size_t cnt)
{
	_cleanup_(trace_freep) struct trace *t = read_text(text);
	_cleanup_(predictor_freep) struct predictor *p = predictor_new(t, NULL);

	assert_non_null(p);
	for (size_t i = 0; i < cnt; i++) {
		_cleanup_(experiments_freep) struct experiments *e = experiments_new();
		const struct want *w = &wants[i];

		predictor_baseline(p, e);
		assert_float_equal(e->floor, 0, 1e-9);	/* the run as it was is replayed as it was */
		if (predictor_ask(p, w->target, &w->speedup, 1, e) == isnan(w->mean))
			fail_msg("%s: refused or not: %s", w->target, e->refused.cnt ? e->refused.items[0].why : "not");
		if (isnan(w->mean))
			continue;
		if (fabs(e->list.items[0].metrics[GAIN_MEAN].predicted - w->mean) > 1e-9)
			fail_msg("%s %g: %g, not %g", w->target, w->speedup, e->list.items[0].metrics[GAIN_MEAN].predicted, w->mean);
	}
}

#define PREDICTIONS_ARE(text, ...)								\
	do {											\
		static const struct want wants[] = { __VA_ARGS__ };				\
		predictions_are(text, wants, ARRAY_SIZE(wants));				\
	} while (0)

/* 1 waits for 2, which takes 48 in f: at 50 % 2 is done at 24, 1 goes on at 26 and ends at 36. */
static void test_wait(void **state)
{
	(void)state;
	PREDICTIONS_ARE("vprof-tuples 1\n"
		"interval 1 req 1 0 1 60\n"
		"segment 1 1 0 10 running\nsegment 1 1 10 50 cond\nsegment 1 1 50 60 running\n"
		"segment 2 - 0 48 running\n"
		"wakeup 1 2 48\n"
		"invocation 2 - f 0 48\ninvocation 1 1 h 5 55\ninvocation 1 1 g 50 55\n",
		{ "f", 0.25, 0.2 }, { "f", 0.5, 0.4 }, { "f", 1, 40 / 60.0 }, { "g", 1, 5 / 60.0 }, { "h", 1, 5 / 60.0 },
		{ "wait:h", 1, 40 / 60.0 }, { "wait:g", 1, NAN }, { "wait:nobody", 1, NAN }, { "nobody", 1, NAN }, { "io", 1, NAN },
		{ "queue", 1, NAN }, { "runqueue", 1, 2 / 60.0 }, { "lock:x", 0.5, NAN }, { "disk:sda", 0.5, NAN });
}

/* 1 waits for 2, which waits for 3; see tests/golden/chain_of_locks.tuples. */
static void test_chain(void **state)
{
	(void)state;
	PREDICTIONS_ARE("vprof-tuples 1\n"
		"interval 1 req 1 0 1 90\n"
		"segment 1 1 0 10 running\nsegment 1 1 10 80 lock\nsegment 1 1 80 90 running\n"
		"segment 2 - 0 20 running\nsegment 2 - 20 60 lock\nsegment 2 - 60 90 running\n"
		"segment 3 - 0 90 running\n"
		"wakeup 1 2 80\nwakeup 2 3 60\n"
		"invocation 1 1 get 5 85\ninvocation 2 - hold 15 82\ninvocation 3 - slow 0 50\n",
		{ "slow", 1, 40 / 90.0 }, { "slow", 0.5, 25 / 90.0 }, { "hold", 1, 20 / 90.0 }, { "wait:hold", 1, 40 / 90.0 },
		{ "wait:get", 1, 70 / 90.0 }, { "get", 1, 5 / 90.0 }, { "body:hold", 1, 20 / 90.0 });
}

/* Three tasks of 30 at 0, 10, 20; one worker, which takes 5 to wake: 35, 55, 75.  With two: 35, 30, 45. */
static void test_queue(void **state)
{
	(void)state;
	PREDICTIONS_ARE("vprof-tuples 1\n"
		"interval 1 req 1 0 2 35\ninterval 2 req 1 10 2 65\ninterval 3 req 1 20 2 95\n"
		"segment 1 - 0 100 running\n"
		"segment 2 - 0 5 cond\nsegment 2 1 5 35 running\nsegment 2 2 35 65 running\nsegment 2 3 65 95 running\n"
		"creation 1 0 2 5\ncreation 1 10 2 35\ncreation 1 20 2 65\n"
		"invocation 2 1 f 5 35\ninvocation 2 2 f 35 65\ninvocation 2 3 f 65 95\n",
		{ "queue", 1, 1 / 3.0 }, { "f", 0.5, 1 - 75 / 165.0 }, { "f", 1, 1 - 5 / 165.0 });
}

/* Own time and that of a callee; a disk, a sleep, the run queue.  Half of 5 is 3: times are whole. */
static void test_kinds(void **state)
{
	(void)state;
	PREDICTIONS_ARE("vprof-tuples 1\n"
		"interval 1 req 1 0 1 100\n"
		"segment 1 1 0 40 running\nsegment 1 1 40 60 io\nsegment 1 1 60 70 runnable\nsegment 1 1 70 80 running\n"
		"segment 1 1 80 90 sleep\nsegment 1 1 90 95 io\nsegment 1 1 95 100 running\n"
		"wakeup 1 4611686018427387904 60\nthread 4611686018427387904 disk sda\n"
		"invocation 1 1 f 0 80\ninvocation 1 1 g 10 30\ninvocation 1 1 k 40 60\n",
		{ "f", 0.5, 0.35 }, { "body:f", 0.5, 0.15 }, { "g", 0.5, 0.1 }, { "io", 0.5, 0.17 }, { "io", 1, 0.35 }, { "io@f", 0.5, 0.1 },
		{ "io@k", 1, 0.2 }, { "io@g", 1, NAN }, { "runqueue", 1, 0.1 }, { "disk:sda", 0.5, 0.1 }, { "disk:sdb", 0.5, NAN },
		{ "pc:g", 1, 0.2 });
}

/* A pipe between two threads is no device: the reader waits for the writer, which takes 95. */
static void test_pipe(void **state)
{
	(void)state;
	PREDICTIONS_ARE("vprof-tuples 1\n"
		"interval 1 req 1 0 1 100\n"
		"segment 1 1 0 90 running\nsegment 1 1 90 97 io\nsegment 1 1 97 100 running\n"
		"segment 2 - 0 95 running\nwakeup 1 2 95\n"
		"invocation 1 1 f 0 90\ninvocation 2 - g 0 95\n",
		{ "io", 1, NAN }, { "f", 1, 0 }, { "g", 0.5, 0.07 }, { "wait:f", 1, NAN });
}

/* flush only sleeps, so io@flush is another name of it, and so is lock:m, held meanwhile; serve is twice as much. */
static void test_names_of_one_thing(void **state)
{
	static const char *const all[] = { "flush", "io@flush", "parse", "serve", "lock:m", "body:parse", "nobody" };
	static const char *const distinct[] = { "flush", "parse", "serve", "nobody" };
	_cleanup_(trace_freep) struct trace *t = read_text("vprof-tuples 1\n"
		"interval 1 req 1 0 1 100\n"
		"segment 1 1 0 40 running\nsegment 1 1 40 90 sleep\nsegment 1 1 90 100 running\n"
		"invocation 1 1 serve 0 100\ninvocation 1 1 parse 5 35\ninvocation 1 1 flush 40 90\n"
		"order 1 39 m take\norder 1 91 m give\n");
	_cleanup_(predictor_freep) struct predictor *p = predictor_new(t, NULL);
	strings targets = { NULL, 0, 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		VEC_ADD(&targets, all[i]);
	predictor_keep_distinct(p, &targets);
	assert_int_equal(targets.cnt, ARRAY_SIZE(distinct));
	for (size_t i = 0; i < targets.cnt; i++)
		assert_string_equal(targets.items[i], distinct[i]);
	VEC_RELEASE(&targets);
}

/* 1 wakes 2 at 40, in the call in which it then waits for 2 until 80, which needs 40 of work for that. */
static void test_release_in_a_wait(void **state)
{
	(void)state;
	PREDICTIONS_ARE("vprof-tuples 1\n"
		"interval 1 req 1 0 1 100\n"
		"segment 1 1 0 30 running\nsegment 1 1 30 85 io\nsegment 1 1 85 100 running\n"
		"segment 2 - 0 10 running\nsegment 2 - 10 40 io\nsegment 2 - 40 90 running\n"
		"wakeup 2 1 40\nwakeup 1 2 80\n"
		"invocation 1 1 send 20 90\ninvocation 2 - serve 40 80\n",
		{ "serve", 0.5, 20 / 100.0 }, { "serve", 1, 40 / 100.0 }, { "send", 1, 15 / 100.0 });
}

/* 2 waits for m while 1 has it three times: after two of three releases the same thread has it again.  n goes round. */
static void test_unfair(void **state)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	struct trace *t;
	const char *lock = NULL;

	(void)state;
	str_add(&text, "vprof-tuples 1\n");
	for (unsigned i = 0; i < 20; i++) {
		unsigned at = 1000 * (i + 1);

		for (unsigned k = 0; k < 3; k++)
			str_addf(&text, "order 1 %u m take\norder 1 %u m give\n", at + 100 * k, at + 100 * k + 90);
		str_addf(&text, "order 2 %u m take %u\norder 2 %u m give\n", at + 300, at + 50, at + 350);
		str_addf(&text, "order 3 %u n take\norder 3 %u n give\norder 4 %u n take %u\norder 4 %u n give\n", at, at + 50, at + 60, at + 20,
			 at + 70);
	}
	t = read_text(str_cstr(&text));
	assert_float_equal(unfair_lock(t, &lock), 2 / 3.0, 1e-9);
	assert_string_equal(lock, "m");
	trace_free(t);
	t = read_text("vprof-tuples 1\norder 1 10 m take\norder 1 20 m give\n");
	assert_float_equal(unfair_lock(t, &lock), 0, 0);
	trace_free(t);
}

/* A wait for a lock, of which flush explains so much: with nearly all of it, the lock's holding is no target beside flush. */
static void choices_are(double explained, const char *const *want, size_t cnt)
{
	_cleanup_(experiments_freep) struct experiments *e = experiments_new();
	struct findings f = { .arena = NULL };
	struct factor x = { .kind = FACTOR_WAIT, .function = "append", .is_wait = true, .wait = STATE_LOCK, .share = 0.6 };
	strings targets = { NULL, 0, 0 };

	VEC_ADD(&x.because_of, (struct because){ .function = "flush", .share = explained });
	VEC_ADD(&f.factors, x);
	choose_targets(&f, CHOICE_EXPERIMENT, e, &targets);
	assert_int_equal(targets.cnt, cnt);
	for (size_t i = 0; i < cnt; i++)
		assert_string_equal(targets.items[i], want[i]);
	assert_int_equal(e->refused.cnt, 1);
	VEC_RELEASE(&targets);
	VEC_RELEASE(&f.factors.items[0].because_of);
	VEC_RELEASE(&f.factors);
}

static void test_choice(void **state)
{
	(void)state;
	choices_are(0.55, (const char *const[]){ "flush" }, 1);
	choices_are(0.3, (const char *const[]){ "flush", "lock:append" }, 2);
}

/* An event that is never posted. */
static void test_stuck(void **state)
{
	struct replay_program p = { .event_cnt = 1 };
	struct replay_times t;

	(void)state;
	VEC_ADD(&p.strands, (struct replay_strand){ 0, 1, 0 });
	VEC_ADD(&p.steps, (struct replay_step){ OP_AWAIT, 0, 0 });
	replay_run(&p, &t);
	assert_int_equal(t.stuck_cnt, 1);
	replay_times_release(&t);
	replay_program_release(&p);
}

/* ---- random programs ---- */

enum { PROGRAMS = 300 };

static void compare_engine(bool has_cpus)
{
	unsigned compared = 0, waits = 0;

	for (unsigned seed = 1; seed <= PROGRAMS; seed++) {
		struct oracle_program o;
		struct replay_program p;
		struct replay_times t;
		struct oracle_run run;

		oracle_random(&o, seed, true);
		o.cpu_cnt = has_cpus ? 1 + seed % 3 : 0;
		o.slice_ns = 97;
		oracle_run(&o, ORACLE_NONE, 0, &run);
		oracle_strands(&o, &p);
		replay_run(&p, &t);
		if (!run.tie) {			/* of two that come at the same nanosecond either may be first */
			compared++;
			waits += run.wait_cnt;
			for (uint32_t i = 0; i < o.interval_cnt; i++)
				if (t.begin_ns[i] != run.begin_ns[i] || t.end_ns[i] != run.end_ns[i])
					fail_msg("seed %u: interval %u is %lld to %lld, not %lld to %lld", seed, i, (long long)t.begin_ns[i],
						 (long long)t.end_ns[i], (long long)run.begin_ns[i], (long long)run.end_ns[i]);
		}
		replay_times_release(&t);
		replay_program_release(&p);
		oracle_run_release(&run);
		oracle_release(&o);
	}
	print_message("%u of %d programs without a tie, %u waits\n", compared, PROGRAMS, waits);
	assert_true(compared > PROGRAMS / (has_cpus ? 5 : 2) && waits > (has_cpus ? 100 : 500));
}

static void test_engine(void **state)
{
	(void)state;
	compare_engine(false);
	compare_engine(true);
}

static double really(const struct oracle_program *o, uint32_t function, unsigned quarters, struct oracle_run *run)
{
	double sum = 0;

	oracle_run(o, function, quarters, run);
	for (uint32_t i = 0; i < o->interval_cnt; i++)
		sum += (double)(run->end_ns[i] - run->begin_ns[i]);
	return sum;
}

struct errors {
	unsigned exact_cnt, cnt;
	double worst, sum;
};

/* If the same steps wait as in the record, for the same threads, the prediction is exact; else it may be off. */
static void compare_program(const struct oracle_program *o, struct errors *errors)
{
	struct oracle_run before, after;
	double base = really(o, ORACLE_NONE, 0, &before);
	_cleanup_(freep) char *text = oracle_tuples(o, &before, false);
	_cleanup_(trace_freep) struct trace *t = read_text(text);
	_cleanup_(predictor_freep) struct predictor *p = predictor_new(t, NULL);

	for (uint32_t f = 0; f < ORACLE_FUNCTIONS; f++)
		for (unsigned quarters = 1; quarters <= 4; quarters++) {
			_cleanup_(experiments_freep) struct experiments *e = experiments_new();
			char name[] = { 'f', (char)('0' + f), 0 };
			double speedup = quarters / 4.0, truth = 1 - really(o, f, quarters, &after) / base, off;
			bool same = oracle_same_waits(o, &before, &after);

			oracle_run_release(&after);
			predictor_baseline(p, e);
			assert_float_equal(e->floor, 0, 1e-9);
			if (!predictor_ask(p, name, &speedup, 1, e))
				continue;	/* the program has none of it */
			off = fabs(e->list.items[0].metrics[GAIN_MEAN].predicted - truth);
			if (same && off > 1e-9)
				fail_msg("%s %u/4: off by %g, really %g\n%s", name, quarters, off, truth, text);
			errors->exact_cnt += same;
			errors->cnt++;
			errors->sum += off;
			errors->worst = fmax(errors->worst, off);
		}
	oracle_run_release(&before);
}

static struct errors compare_programs(bool has_locks)
{
	struct errors errors = { 0, 0, 0, 0 };

	for (unsigned seed = 1; seed <= PROGRAMS; seed++) {
		struct oracle_program o;

		oracle_random(&o, seed, has_locks);
		compare_program(&o, &errors);
		oracle_release(&o);
	}
	print_message("%s: %u predictions from recorded waits, %u of them exact; all: mean error %.2f points, worst %.1f\n",
		      has_locks ? "locks" : "no locks", errors.cnt, errors.exact_cnt, 100 * errors.sum / errors.cnt, 100 * errors.worst);
	assert_true(errors.exact_cnt > errors.cnt / 5);
	return errors;
}

/* A run on some CPUs predicts a run on more or fewer: exactly, if the same waits remain. */
static void compare_cpus(const struct oracle_program *o, struct errors *errors)
{
	struct oracle_run before, after;
	double base = really(o, ORACLE_NONE, 0, &before);
	_cleanup_(freep) char *text = oracle_tuples(o, &before, false);
	_cleanup_(trace_freep) struct trace *t = read_text(text);
	_cleanup_(predictor_freep) struct predictor *p = predictor_new(t, NULL);

	for (uint32_t cnt = 1; cnt <= o->thread_cnt; cnt++) {
		_cleanup_(experiments_freep) struct experiments *e = experiments_new();
		struct oracle_program other = *o;
		char name[] = { 'c', 'p', 'u', 's', ':', (char)('0' + cnt), 0 };
		double whole = 1, truth, off;
		bool exact;

		other.cpu_cnt = cnt;
		truth = 1 - really(&other, ORACLE_NONE, 0, &after) / base;
		exact = !before.tie && !after.tie && oracle_same_waits(o, &before, &after);
		oracle_run_release(&after);
		if (!predictor_ask(p, name, &whole, 1, e))
			continue;	/* no thread ever waited for a CPU */
		off = fabs(e->list.items[0].metrics[GAIN_MEAN].predicted - truth);
		if (exact && off > 1e-9)
			fail_msg("%s: off by %g, really %g\n%s", name, off, truth, text);
		errors->exact_cnt += exact;
		errors->cnt++;
		errors->sum += off;
		errors->worst = fmax(errors->worst, off);
	}
	oracle_run_release(&before);
}

static void test_cpus(void **state)
{
	struct errors errors = { 0, 0, 0, 0 };

	/* Two threads of 50 and 40 on one CPU; 1 is also asleep from 20 to 25, in which 2 runs. */
	PREDICTIONS_ARE("vprof-tuples 1\n"
		"interval 1 req 1 0 1 95\ninterval 2 req 2 0 2 60\n"
		"segment 1 1 0 20 running\nsegment 1 1 20 25 sleep\nsegment 1 1 25 60 runnable\nsegment 1 1 60 95 running\n"
		"segment 2 2 0 20 runnable\nsegment 2 2 20 60 running\n",
		{ "cpus:1", 1, 0 }, { "cpus:2", 1, 1 - (60 + 40) / 155.0 }, { "cpus:64", 1, 1 - (60 + 40) / 155.0 },
		{ "runqueue", 1, 1 - (60 + 40) / 155.0 });
	PREDICTIONS_ARE("vprof-tuples 1\ninterval 1 req 1 0 1 95\nsegment 1 1 0 95 running\n", { "cpus:2", 1, NAN });
	(void)state;
	for (unsigned seed = 1; seed <= PROGRAMS; seed++) {
		struct oracle_program o;

		oracle_random(&o, seed, false);
		o.cpu_cnt = 1 + seed % 3;
		o.slice_ns = 3000000;
		compare_cpus(&o, &errors);
		oracle_release(&o);
	}
	print_message("CPUs: %u predictions, %u exact, for the same waits without a tie; all: mean error %.2f points, worst %.1f\n", errors.cnt, errors.exact_cnt,
		      100 * errors.sum / errors.cnt, 100 * errors.worst);
	assert_true(errors.exact_cnt > errors.cnt / 4 && errors.sum / errors.cnt < 0.02);
}

/* If the run noted every taking and release, the prediction is exact, whoever waits for whose lock after the change. */
static void test_noted_locks(void **state)
{
	unsigned cnt = 0, changed_cnt = 0;

	(void)state;
	for (unsigned seed = 1; seed <= PROGRAMS; seed++) {
		struct oracle_program o;
		struct oracle_run before, after;
		double base;

		oracle_random(&o, seed, true);
		base = really(&o, ORACLE_NONE, 0, &before);
		for (uint32_t f = 0; f < ORACLE_FUNCTIONS && !before.tie; f++) {
			_cleanup_(freep) char *text = oracle_tuples(&o, &before, true);
			_cleanup_(trace_freep) struct trace *t = read_text(text);
			_cleanup_(predictor_freep) struct predictor *p = predictor_new(t, NULL);
			_cleanup_(experiments_freep) struct experiments *e = experiments_new();
			char name[] = { 'f', (char)('0' + f), 0 };
			double speedup = (1 + seed % 4) / 4.0, truth = 1 - really(&o, f, 1 + seed % 4, &after) / base;
			bool left_out = after.tie || !oracle_same_awaits(&o, &before, &after), same = oracle_same_waits(&o, &before, &after);

			oracle_run_release(&after);
			predictor_baseline(p, e);
			assert_float_equal(e->floor, 0, 1e-9);
			if (left_out || !predictor_ask(p, name, &speedup, 1, e))
				continue;
			if (fabs(e->list.items[0].metrics[GAIN_MEAN].predicted - truth) > 1e-9)
				fail_msg("seed %u, %s by %g: %g, really %g\n%s", seed, name, speedup,
					 e->list.items[0].metrics[GAIN_MEAN].predicted, truth, text);
			cnt++;
			changed_cnt += !same;
		}
		oracle_run_release(&before);
		oracle_release(&o);
	}
	print_message("noted locks: %u predictions exact, in %u of them other threads wait than in the record\n", cnt, changed_cnt);
	assert_true(cnt > PROGRAMS && changed_cnt > cnt / 5);
}

/* 1 holds m from 10 to 50, 2 asks for it at 60: f, before that, 25 of 50 faster: 2 asks at 35, and waits for 1.  Held: 30 of 40 by a
 * disk. */
static void test_order(void **state)
{
	(void)state;
	PREDICTIONS_ARE("vprof-tuples 1\n"
		"interval 1 req 2 0 2 80\n"
		"segment 1 - 0 20 running\nsegment 1 - 20 50 io\nsegment 1 - 50 90 running\n"
		"segment 2 1 0 80 running\n"
		"invocation 1 - hold 5 55\ninvocation 2 1 f 0 50\ninvocation 2 1 get 55 75\n"
		"order 1 10 m take\norder 1 50 m give\norder 2 60 m take\norder 2 70 m give\n",
		{ "f", 0.5, 10 / 80.0 }, { "f", 1, 10 / 80.0 }, { "lock:m", 0.5, 5 / 80.0 }, { "lock:get", 0.5, 5 / 80.0 },
		{ "lock:f", 0.5, NAN }, { "lock:n", 0.5, NAN }, { "wait:m", 1, 0 });
	/* 1 holds it again and again; the thread that asks comes back 3 later. */
	PREDICTIONS_ARE("vprof-tuples 1\n"
		"interval 1 req 2 0 2 80\n"
		"segment 1 - 0 90 running\n"
		"segment 2 1 0 20 running\nsegment 2 1 20 53 lock\nsegment 2 1 53 80 running\nwakeup 2 1 50\n"
		"invocation 1 - hold 5 55\ninvocation 2 1 get 15 75\n"
		"order 1 10 m take\norder 1 50 m give\norder 2 53 m take 20\norder 2 70 m give\norder 1 75 m take\norder 1 85 m give\n",
		{ "hold", 0.5, 22 / 80.0 }, { "hold", 1, 33 / 80.0 }, { "wait:m", 1, 33 / 80.0 }, { "wait:get", 1, 33 / 80.0 },
		{ "lock:m", 0.5, (20 + 8.5 - 0.5) / 80.0 });
}

/* A writer among readers: 3 reads from 0 to 40 and from 50; 2 writes from 41, having waited; 1 asks for reading at 60. */
static void test_readers(void **state)
{
	(void)state;
	PREDICTIONS_ARE("vprof-tuples 1\n"
		"interval 1 req 2 0 2 100\n"
		"segment 1 - 0 40 running\nsegment 3 - 0 20 running\n"
		"segment 2 1 0 10 running\nsegment 2 1 10 40 lock\nsegment 2 1 40 100 running\nwakeup 2 1 40\n"
		"invocation 1 - read 0 40\ninvocation 3 - read3 0 20\ninvocation 2 1 write 5 60\n"
		"order 1 1 m share\norder 1 40 m give\norder 3 1 m share\norder 3 20 m give\norder 2 40 m take 10\norder 2 60 m give\n",
		{ "read", 1, 20 / 100.0 }, { "read", 0.25, 10 / 100.0 }, { "read3", 1, 0 });
}

/* A semaphore that another thread posts; a barrier at which 1 came last, at 50, and comes first without f. */
static void test_posts_and_rounds(void **state)
{
	(void)state;
	PREDICTIONS_ARE("vprof-tuples 1\n"
		"interval 1 req 2 0 2 80\n"
		"segment 1 - 0 40 running\nsegment 2 1 0 80 running\n"
		"invocation 1 - make 0 30\ninvocation 2 1 f 0 50\n"
		"order 1 30 s post\norder 2 50 s take\n",
		{ "f", 1, 20 / 80.0 }, { "f", 0.2, 10 / 80.0 }, { "make", 1, 0 });
	PREDICTIONS_ARE("vprof-tuples 1\n"
		"interval 1 req 1 0 1 80\n"
		"segment 1 1 0 80 running\n"
		"segment 2 - 0 30 running\nsegment 2 - 30 50 cond\nsegment 2 - 50 60 running\nwakeup 2 1 50\n"
		"invocation 1 1 f 0 50\ninvocation 2 - g 0 30\n"
		"order 1 50 b meet 50\norder 2 50 b meet 30\n",
		{ "f", 1, 20 / 80.0 }, { "f", 0.2, 10 / 80.0 }, { "g", 1, 0 });
}

/* Two hold it at a time: its notes say nothing, and the waits count as recorded. */
static void test_bad_notes(void **state)
{
	(void)state;
	PREDICTIONS_ARE("vprof-tuples 1\n"
		"interval 1 req 2 0 2 80\n"
		"segment 1 - 0 90 running\n"
		"segment 2 1 0 20 running\nsegment 2 1 20 50 lock\nsegment 2 1 50 80 running\nwakeup 2 1 50\n"
		"invocation 1 - hold 5 55\n"
		"order 1 10 m take\norder 2 50 m take 20\norder 1 60 m give\norder 2 70 m give\n",
		{ "hold", 0.2, 9 / 80.0 });
}

/* Without locks: work, devices, posts and waits for them. */
static void test_events(void **state)
{
	struct errors errors = compare_programs(false);

	(void)state;
	assert_true(errors.sum / errors.cnt < 0.005 && errors.worst < 0.221);
}

static void test_locks(void **state)
{
	struct errors errors = compare_programs(true);

	(void)state;
	assert_true(errors.sum / errors.cnt < 0.0215 && errors.worst < 0.274);
}

/* Whatever the text form allows is answered or refused; what a program with a queue and a lock did is mostly replayed as
 * it was. */
static void test_random_traces(void **state)
{
	static const char *const targets[] = {
		"f0", "body:f1", "io", "io@f0", "wait:f0", "wait:f1", "queue", "runqueue", "disk:sda", "lock:x", "pc:f0", "cpus:1",
		"cpus:3",
	};
	static const double speedups[] = { 0.25, 1 };
	unsigned programs = 0, exact = 0, answers = 0;
	double off = 0;

	(void)state;
	for (unsigned seed = 0; seed < 2 * PROGRAMS; seed++) {
		enum random_style style = seed % 2 ? RANDOM_PROGRAM : RANDOM_ANY;
		_cleanup_(trace_freep) struct trace *t = random_trace(seed, style);
		_cleanup_(experiments_freep) struct experiments *e = experiments_new();
		struct predictor *p;

		trace_sort(t);
		p = predictor_new(t, NULL);
		if (!p)
			continue;
		predictor_baseline(p, e);
		programs += style == RANDOM_PROGRAM;
		exact += style == RANDOM_PROGRAM && e->floor < 1e-9;
		off += style == RANDOM_PROGRAM ? e->floor : 0;
		for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
			size_t before = e->list.cnt;
			bool answered = predictor_ask(p, targets[i], speedups, 2, e);

			assert_true(answered || e->list.cnt == before);
			answers += answered;
		}
		for (size_t i = 0; i < e->list.cnt; i++)
			assert_true(isfinite(e->list.items[i].metrics[GAIN_MEAN].predicted));
		predictor_free(p);
	}
	print_message("random traces: %u answers; of %u programs %u are replayed as they were, all are off by %.2f %% on average\n", answers,
		      programs, exact, 100 * off / programs);
	assert_true(answers > PROGRAMS);
	assert_true(exact > programs * 4 / 5 && off / programs < 0.02);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wait), cmocka_unit_test(test_chain), cmocka_unit_test(test_queue), cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_stuck), cmocka_unit_test(test_engine), cmocka_unit_test(test_cpus), cmocka_unit_test(test_events),
		cmocka_unit_test(test_locks), cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_noted_locks), cmocka_unit_test(test_order), cmocka_unit_test(test_readers),
		cmocka_unit_test(test_names_of_one_thing), cmocka_unit_test(test_release_in_a_wait), cmocka_unit_test(test_unfair), cmocka_unit_test(test_choice), cmocka_unit_test(test_posts_and_rounds), cmocka_unit_test(test_bad_notes),
		cmocka_unit_test(test_random_traces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
