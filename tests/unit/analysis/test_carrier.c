/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_carrier.c - which functions carry what is below them (analysis/causes/carrier.h): by hand, and random stacks by definition. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/causes/carrier.h"
#include "tests/unit/cmocka_all.h"

enum { LEAVES = 40 };

static struct findings *f;
static struct carried leaves[LEAVES];
static size_t leaf_cnt;
static uint32_t wait_node;
static const struct carrier_blocks *given_blocks;

static uint32_t node(uint32_t parent, enum node_kind kind, const char *function)
{
	uint32_t id = (uint32_t)f->nodes.cnt;

	VEC_ADD(&f->nodes, (struct node){ .id = id, .parent = parent, .kind = kind, .function = function });
	return id;
}

static void begin(void)
{
	f = findings_new();
	leaf_cnt = 0;
	node(NODE_NONE, NODE_INTERVAL, NULL);
	wait_node = node(0, NODE_WAIT, NULL);
}

static void leaf_in(uint32_t doer, double share, double mean_ns, enum trace_state state)
{
	leaves[leaf_cnt++] = (struct carried){ .doer = doer, .state = state, .share = share, .mean_ns = mean_ns };
}

/* "main keys next": blames below the wait, each below the one before, and a leaf; "+read" is of a system library, in
 * "*serve" threads wait for requests. */
static void path_in(const char *path, double share, double mean_ns, enum trace_state state)
{
	char *copy = arena_strdup(f->arena, path), *at = NULL;
	uint32_t below = wait_node;

	for (char *name = strtok_r(copy, " ", &at); name; name = strtok_r(NULL, " ", &at)) {
		below = node(below, NODE_BLAME, name + (*name == '+' || *name == '*'));
		f->nodes.items[below].is_system = *name == '+';
		f->nodes.items[below].is_loop = *name == '*';
	}
	leaf_in(below, share, mean_ns, state);
}

static void path(const char *names, double share, double mean_ns)
{
	path_in(names, share, mean_ns, STATE_RUNNING);
}

/* The carriers of the leaves, in order. */
static void assert_carriers(const char *expected)
{
	char found[1000] = "";

	find_carriers(f, given_blocks, leaves, leaf_cnt);
	for (size_t i = 0; i < leaf_cnt; i++) {
		strcat(found, i ? " " : "");
		strcat(found, leaves[i].carrier ? leaves[i].carrier : "-");
	}
	assert_string_equal(found, expected);
	findings_free(f);
}

static void test_common_caller(void **state)
{
	(void)state;
	begin();		/* next has 60 % of keys' share, and 59 % of its time */
	path("main call keys next", .56, 10);
	path("main call keys match", .37, 7);
	path("main call get", .02, 80);
	leaf_in(NODE_NONE, .05, 3, STATE_RUNNING);
	assert_carriers("keys keys get -");

	begin();		/* next has more than its time: it is that */
	path("main call keys next", .56, 3);
	path("main call keys match", .37, 14);
	path("main call get", .02, 80);
	assert_carriers("next match get");

	begin();		/* next has nearly all */
	path("main call keys next", .90, 10);
	path("main call keys match", .03, 10);
	path("main call get", .02, 80);
	assert_carriers("next match get");

	begin();		/* two commands, each slow for itself */
	path("main call keys next", .27, 10);
	path("main call keys match", .18, 7);
	path("main call sort swap", .25, 10);
	path("main call sort compare", .22, 9);
	path("main call get", .01, 80);
	assert_carriers("keys keys sort sort get");
}

static void test_helpers(void **state)
{
	(void)state;
	begin();		/* spin and clock serve quick as well, which is no slower for it */
	path("main call slow spin clock", .80, 10);
	path("main call quick spin clock", .01, 10);
	assert_carriers("slow quick");

	begin();		/* one log, from wherever it is called */
	path("main get log append", .40, 10);
	path("main put log append", .35, 30);
	path("main put parse", .02, 40);
	assert_carriers("append append parse");

	begin();		/* what a system library does, its caller does */
	path_in("main commit flush +fdatasync", .60, 10, STATE_IO);
	path("main commit +memcpy", .01, 60);
	path("+start_thread", .05, 3);
	assert_carriers("flush commit start_thread");
}

static void test_no_cause(void **state)
{
	(void)state;
	begin();		/* all is in main anyway */
	path("main a", .3, 30);
	path("main b", .3, 30);
	path("main c", .3, 30);
	assert_carriers("a b c");

	begin();		/* as in the loop around all requests */
	path("main *loop handle a", .3, 30);
	path("main *loop handle b", .3, 30);
	path("main *loop c", .3, 30);
	assert_carriers("handle handle c");

	begin();		/* what waits for a disk is another cause than what runs, or might run */
	path_in("main handle store", .4, 10, STATE_IO);
	path("main handle sum", .4, 10);
	path("main idle", .01, 20);
	assert_carriers("store sum idle");
	begin();
	path_in("main handle store", .4, 10, STATE_RUNNABLE);
	path("main handle sum", .4, 10);
	path("main idle", .01, 20);
	assert_carriers("handle handle idle");

	begin();		/* main is around flush, and is not what the rest has in common */
	path("main flush", .93, 10);
	path("main a", .02, 10);
	path("main b", .02, 10);
	assert_carriers("flush a b");

	begin();
	path("main a", -.1, 10);
	path("main b", 0, 0);
	assert_carriers("a b");
	begin();
	leaf_in(NODE_NONE, 1, 1, STATE_RUNNING);
	assert_carriers("-");
	begin();
	assert_carriers("");
}

/* Its work for the request itself, below the interval, and its work for others, below a wait, are one path. */
static void test_both(void **state)
{
	uint32_t in_main, slow;

	(void)state;
	begin();
	in_main = node(0, NODE_FUNCTION, "main");
	slow = node(in_main, NODE_FUNCTION, "slow");
	leaf_in(node(slow, NODE_BODY, "slow"), .2, 20, STATE_RUNNING);
	leaf_in(node(slow, NODE_WAIT, "slow"), .1, 10, STATE_RUNNABLE);
	leaf_in(node(in_main, NODE_BODY, "main"), .01, 100, STATE_RUNNING);
	path("main slow", .3, 30);
	path("main slow slow", .2, 20);		/* it calls itself */
	path("flusher", .1, 50);
	assert_carriers("slow slow main slow slow flusher");
}

/* ---- the definition, slow: sets of names, looked through one by one ---- */

struct place {				/* a leaf, and what of its path is below the function that is looked at */
	size_t leaf;
	const char *below;		/* letters */
};

static struct { char path[12]; double share, mean; enum trace_state state; char carrier; } random_leaves[LEAVES];
static size_t random_cnt;
static bool is_close;			/* a limit is so close that rounding decides */

static void measure(const struct place *set, size_t cnt, char name, long double *ret_share, long double *ret_mean, long double *ret_depth)
{
	*ret_share = *ret_mean = *ret_depth = 0;
	for (size_t i = 0; i < cnt; i++) {
		const char *at = name ? strchr(set[i].below, name) : set[i].below;

		if (!at)
			continue;
		*ret_share += random_leaves[set[i].leaf].share;
		*ret_mean += random_leaves[set[i].leaf].mean;
		*ret_depth += random_leaves[set[i].leaf].share * (long double)(at - set[i].below);
	}
}

static bool at_most(long double a, long double b)
{
	is_close |= fabsl(a - b) < 1e-9L;
	return a <= b;
}

static bool serves_others(char name, long double share, long double mean)
{
	struct place all[LEAVES];
	long double all_share, all_mean, unused;

	for (size_t i = 0; i < random_cnt; i++)
		all[i] = (struct place){ i, random_leaves[i].path };
	measure(all, random_cnt, name, &all_share, &all_mean, &unused);
	return !(at_most(all_share, 1.02L * share) && at_most(all_mean, 1.25L * mean));
}

static bool is_the_cause(const struct place *set, size_t cnt, char name)
{
	long double share, mean, unused, off = 0, kinds[STATE_CNT] = { 0 }, absolute = 0;
	bool one_kind = false;

	measure(set, cnt, 0, &share, &mean, &unused);
	for (char next = 'a' - 1; next <= 'z'; next++) {
		long double s = 0, m = 0;

		for (size_t i = 0; i < cnt; i++)
			if (next < 'a' ? !*set[i].below : *set[i].below == next) {
				s += random_leaves[set[i].leaf].share;
				m += random_leaves[set[i].leaf].mean;
			}
		if (mean > 0)
			off += fabsl(s / share - m / mean) / 2;
	}
	for (size_t i = 0; i < cnt; i++) {
		enum trace_state state = random_leaves[set[i].leaf].state;

		if (set[i].below == random_leaves[set[i].leaf].path + 1)
			return false;	/* it is the outermost */
		kinds[state == STATE_RUNNABLE ? STATE_RUNNING : state] += fabs(random_leaves[set[i].leaf].share);
		absolute += fabs(random_leaves[set[i].leaf].share);
	}
	for (int k = 0; k < STATE_CNT; k++)
		one_kind |= at_most(.75L * absolute, kinds[k]);
	return mean > 0 && name != 'c' && one_kind && at_most(off, .15L) && !serves_others(name, share, mean);
}

/* Step by step: of the functions that have nearly all, the highest comes first. */
static void define(struct place *set, size_t cnt, char name, long double of)
{
	long double share, mean, depth, best_depth = 0;
	struct place part[LEAVES], rest[LEAVES];
	size_t part_cnt = 0, rest_cnt = 0;
	char best = 0;

	measure(set, cnt, 0, &share, &mean, &depth);
	if (!at_most(.01L, share)) {
		for (size_t i = 0; i < cnt; i++)
			random_leaves[set[i].leaf].carrier = random_leaves[set[i].leaf].path[strlen(random_leaves[set[i].leaf].path) - 1];
		return;
	}
	for (char x = 'a'; x <= 'z'; x++) {
		long double s, m, d;

		measure(set, cnt, x, &s, &m, &d);
		if (!(s > 0) || !at_most(.9L * of, s) || serves_others(x, s, m))
			continue;
		is_close |= best && fabsl(d / s - best_depth) < 1e-9L;
		if (!best || d / s < best_depth) {
			best = x;
			best_depth = d / s;
		}
	}
	if (!best && name && is_the_cause(set, cnt, name)) {
		for (size_t i = 0; i < cnt; i++)
			random_leaves[set[i].leaf].carrier = name;
		return;
	}
	for (size_t i = 0; i < cnt; i++) {
		const char *at = best ? strchr(set[i].below, best) : NULL;

		if (at)
			part[part_cnt++] = (struct place){ set[i].leaf, at + 1 };
		else
			rest[rest_cnt++] = set[i];
	}
	if (best)
		define(part, part_cnt, best, of);
	for (char x = 'a'; x <= 'z'; x++) {
		for (size_t i = part_cnt = 0; i < rest_cnt; i++)
			if (*rest[i].below == x)
				part[part_cnt++] = (struct place){ rest[i].leaf, rest[i].below + 1 };
		measure(part, part_cnt, 0, &share, &mean, &depth);
		if (part_cnt)
			define(part, part_cnt, x, share);
	}
	for (size_t i = 0; i < rest_cnt; i++)
		if (!*rest[i].below)
			random_leaves[rest[i].leaf].carrier = name;
}

/* Few functions, most of which call others in order, so that paths have much in common. */
static void make_leaf(size_t n)
{
	static const enum trace_state states[] = { STATE_RUNNING, STATE_RUNNING, STATE_RUNNABLE, STATE_IO };
	size_t len = 1 + (size_t)rand() % 6;
	char at = 'a', *name = random_leaves[n].path;

	for (size_t i = 0; i < len; i++) {
		at = (char)(rand() % 12 ? at + rand() % 3 : 'a' + rand() % 4);
		if (name == random_leaves[n].path || name[-1] != at)
			*name++ = at;
	}
	*name = '\0';
	random_leaves[n].mean = rand() % 100;
	random_leaves[n].share = rand() % 3 ? random_leaves[n].mean / 4096 : (rand() % 300 - 20) / 4096.0;
	random_leaves[n].state = states[rand() % 4];
}

static void test_random(void **state)
{
	size_t judged = 0, rolled_up = 0;

	(void)state;
	srand(35);
	for (int round = 0; round < 20000; round++) {
		struct place all[LEAVES];
		char texts[LEAVES][32];
		long double whole, unused;

		begin();
		random_cnt = 1 + (size_t)rand() % 12;
		for (size_t i = 0; i < random_cnt; i++) {
			make_leaf(i);
			texts[i][0] = '\0';
			for (const char *c = random_leaves[i].path; *c; c++) {
				strcat(texts[i], *c == 'c' ? "*" : "");		/* c is the loop */
				strcat(texts[i], (char[]){ *c, ' ', '\0' });
			}
			path_in(texts[i], random_leaves[i].share, random_leaves[i].mean, random_leaves[i].state);
			all[i] = (struct place){ i, random_leaves[i].path };
		}
		is_close = false;
		measure(all, random_cnt, 0, &whole, &unused, &unused);
		define(all, random_cnt, 0, whole);
		find_carriers(f, NULL, leaves, leaf_cnt);
		for (size_t i = 0; i < random_cnt && !is_close; i++) {
			assert_int_equal(leaves[i].carrier[0], random_leaves[i].carrier);
			rolled_up += random_leaves[i].carrier != random_leaves[i].path[strlen(random_leaves[i].path) - 1];
			judged++;
		}
		findings_free(f);
	}
	assert_true(judged > 50000 && rolled_up > 3000);
}

/* next has .5 of .7, and half of the time: as far as its blocks tell that from a half, it is a cause of its own. */
static void test_chance(void **state)
{
	static const double spreads[] = { 100, 10 };
	static const char *const expected[] = { "keys keys get", "next match get" };
	const struct carrier_blocks blocks = { { 16, false }, 1000 };

	(void)state;
	for (size_t round = 0; round < 2; round++) {
		double of_next[16], none[16] = { 0 };

		for (size_t b = 0; b < 16; b++)
			of_next[b] = b % 2 ? spreads[round] : -spreads[round];	/* D is off by 2.13 * sqrt(16 / 15 * 16) * spread / 2 / 1000 */
		begin();
		path("main call keys next", .5, 10);
		path("main call keys match", .2, 10);
		path("main call get", .02, 80);
		for (size_t i = 0; i < leaf_cnt; i++)
			leaves[i].blocks = i ? none : of_next;
		given_blocks = &blocks;
		assert_carriers(expected[round]);
		given_blocks = NULL;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_common_caller), cmocka_unit_test(test_helpers), cmocka_unit_test(test_no_cause), cmocka_unit_test(test_both),
		cmocka_unit_test(test_chance), cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
