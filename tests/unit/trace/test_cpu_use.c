/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_cpu_use.c - which other processes used the CPUs, from /proc's texts to the report; and the run queue as one factor.
 */
#include <stdio.h>
#include <string.h>
#include "analysis/analyze.h"
#include "drainer/cpu_users.h"
#include "tests/unit/cmocka_all.h"
#include "trace/raw/cpu_use.h"

/* ---- processes ---- */

static struct cpu_process parse(const char *text)
{
	struct cpu_process p;

	assert_true(cpu_process_parse(text, &p));
	return p;
}

static void test_process(void **state)
{
	struct cpu_process p = parse("77 (a) R (b\n\033) S 5 77 77 0 -1 4 1 2 3 4 30 12 200 5 20 0 1 0 9000 1 2 3 4 5 6 7 8 9 10 11 12 13 0 0 17 3");

	(void)state;
	assert_int_equal(p.pid, 77);
	assert_int_equal(p.parent, 5);
	assert_int_equal(p.own, 42);
	assert_int_equal(p.reaped, 205);
	assert_int_equal(p.began, 9000);
	assert_int_equal(p.cpu, 3);
	assert_string_equal(p.comm, "a) R (b\n\033");
	p = parse("9 (kworker/u8:2-writeback) I 2 0 0 0 -1 4 0 0 0 0 0 7 0 0 20 0 1 0 3 0 0");
	assert_string_equal(p.comm, "kworker");
	assert_false(cpu_process_parse("", &p));
	assert_false(cpu_process_parse("77 no brackets S 5", &p));
	assert_false(cpu_process_parse("77 (short) S 5 77", &p));
}

static void add(cpu_processes *list, uint32_t pid, uint32_t parent, const char *comm, uint64_t own, uint64_t reaped)
{
	struct cpu_process *p = VEC_EXTEND(list);

	*p = (struct cpu_process){ .pid = pid, .parent = parent, .began = pid, .own = own, .reaped = reaped };
	snprintf(p->comm, sizeof(p->comm), "%s", comm);
}

static uint64_t ticks_of(const struct cpu_charges *c, const char *comm)
{
	for (size_t i = 0; i < c->users.cnt; i++)
		if (!strcmp(c->users.items[i].comm, comm))
			return c->users.items[i].ticks;
	return 0;
}

struct scans {
	cpu_processes before, now;
	struct cpu_charges charges;
};

static void compare(struct scans *s, uint64_t budget)
{
	cpu_scan_compare(&s->before, &s->now, 50, budget, &s->charges);
}

static void release(struct scans *s)
{
	VEC_RELEASE(&s->before);
	VEC_RELEASE(&s->now);
	cpu_charges_release(&s->charges);
}

/* make waited for cc1 (40 known, 42 in the end) and for one that nobody saw (13): 1 + 15; the server is recorded; 50 is vprof,
 * which waited for its command. */
static void test_compare(void **state)
{
	struct scans s = { 0 };

	(void)state;
	add(&s.before, 10, 1, "make", 5, 100);
	add(&s.before, 11, 10, "cc1", 40, 0);
	add(&s.before, 20, 1, "server", 10, 0);
	add(&s.before, 50, 1, "vprof", 3, 0);
	add(&s.now, 10, 1, "make", 6, 155);
	add(&s.now, 12, 10, "cc1", 2, 0);
	add(&s.now, 20, 1, "server", 90, 0);
	add(&s.now, 30, 1, "hog", 70, 0);
	add(&s.now, 50, 1, "vprof", 8, 20);
	add(&s.now, 60, 1, "pinned", 200, 10);
	s.now.items[5].is_elsewhere = true;
	s.now.items[2].is_recorded = true;
	compare(&s, 1000);
	assert_int_equal(ticks_of(&s.charges, "make"), 1);
	assert_int_equal(ticks_of(&s.charges, "cc1"), 2 + 15);
	assert_int_equal(ticks_of(&s.charges, "hog"), 70);
	assert_int_equal(s.charges.users.cnt, 3);
	assert_int_equal(s.charges.known, 1 + 2 + 80 + 70 + 5 + 15 + 20 + 210);
	release(&s);
}

/* The shell (parent of cc1) went as well: make waited for both.  40 + 8 were reported before. */
static void test_gone_in_turn(void **state)
{
	struct scans s = { 0 };

	(void)state;
	add(&s.before, 10, 1, "make", 5, 0);
	add(&s.before, 11, 10, "sh", 8, 0);
	add(&s.before, 12, 11, "cc1", 40, 0);
	add(&s.now, 10, 1, "make", 5, 51);
	compare(&s, 1000);
	assert_int_equal(ticks_of(&s.charges, "make"), 3);
	assert_int_equal(s.charges.known, 3);
	release(&s);
}

/* A number that was given again is another process; and no process gets more than the CPUs were busy. */
static void test_limits(void **state)
{
	struct scans s = { 0 };

	(void)state;
	add(&s.before, 10, 1, "old", 5000, 0);
	add(&s.now, 10, 1, "new", 7, 9000);
	s.now.items[0].began = 99;
	compare(&s, 10);
	assert_int_equal(ticks_of(&s.charges, "new"), 7 + 3);
	release(&s);
}

/* CPU time of a recorded process's children counts as theirs if they are not recorded. */
static void test_children(void **state)
{
	struct scans s = { 0 };

	(void)state;
	add(&s.before, 20, 1, "server", 10, 0);
	add(&s.before, 21, 1, "forker", 10, 0);
	add(&s.now, 20, 1, "server", 10, 30);
	add(&s.now, 21, 1, "forker", 10, 40);
	add(&s.now, 22, 20, "burn", 1, 0);
	add(&s.now, 23, 21, "worker", 1, 0);
	s.now.items[0].is_recorded = s.now.items[1].is_recorded = s.now.items[3].is_recorded = true;
	compare(&s, 1000);
	assert_int_equal(ticks_of(&s.charges, "burn"), 31);
	assert_int_equal(s.charges.users.cnt, 1);
	assert_int_equal(s.charges.known, 31 + 41);
	release(&s);
}

static void test_machine(void **state)
{
	char stat[] = "cpu  100 20 30 4000 5 6 7 8 0 0\ncpu0 1 2\ncpu1 1 2\nintr 5 6\nprocs_running 4\nprocs_blocked 0\n";
	char other[] = "intr 1\n";
	struct cpu_machine m;

	(void)state;
	assert_true(cpu_machine_parse(stat, &m));
	assert_int_equal(m.busy, 100 + 20 + 30 + 6 + 7);
	assert_int_equal(m.stolen, 8);
	assert_int_equal(m.cpu_cnt, 2);
	assert_int_equal(m.running, 3);
	assert_false(cpu_machine_parse(other, &m));
	assert_int_equal(cpu_throttled_parse("usage_usec 5\nnr_throttled 3\nthrottled_usec 250\n"), 250000);
	assert_int_equal(cpu_throttled_parse("nr_periods 9\nnr_throttled 3\nthrottled_time 777\n"), 777);
	assert_int_equal(cpu_throttled_parse("usage_usec 5\n"), 0);
}

/* ---- what is reported ---- */

static void encode_period(struct encoder *e, uint64_t ns, uint64_t runnable, uint64_t busy, uint64_t seen, uint64_t cnt)
{
	const uint64_t numbers[] = { ns, 2, 1, runnable, 1, ns / 2, 0, busy, seen, 0, cnt };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		encode_varint(e, numbers[i]);
}

static void encode_user(struct encoder *e, uint64_t ns, const char *comm)
{
	encode_varint(e, ns);
	encode_text(e, comm, strlen(comm));
}

static void decode(struct trace *t, struct map *index, struct encoder *e)
{
	struct decoder d = { e->data, e->data + e->len, false };

	cpu_use_decode(&t->cpu_use, index, t->arena, &d);
	assert_false(d.bad);
	e->len = 0;
}

static void add_interval(struct trace *t, uint64_t sid, int64_t start_ns, int64_t end_ns)
{
	VEC_ADD(&t->intervals, (struct interval){ .sid = sid, .status = INTERVAL_COMPLETED, .start_tid = 1, .end_tid = 1,
						  .start_ns = start_ns, .end_ns = end_ns });
}

/* 1 s, then 3 s: 6.5 s of 8 were busy, 6.1 of them are seen.  Five and more are the others. */
static void test_found(void **state)
{
	static const char *const names[] = { "b", "c", "d", "e", "f", "\033[2J" };
	unsigned char data[512];
	struct encoder e = { data, 0, sizeof(data), false };
	_cleanup_(trace_freep) struct trace *t = trace_new();
	_cleanup_(map_freep) struct map *index = map_new();
	_cleanup_(findings_freep) struct findings *f = NULL;
	const struct analyze_options o = { 0 };

	(void)state;
	encode_period(&e, 1000000000, 8000, 2000000000, 2000000000, 2);
	encode_user(&e, 1000000000, "a");
	encode_user(&e, 40000000, "");
	decode(t, index, &e);
	encode_period(&e, 3000000000, 4000, 4500000000, 4100000000, 7);
	encode_user(&e, 1000000000, "a");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		encode_user(&e, 600000000 - i * 100000000, names[i]);
	decode(t, index, &e);
	t->off_cpu.run_ns = 3000;
	t->off_cpu.delay_ns = 1000;
	trace_add_string(t, &t->interval_names, "r");
	add_interval(t, 1, 0, 10);
	VEC_ADD(&t->segments, (struct segment){ 1, 1, 0, 10, STATE_RUNNING, 0 });
	assert_int_equal(analyze(t, &o, &f), 0);
	assert_true(f->cpu.is_known && f->cpu.has_share);
	assert_float_equal(f->cpu.runqueue_share, 0.25, 1e-12);
	assert_float_equal(f->cpu.runnable, (8 + 3 * 4) / 4.0, 1e-12);
	assert_float_equal(f->cpu.stalled, 0.5, 1e-12);
	assert_int_equal(f->cpu.cpu_cnt, 2);
	assert_int_equal(f->cpu.allowed_cnt, 1);
	assert_int_equal(f->cpu.others.cnt, 5);
	assert_string_equal(f->cpu.others.items[0].comm, "a");
	assert_float_equal(f->cpu.others.items[0].cpus, 0.5, 1e-12);
	assert_string_equal(f->cpu.others.items[3].comm, "d");
	assert_float_equal(f->cpu.others.items[3].cpus, 0.1, 1e-12);
	/* e, f and the one with a hostile name .3 + .2 + .1 s; without a name .04 s; not seen .4 s */
	assert_string_equal(f->cpu.others.items[4].comm, CPU_OTHERS);
	assert_float_equal(f->cpu.others.items[4].cpus, (0.3 + 0.2 + 0.1 + 0.04 + 0.4) / 4, 1e-9);
}

/* A mean goes with the time that it is of: where that stays at the largest number, nothing is added to it either. */
static void test_endless(void **state)
{
	unsigned char data[256];
	struct encoder e = { data, 0, sizeof(data), false };
	_cleanup_(trace_freep) struct trace *t = trace_new();
	_cleanup_(map_freep) struct map *index = map_new();

	(void)state;
	for (int i = 0; i < 6; i++) {
		encode_period(&e, UINT64_MAX / 2 - 5, 3000, 0, 0, 0);
		decode(t, index, &e);
	}
	assert_float_equal(t->cpu_use.runnable_ns / (double)t->cpu_use.ns, 3, 1e-6);
	struct cpu_use same = t->cpu_use;

	cpu_use_add(&t->cpu_use, &same, t->arena);
	assert_float_equal(t->cpu_use.runnable_ns / (double)t->cpu_use.ns, 3, 1e-6);
}

static void test_hostile(void **state)
{
	unsigned char data[256];
	struct encoder e = { data, 0, sizeof(data), false };
	_cleanup_(trace_freep) struct trace *t = trace_new();
	_cleanup_(map_freep) struct map *index = map_new();
	_cleanup_(findings_freep) struct findings *f = NULL;
	const struct analyze_options o = { 0 };
	struct decoder d;

	(void)state;
	encode_period(&e, UINT64_MAX, 4000, UINT64_MAX, 0, UINT64_MAX);
	encode_user(&e, UINT64_MAX, "\033[2J\n");
	d = (struct decoder){ data, data + e.len, false };
	cpu_use_decode(&t->cpu_use, index, t->arena, &d);
	assert_true(d.bad);		/* not so many users */
	assert_int_equal(analyze(t, &o, &f), 0);
	for (size_t i = 0; i < f->cpu.others.cnt; i++)
		assert_null(strpbrk(f->cpu.others.items[i].comm, "\033\n"));
	assert_true(f->cpu.others.cnt > 0);
}

/* ---- the run queue as one factor ---- */

static void segment(struct trace *t, uint64_t tid, uint64_t sid, int64_t *at, int64_t ns, enum trace_state state)
{
	if (ns)
		VEC_ADD(&t->segments, (struct segment){ tid, sid, *at, *at + ns, state, 0 });
	*at += ns;
}

/* f and g run 10 each, and wait f_ns and g_ns for a CPU. */
static int64_t two_calls(struct trace *t, uint64_t sid, int64_t at, int64_t f_ns, int64_t g_ns)
{
	int64_t start = at, middle;

	segment(t, 1, sid, &at, 5, STATE_RUNNING);
	segment(t, 1, sid, &at, f_ns, STATE_RUNNABLE);
	segment(t, 1, sid, &at, 5, STATE_RUNNING);
	middle = at;
	segment(t, 1, sid, &at, 5, STATE_RUNNING);
	segment(t, 1, sid, &at, g_ns, STATE_RUNNABLE);
	segment(t, 1, sid, &at, 5, STATE_RUNNING);
	add_interval(t, sid, start, at);
	VEC_ADD(&t->invocations, (struct invocation){ 1, sid, 0, CALL_SITE_NONE, start, middle, 0 });
	VEC_ADD(&t->invocations, (struct invocation){ 1, sid, 1, CALL_SITE_NONE, middle, at, 1 });
	return at + 10;
}

static const struct factor *wait_of(const struct findings *f, enum trace_state wait, const char *function)
{
	for (size_t i = 0; i < f->factors.cnt; i++) {
		const struct factor *x = &f->factors.items[i];

		if (x->kind == FACTOR_WAIT && x->wait == wait &&
		    (function ? x->function && !strcmp(x->function, function) : !x->function))
			return x;
	}
	return NULL;
}

static struct trace *four_intervals(void)
{
	static const int64_t waits[][2] = { { 4, 0 }, { 0, 4 }, { 0, 0 }, { 8, 8 } };
	struct trace *t = trace_new();
	int64_t at = 0;

	trace_add_string(t, &t->interval_names, "r");
	VEC_ADD(&t->functions, (struct function){ .name = "f", .probed = true });
	VEC_ADD(&t->functions, (struct function){ .name = "g", .probed = true });
	for (size_t i = 0; i < 4; i++)
		at = two_calls(t, i + 1, at, waits[i][0], waits[i][1]);
	return t;
}

/* T 24, 24, 20, 36: Var 36.  f 4, 0, 0, 8: Cov 18; g the same; both 4, 4, 0, 16: Cov 36, Var 36. */
static void test_one_factor(void **state)
{
	_cleanup_(trace_freep) struct trace *t = four_intervals(), *imported = four_intervals();
	_cleanup_(findings_freep) struct findings *f = NULL, *g = NULL;
	const struct analyze_options o = { 0 };
	const struct factor *x;
	size_t parts = 0;

	(void)state;
	t->cpu_use.kernel_knows = true;
	assert_int_equal(analyze(t, &o, &f), 0);
	x = wait_of(f, STATE_RUNNABLE, NULL);
	assert_non_null(x);
	assert_true(factor_is_runqueue(x));
	assert_float_equal(x->share, 1, 1e-12);
	assert_float_equal(x->variance_share, 1, 1e-12);
	assert_float_equal(x->mean_ns, 6, 1e-12);
	assert_float_equal(x->presence, 0.75, 1e-12);
	assert_int_equal(x->because_of.cnt, 0);
	assert_null(wait_of(f, STATE_RUNNABLE, "f"));
	for (size_t i = 0; i < f->parts.cnt; i++)
		parts += f->parts.items[i].is_wait;
	assert_int_equal(parts, 1);

	assert_int_equal(analyze(imported, &o, &g), 0);
	assert_null(wait_of(g, STATE_RUNNABLE, NULL));
	assert_float_equal(wait_of(g, STATE_RUNNABLE, "f")->share, 0.5, 1e-12);
	assert_float_equal(wait_of(g, STATE_RUNNABLE, "g")->share, 0.5, 1e-12);
}

static const char *warning_of(const struct findings *f, const char *code)
{
	for (size_t i = 0; i < f->warnings.cnt; i++)
		if (!strcmp(f->warnings.items[i].code, code))
			return f->warnings.items[i].text;
	return "";
}

/* 8 times f 10 and 40 off the CPU; a seventh of what was off has no place, or none of it. */
static void test_off_without_a_place(void **state)
{
	static const uint64_t unplaced_ns[] = { 50000000, 0 };
	const struct analyze_options o = { 0 };

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		_cleanup_(trace_freep) struct trace *t = trace_new();
		_cleanup_(findings_freep) struct findings *f = NULL;
		int64_t at = 0;

		trace_add_string(t, &t->interval_names, "r");
		for (uint64_t i = 1; i <= 8; i++) {
			int64_t start = at;

			segment(t, 1, i, &at, 10, STATE_RUNNING);
			segment(t, 1, i, &at, 40 + (int64_t)i, STATE_OTHER);
			add_interval(t, i, start, at);
		}
		t->off_cpu.placed_ns = 300000000;
		t->off_cpu.unplaced_ns = unplaced_ns[k];
		assert_int_equal(analyze(t, &o, &f), 0);
		assert_non_null(strstr(warning_of(f, "off-cpu-unknown"), "threads were off the CPU, unknown why"));
		assert_int_equal(strstr(warning_of(f, "off-cpu-unknown"), "0.05 s more are in one of several") != NULL, k == 0);
	}
}

static const struct factor *function_of(const struct findings *f, const char *function)
{
	for (size_t i = 0; i < f->factors.cnt; i++)
		if (f->factors.items[i].kind == FACTOR_FUNCTION && !strcmp(f->factors.items[i].function, function))
			return &f->factors.items[i];
	return NULL;
}

static struct trace *two_functions(void)
{
	struct trace *t = trace_new();

	trace_add_string(t, &t->interval_names, "r");
	VEC_ADD(&t->functions, (struct function){ .name = "f", .probed = true });
	VEC_ADD(&t->functions, (struct function){ .name = "g", .probed = true });
	t->cpu_use.kernel_knows = true;
	return t;
}

/* The one long wait for a CPU was in f, by chance: not f is named, but the run queue.  g's own time is g's. */
static void test_chance_is_not_named(void **state)
{
	_cleanup_(trace_freep) struct trace *hit = two_functions(), *varies = two_functions();
	_cleanup_(findings_freep) struct findings *f = NULL, *g = NULL;
	const struct analyze_options o = { 0 };
	int64_t at = 0;

	(void)state;
	for (uint64_t i = 1; i <= 8; i++)
		at = two_calls(hit, i, at, i == 5 ? 1000 : 0, i == 3 ? 10 : 0);
	assert_int_equal(analyze(hit, &o, &f), 0);
	assert_true(function_of(f, "f")->share > 0.99);
	assert_true(factor_is_runqueue(factor_to_name(f, function_of(f, "f"), 0.05)));

	/* f waits 1,000 for a CPU where g runs 1,000 longer: half of the variance each. */
	at = 0;
	for (uint64_t i = 1; i <= 8; i++) {
		int64_t start = at, long_ns = i % 4 ? 0 : 1000;

		segment(varies, 1, i, &at, 5, STATE_RUNNING);
		segment(varies, 1, i, &at, long_ns, STATE_RUNNABLE);
		segment(varies, 1, i, &at, 15 + long_ns, STATE_RUNNING);
		add_interval(varies, i, start, at);
		VEC_ADD(&varies->invocations, (struct invocation){ 1, i, 0, CALL_SITE_NONE, start, start + 10 + long_ns, 0 });
		VEC_ADD(&varies->invocations, (struct invocation){ 1, i, 1, CALL_SITE_NONE, start + 10 + long_ns, at, 1 });
		at += 10;
	}
	assert_int_equal(analyze(varies, &o, &g), 0);
	assert_float_equal(function_of(g, "g")->share, 0.5, 1e-12);
	assert_ptr_equal(factor_to_name(g, function_of(g, "g"), 0.05), function_of(g, "g"));
	assert_true(factor_is_runqueue(factor_to_name(g, function_of(g, "f"), 0.05)));
}

/* Every fourth interval f waits queue longer for a CPU and computes f_own longer, g computes g_own longer: their shares are what each is
 * of the sum.  Whether the run queue is named for f. */
static bool is_queue_named(int64_t queue, int64_t f_own, int64_t g_own)
{
	_cleanup_(trace_freep) struct trace *t = two_functions();
	_cleanup_(findings_freep) struct findings *f = NULL;
	const struct analyze_options o = { 0 };
	int64_t at = 0, sum = queue + f_own + g_own;

	for (uint64_t i = 1; i <= 8; i++) {
		int64_t start = at, many = i % 4 ? 0 : 1, end = start + 10 + many * (queue + f_own);

		segment(t, 1, i, &at, 5, STATE_RUNNING);
		segment(t, 1, i, &at, many * queue, STATE_RUNNABLE);
		segment(t, 1, i, &at, 15 + many * (f_own + g_own), STATE_RUNNING);
		add_interval(t, i, start, at);
		VEC_ADD(&t->invocations, (struct invocation){ 1, i, 0, CALL_SITE_NONE, start, end, 0 });
		VEC_ADD(&t->invocations, (struct invocation){ 1, i, 1, CALL_SITE_NONE, end, at, 1 });
		at += 10;
	}
	assert_int_equal(analyze(t, &o, &f), 0);
	assert_float_equal(function_of(f, "f")->share, (double)(queue + f_own) / (double)sum, 1e-9);
	return factor_is_runqueue(factor_to_name(f, function_of(f, "f"), 0.05));
}

/* The run queue has 71, 63, 71 and 71 % of f's share, f's body the rest; the largest other part has 40, 60, 60 and 44 % of the queue's. */
static void test_most_is_chance(void **state)
{
	(void)state;
	assert_true(is_queue_named(1000, 400, 0));
	assert_false(is_queue_named(1000, 600, 0));
	assert_false(is_queue_named(1000, 400, 600));
	assert_true(is_queue_named(1000, 400, 440));
}

/* f waits 20 for a lock; its holder had no CPU for 15 of them.  T 40, 20: Var 100; the lock's 20, 0: Cov 100; the run
 * queue's 15, 0: Cov 75. */
static void test_of_a_holder(void **state)
{
	_cleanup_(trace_freep) struct trace *t = trace_new();
	_cleanup_(findings_freep) struct findings *f = NULL;
	const struct analyze_options o = { 0 };

	(void)state;
	t->cpu_use.kernel_knows = true;
	trace_add_string(t, &t->interval_names, "r");
	VEC_ADD(&t->functions, (struct function){ .name = "f", .probed = true });
	add_interval(t, 1, 0, 40);
	add_interval(t, 2, 100, 120);
	VEC_ADD(&t->invocations, (struct invocation){ 1, 1, 0, CALL_SITE_NONE, 0, 40, 0 });
	VEC_ADD(&t->invocations, (struct invocation){ 1, 2, 0, CALL_SITE_NONE, 100, 120, 1 });
	VEC_ADD(&t->segments, (struct segment){ 1, 1, 0, 10, STATE_RUNNING, 0 });
	VEC_ADD(&t->segments, (struct segment){ 1, 1, 10, 30, STATE_LOCK, 0 });
	VEC_ADD(&t->segments, (struct segment){ 1, 1, 30, 40, STATE_RUNNING, 0 });
	VEC_ADD(&t->segments, (struct segment){ 1, 2, 100, 120, STATE_RUNNING, 0 });
	VEC_ADD(&t->segments, (struct segment){ 2, SID_NONE, 0, 10, STATE_RUNNING, 0 });
	VEC_ADD(&t->segments, (struct segment){ 2, SID_NONE, 10, 25, STATE_RUNNABLE, 0 });
	VEC_ADD(&t->segments, (struct segment){ 2, SID_NONE, 25, 50, STATE_RUNNING, 0 });
	VEC_ADD(&t->wakeups, (struct wakeup){ 1, 2, 30 });
	assert_int_equal(analyze(t, &o, &f), 0);
	assert_float_equal(wait_of(f, STATE_LOCK, "f")->share, 1, 1e-12);
	assert_non_null(wait_of(f, STATE_RUNNABLE, NULL));
	assert_float_equal(wait_of(f, STATE_RUNNABLE, NULL)->share, 0.75, 1e-12);
	assert_float_equal(wait_of(f, STATE_RUNNABLE, NULL)->mean_ns, 7.5, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_gone_in_turn),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_children),
		cmocka_unit_test(test_machine),
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_endless),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_one_factor),
		cmocka_unit_test(test_chance_is_not_named),
		cmocka_unit_test(test_most_is_chance),
		cmocka_unit_test(test_off_without_a_place),
		cmocka_unit_test(test_of_a_holder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
