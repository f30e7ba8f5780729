/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_refine_unknown.c - time that no recorded function has, and factors that say the same time twice.
 */
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "tests/unit/analysis/refine/refine_world.h"
#include "base/banned.h"

/* A node without a function: where the interval goes on, or what a thread did that is waited for. */
static uint32_t nobody(struct findings *f, enum node_kind kind, uint32_t parent, double share)
{
	VEC_ADD(&f->nodes, (struct node){ .id = (uint32_t)f->nodes.cnt, .parent = parent, .kind = kind,
					  .share = share });
	return (uint32_t)f->nodes.cnt - 1;
}

/* "f", or of a wait "f!", in the order of the verdicts. */
static const char *verdicts(const struct world *w, const struct findings *f)
{
	static char text[64];
	size_t at = 0;

	for (size_t i = 0; i < w->r->verdicts.cnt; i++) {
		const struct factor *x = &f->factors.items[w->r->verdicts.items[i].factor];

		text[at++] = x->function[0];
		if (x->kind == FACTOR_WAIT)
			text[at++] = '!';
		if (x->kind == FACTOR_BODY)
			text[at++] = '+';
	}
	text[at] = '\0';
	return text;
}

/* take() is where intervals go on; loop calls it and work, and start calls loop and never_mind. */
static void test_callers_of_roots(void **state)
{
	static const char *const names[] = { "take", "loop", "work", "deep", "start", "never_mind", NULL };
	static const char *const calls[] = { "lt", "lw", "wd", "sl", "sn", NULL };
	struct world w;
	struct findings *f;

	(void)state;
	world_make(&w, names, calls);
	world_start(&w, REFINE_BUDGET, 3);
	assert_string_equal(world_recorded(&w), "t");
	f = found_new(100, 100000);
	found_function(f, &w, 't', 0, 0.04, 1);
	nobody(f, NODE_BODY, 0, 0.04);		/* below the threshold: it is of no account */
	found_factor(f, &w, 't', 0.04);
	assert_int_equal(world_step(&w, f), REFINE_NOTHING);
	refinement_free(w.r);

	world_start(&w, REFINE_BUDGET, 3);
	f = found_new(100, 100000);
	found_function(f, &w, 't', 0, 0.1, 1);
	nobody(f, NODE_BODY, 0, 0.9);
	found_factor(f, &w, 't', 0.1);
	assert_int_equal(world_step(&w, f), REFINE_GOES_ON);
	assert_string_equal(world_recorded(&w), "twd");

	f = found_new(100, 100000);		/* it was neither: one level up, all that start calls */
	found_function(f, &w, 't', 0, 0.1, 1);
	nobody(f, NODE_BODY, 0, 0.9);
	found_factor(f, &w, 't', 0.1);
	assert_int_equal(world_step(&w, f), REFINE_GOES_ON);
	assert_non_null(strchr(world_recorded(&w), 'n'));
	refinement_free(w.r);
}

/* gather waits for a thread of which nothing was recorded: resize is what threads begin with. */
static void test_starts_of_threads(void **state)
{
	static const char *const names[] = { "gather", "resize", "scale", "other", NULL };
	static const char *const calls[] = { "rs", NULL };
	struct world w;

	(void)state;
	world_make(&w, names, calls);
	w.functions[1].start = true;
	for (int known = 0; known < 2; known++) {
		struct findings *f = found_new(100, 100000);
		uint32_t g, wait;

		world_start(&w, REFINE_BUDGET, 3);
		g = found_function(f, &w, 'g', 0, 1, 1);
		wait = found_node(f, &w, NODE_WAIT, 'g', g, 0.9, 0);
		f->nodes.items[wait].is_wait = true;
		f->nodes.items[wait].wait = STATE_JOIN;
		if (known)
			found_node(f, &w, NODE_BLAME, 'o', wait, 0.9, 0);
		else
			nobody(f, NODE_BLAME, wait, 0.9);
		found_factor(f, &w, 'g', 1);
		assert_int_equal(world_step(&w, f), known ? REFINE_CLOSED : REFINE_GOES_ON);
		assert_string_equal(world_recorded(&w), known ? "g" : "gRS");
		refinement_free(w.r);
	}
}

/* h only hands on: of its share 1, copy has .62 and mix .34.  With .3 each in copy and mix, and .4 in calls of 4 %, it is
 * the place to name. */
static void test_handing_on(void **state)
{
	static const char *const names[] = { "handle", "copy", "mix", "a", "b", NULL };
	static const char *const calls[] = { "hc", "hm", "ha", "hb", NULL };
	struct world w;

	(void)state;
	world_make(&w, names, calls);
	for (int many = 0; many < 2; many++) {
		struct findings *f = found_new(100, 100000);
		uint32_t h;

		world_start(&w, REFINE_BUDGET, 3);
		h = found_function(f, &w, 'h', 0, 1, 1);
		found_function(f, &w, 'c', h, many ? .46 : .62, 1);
		found_function(f, &w, 'm', h, many ? .46 : .34, 1);
		found_function(f, &w, 'a', h, many ? .04 : .02, 1);
		found_function(f, &w, 'b', h, many ? .04 : .02, 1);
		found_factor(f, &w, 'h', 1)->height = 1;
		found_factor(f, &w, 'c', many ? .46 : .62);
		found_factor(f, &w, 'm', many ? .46 : .34);
		refinement_look(w.r, f);
		assert_string_equal(verdicts(&w, f), many ? "hcm" : "cm");
		findings_free(f);
		refinement_free(w.r);
	}
}

/* append calls nothing and waits for a lock: the wait is named, once.  A body and a wait of one function are two. */
static void test_waits_are_named(void **state)
{
	static const char *const names[] = { "handle", "append", "update", NULL };
	static const char *const calls[] = { "ha", "hu", NULL };
	struct findings *f = found_new(100, 100000);
	struct factor *wait;
	struct world w;
	uint32_t h, u;

	(void)state;
	world_make(&w, names, calls);
	world_start(&w, REFINE_BUDGET, 4);
	h = found_function(f, &w, 'h', 0, 1, 1);
	found_function(f, &w, 'a', h, .5, 1);
	u = found_function(f, &w, 'u', h, .5, 1);
	found_node(f, &w, NODE_BODY, 'u', u, .3, 0);
	found_factor(f, &w, 'a', .5);
	wait = found_factor(f, &w, 'a', .45);
	wait->kind = FACTOR_WAIT;
	wait->is_wait = true;
	wait->wait = STATE_LOCK;
	found_factor(f, &w, 'u', .3)->kind = FACTOR_BODY;
	wait = found_factor(f, &w, 'u', .2);
	wait->kind = FACTOR_WAIT;
	wait->is_wait = true;
	wait->wait = STATE_IO;
	refinement_look(w.r, f);
	assert_string_equal(verdicts(&w, f), "a!u+u!");
	findings_free(f);
	refinement_free(w.r);
}

/* take is blamed for a queue wait because it was idle meanwhile: its probes, as long as itself, made nothing longer. */
static void test_idle_costs_nothing(void **state)
{
	static const char *const names[] = { "take", "work", NULL };
	static const char *const calls[] = { "tw", NULL };
	struct world w;

	(void)state;
	world_make(&w, names, calls);
	for (int idle = 0; idle < 2; idle++) {
		struct findings *f = found_new(100, 100000);
		uint32_t queue, at;

		world_start(&w, REFINE_BUDGET, 3);
		assert_string_equal(world_recorded(&w), "tw");
		queue = nobody(f, NODE_WAIT, 0, 0.8);
		f->nodes.items[queue].is_wait = true;
		f->nodes.items[queue].wait = STATE_QUEUE;
		at = found_node(f, &w, NODE_BLAME, 't', queue, 0.8, 0);
		f->nodes.items[at].is_wait = idle;
		f->nodes.items[at].wait = STATE_COND;
		at = found_function(f, &w, 't', 0, 0.01, 2);
		f->nodes.items[at].mean_ns = 20;
		found_function(f, &w, 'w', 0, 0.19, 1);
		found_factor(f, &w, 'w', 0.19);
		refinement_step(w.r, f);
		assert_int_equal(w.r->stop, idle ? REFINE_CLOSED : REFINE_GOES_ON);
		findings_free(f);
		refinement_free(w.r);
	}
}

/* In the queue; its thread is in no recorded function, or, if name is given, waits in that one. */
static struct findings *found_queue(const struct world *w, char name)
{
	struct findings *f = found_new(100, 100000);
	uint32_t queue = nobody(f, NODE_WAIT, 0, 0.9), at;
	struct factor *x;

	f->nodes.items[queue].is_wait = true;
	f->nodes.items[queue].wait = STATE_QUEUE;
	f->nodes.items[queue].put_aside = f->nodes.items[queue].taken_up = "take";
	if (name) {
		at = found_node(f, w, NODE_BLAME, name, queue, 0.9, 0);
		f->nodes.items[at].is_wait = true;
		f->nodes.items[at].wait = STATE_IO;
	}
	found_function(f, w, 't', found_function(f, w, 'b', 0, 0.1, 1), 0.1, 1);
	x = found_factor(f, w, 't', 0.9);
	x->kind = FACTOR_WAIT;
	x->function = x->file = NULL;
	x->is_wait = true;
	x->wait = STATE_QUEUE;
	return f;
}

static enum refine_stop queue_step(struct world *w, char name, enum refine_verdict_kind kind)
{
	struct findings *f = found_queue(w, name);
	enum refine_stop stop = refinement_step(w->r, f);

	assert_int_equal(w->r->verdicts.cnt, 1);
	assert_int_equal(w->r->verdicts.items[0].kind, kind);
	findings_free(f);
	return stop;
}

/*
 * The interval begins in begin, which calls take, and so does loop, between two reads from the client: what is around take is recorded
 * always, not what is around begin, nor is what was recorded inside intervals (take and do_it).  Either that shows which function waits,
 * or one level up, in start or other, it is sought once more.  By the paper's policy that is the end.
 */
static void test_queue_of_nobody(void **state)
{
	static const char *const names[] = { "begin", "take", "do_it", "loop", "read", "start", "other", NULL };
	static const char *const calls[] = { "bt", "td", "lt", "lr", "sl", "ob", NULL };
	struct world w;

	(void)state;
	world_make(&w, names, calls);
	for (int known = 0; known < 2; known++) {
		world_start(&w, REFINE_BUDGET, 3);
		assert_string_equal(world_recorded(&w), "btd");
		assert_int_equal(queue_step(&w, '\0', REFINE_VERDICT_DEEPER), REFINE_GOES_ON);
		assert_string_equal(world_recorded(&w), "btdLR");
		if (known) {
			assert_int_equal(queue_step(&w, 'r', REFINE_VERDICT_END), REFINE_CLOSED);
		} else {
			assert_int_equal(queue_step(&w, '\0', REFINE_VERDICT_DEEPER), REFINE_GOES_ON);
			assert_string_equal(world_recorded(&w), "btdLRSO");
			assert_int_equal(queue_step(&w, '\0', REFINE_VERDICT_END), REFINE_CLOSED);
		}
		refinement_free(w.r);
	}
	world_start(&w, REFINE_PAPER, 3);
	w.r->levels[world_index(&w, 't')] = w.r->levels[world_index(&w, 'd')] = REFINE_IN_INTERVALS;
	assert_int_equal(queue_step(&w, '\0', REFINE_VERDICT_END), REFINE_CLOSED);
	refinement_free(w.r);
}

static void found_waiter(struct findings *f, const struct world *w, char inside, char name, double share)
{
	const struct refine_function *around = &w->functions[world_index(w, inside)];
	bool known = name >= 'a';

	VEC_ADD(&f->waiters, (struct waiter){ .inside = around->name, .inside_file = "a.c", .inside_line = around->line,
		.wait = STATE_LOCK, .function = known ? w->functions[world_index(w, name)].name : "foreign",
		.key = known ? w->functions[world_index(w, name)].key : 0, .module = known ? "server" : "libx.so",
		.is_built = known, .share = share });
}

/* handle waits, and has no calls; the lock is asked for in slow, which has no known caller. */
static struct findings *found_wait(const struct world *w, double share)
{
	struct findings *f = found_new(100, 100000);
	struct factor *x;

	found_function(f, w, 'h', 0, 1, 1);
	found_node(f, w, NODE_WAIT, 'h', 1, share, 0);
	f->nodes.items[2].is_wait = true;
	f->nodes.items[2].wait = STATE_LOCK;
	x = found_factor(f, w, 'h', share);
	x->kind = FACTOR_WAIT;
	x->is_wait = true;
	x->wait = STATE_LOCK;
	return f;
}

static void test_waiters(void **state)
{
	static const char *const names[] = { "handle", "slow", "other", NULL };
	static const char *const calls[] = { NULL };
	struct world w;
	struct findings *f;

	(void)state;
	for (int policy = 0; policy < 2; policy++) {
		world_make(&w, names, calls);
		world_start(&w, policy ? REFINE_PAPER : REFINE_BUDGET, 3);
		f = found_wait(&w, .9);
		found_waiter(f, &w, 'h', 's', .03);	/* two ways to it are one function's */
		found_waiter(f, &w, 'h', 's', .03);
		found_waiter(f, &w, 'h', 'o', .04);	/* of no account */
		assert_int_equal(refinement_step(w.r, f), REFINE_GOES_ON);
		assert_string_equal(world_recorded(&w), "hs");
		assert_int_equal(w.r->verdicts.items[0].kind, REFINE_VERDICT_DEEPER);
		assert_string_equal(w.r->verdicts.items[0].waiter->name, "slow");
		assert_int_equal(w.r->left.cnt, 0);
		findings_free(f);
		refinement_free(w.r);
	}
}

/* The paper's policy goes one level a run, as long as calls lead on. */
static void test_waiters_by_paper(void **state)
{
	static const char *const names[] = { "handle", "slow", "other", NULL };
	static const char *const calls[] = { "ho", NULL };
	struct world w;
	struct findings *f;

	(void)state;
	world_make(&w, names, calls);
	world_start(&w, REFINE_PAPER, 3);
	f = found_wait(&w, .9);
	found_waiter(f, &w, 'h', 's', .8);
	assert_int_equal(world_step(&w, f), REFINE_GOES_ON);
	assert_string_equal(world_recorded(&w), "ho");
	f = found_wait(&w, .9);
	found_waiter(f, &w, 'h', 's', .8);
	assert_int_equal(world_step(&w, f), REFINE_GOES_ON);
	assert_string_equal(world_recorded(&w), "hso");
	refinement_free(w.r);
}

static enum refine_left_why left_of(struct world *w, char name)
{
	struct findings *f = found_wait(w, .9);
	enum refine_left_why why;

	found_waiter(f, w, 'h', name, .8);
	assert_int_equal(refinement_step(w->r, f), REFINE_CLOSED);
	assert_int_equal(w->r->left.cnt, 1);
	assert_true(w->r->left.items[0].share > .79);
	why = w->r->left.items[0].why;
	findings_free(f);
	refinement_free(w->r);
	return why;
}

/* A function that cannot be recorded is reported, and is no reason for another run. */
static void test_left(void **state)
{
	static const char *const names[] = { "handle", "slow", NULL };
	static const char *const calls[] = { "hs", NULL };
	struct world w;
	struct findings *f;

	(void)state;
	world_make(&w, names, calls + 1);
	world_start(&w, REFINE_BUDGET, 3);
	assert_int_equal(left_of(&w, 'X'), REFINE_LEFT_FOREIGN);
	w.functions[1].skipped = "naked";
	world_start(&w, REFINE_BUDGET, 3);
	assert_int_equal(left_of(&w, 's'), REFINE_LEFT_SKIPPED);
	w.functions[1].skipped = NULL;
	w.functions[1].left_out = true;
	world_start(&w, REFINE_BUDGET, 3);
	assert_int_equal(left_of(&w, 's'), REFINE_LEFT_OUT);
	w.functions[1].left_out = false;
	w.functions[1].always = true;		/* it was recorded, and is not to be seen */
	world_start(&w, REFINE_BUDGET, 3);
	assert_int_equal(left_of(&w, 's'), REFINE_LEFT_UNRECORDED);

	/* A function's own time may be that of what it calls and cannot be probed. */
	world_make(&w, names, calls);
	w.functions[1].skipped = "naked";
	world_start(&w, REFINE_BUDGET, 3);
	f = found_new(100, 100000);
	found_function(f, &w, 'h', 0, .9, 1);
	found_factor(f, &w, 'h', .9);
	assert_int_equal(refinement_step(w.r, f), REFINE_CLOSED);
	assert_int_equal(w.r->left.cnt, 1);
	assert_int_equal(w.r->left.items[0].waiter, UINT32_MAX);
	assert_string_equal(w.r->left.items[0].function->name, "slow");
	findings_free(f);
	refinement_free(w.r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_callers_of_roots),
		cmocka_unit_test(test_starts_of_threads),
		cmocka_unit_test(test_handing_on),
		cmocka_unit_test(test_waits_are_named),
		cmocka_unit_test(test_idle_costs_nothing),
		cmocka_unit_test(test_queue_of_nobody),
		cmocka_unit_test(test_waiters),
		cmocka_unit_test(test_waiters_by_paper),
		cmocka_unit_test(test_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
