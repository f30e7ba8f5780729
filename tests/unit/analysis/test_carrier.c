/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_carrier.c - which function of many small ones carries the rest (analysis/causes/carrier.h): by hand. */
#include <string.h>

#include "analysis/causes/carrier.h"
#include "tests/unit/cmocka_all.h"

static struct findings *f;
static struct carried leaves[20];
static size_t leaf_cnt;

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
}

static uint32_t leaf(uint32_t doer, double share)
{
	leaves[leaf_cnt++] = (struct carried){ doer, share, false };
	return doer;
}

/* "main keys next": blames below the wait, each below the one before, and a leaf. */
static void blames(uint32_t wait, const char *path, double share)
{
	char *copy = arena_strdup(f->arena, path), *at = NULL;

	for (char *name = strtok_r(copy, " ", &at); name; name = strtok_r(NULL, " ", &at))
		wait = node(wait, NODE_BLAME, name);
	leaf(wait, share);
}

static void assert_carrier(const char *expected, size_t below)
{
	const char *name = find_carrier(f, leaves, leaf_cnt);
	size_t cnt = 0;

	for (size_t i = 0; i < leaf_cnt; i++)
		cnt += leaves[i].is_below;
	if (!expected)
		assert_null(name);
	else
		assert_string_equal(name, expected);
	assert_int_equal(cnt, below);
	findings_free(f);
}

static void test_examples(void **state)
{
	uint32_t wait;

	(void)state;
	begin();
	wait = node(0, NODE_WAIT, NULL);
	blames(wait, "main call keys next", .30);
	blames(wait, "main call keys match", .25);
	blames(wait, "main call keys copy", .20);
	blames(wait, "main call get copy", .02);
	leaf(NODE_NONE, .2);
	assert_carrier("keys", 3);

	begin();
	wait = node(0, NODE_WAIT, NULL);
	blames(wait, "main call slow spin clock", .80);
	blames(wait, "main call quick spin clock", .10);
	assert_carrier("slow", 1);

	begin();		/* no function has most of it */
	wait = node(0, NODE_WAIT, NULL);
	blames(wait, "main call a", .3);
	blames(wait, "main call b", .3);
	blames(wait, "main call c", .3);
	assert_carrier("call", 3);
	begin();
	leaf(NODE_NONE, 1);
	assert_carrier(NULL, 0);
	begin();
	assert_carrier(NULL, 0);
}

/* What it does for the request itself, below the interval, and for others, below a wait, is one path. */
static void test_both(void **state)
{
	uint32_t in_main, slow, wait;

	(void)state;
	begin();
	in_main = node(0, NODE_FUNCTION, "main");
	slow = node(in_main, NODE_FUNCTION, "slow");
	leaf(node(slow, NODE_BODY, "slow"), .2);
	leaf(node(slow, NODE_WAIT, "slow"), .1);
	leaf(node(in_main, NODE_BODY, "main"), .1);
	wait = node(0, NODE_WAIT, NULL);
	blames(wait, "main slow", .3);
	blames(wait, "main slow slow", .2);	/* it calls itself */
	blames(wait, "flusher", .1);
	assert_carrier("slow", 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_examples), cmocka_unit_test(test_both) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
