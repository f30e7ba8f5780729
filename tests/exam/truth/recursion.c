/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recursion.c - a function that calls itself, alone and by way of another.
 *
 * walk() descends 0 to 10 levels, evenly, 60 us of its own each: 60^2 * (11^2 - 1) / 12 = 36,000 us^2.  Its time is
 * that of its outermost call; counted at every level it would be many times the latency.  even() and odd() call
 * each other twice, 0 to 100 us for each of the 3 calls, all the same: 9 * 833 = 7,500.
 *
 * truth: function walk 0.83
 * truth: function even 0.17
 * also: function odd
 * forbidden: function greet
 * fix: walk function walk
 */
#include <vprof.h>
#include "truth.h"

enum { REQUESTS = 600 };

static void walk(size_t id, int64_t levels)
{
	truth_work(60);
	if (levels > 0)
		walk(id, levels - 1);
	truth_took(id, 3, 1);		/* something to do behind the call, so that it stays one */
}

static void odd(size_t id, int level);

static void even(size_t id, int level)
{
	truth_work(truth_uniform("even", 2, id, 0, 100));
	if (level > 0)
		odd(id, level - 1);
	truth_took(id, 3, 1);
}

static void odd(size_t id, int level)
{
	truth_work(truth_uniform("even", 2, id, 0, 100));
	if (level > 0)
		even(id, level - 1);
	truth_took(id, 3, 1);
}

static void greet(size_t id)
{
	TRUTH(id, 2, truth_work(200));
}

static void handle(size_t id)
{
	greet(id);
	TRUTH(id, 0, walk(id, truth_uniform("walk", 1, id, 0, 11)));
	TRUTH(id, 1, even(id, 2));
}

int main(void)
{
	truth_open(REQUESTS, "function walk;function even;function greet;calls");
	TRUTH_SERVE(id, REQUESTS, 800, handle(id));
	truth_close();
	return 0;
}
