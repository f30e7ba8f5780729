/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kinds.c - two kinds of requests under one name: hits of a cache and misses.
 *
 * Three of four are hits and take 150 to 250 us in look_up().  A miss goes to load_page() as well, 1,000 to 1,400 us: presence
 * .25, variance 1200^2 * .25 * .75 + .25 * 13,333 = 273,333 us^2.  look_up() has 833.  Latencies are of two
 * populations, and vprof says so.
 *
 * truth: function load_page 0.997
 * forbidden: function look_up
 * forbidden: function answer
 * warns: mixture
 * says: between those with load_page
 * fix: load_page function load_page
 */
#include <vprof.h>
#include "truth.h"

enum { REQUESTS = 700 };

/* 0: a hit.  Fixed, there is a little to load in each request. */
static int64_t miss_us(size_t id)
{
	return truth_rare("load_page", 3, id, 0.25, 1000);
}

static void load_page(size_t id)
{
	int64_t us = miss_us(id);

	TRUTH(id, 0, truth_work(us == 1000 ? us + truth_uniform("load_page", 4, id, 0, 400) : us));
}

static void look_up(size_t id)
{
	TRUTH(id, 1, truth_work(truth_uniform("look_up", 1, id, 150, 250)));
}

static void answer(size_t id)
{
	TRUTH(id, 2, truth_work(50));
}

static void handle(size_t id)
{
	look_up(id);
	if (miss_us(id) > 0)
		load_page(id);
	answer(id);
}

int main(void)
{
	truth_open(REQUESTS, "function load_page;function look_up;function answer");
	TRUTH_SERVE(id, REQUESTS, 600, handle(id));
	truth_close();
	return 0;
}
