/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hidden.c - the same cause in eight places, and no function of the project to blame: a library's.
 *
 * Eight steps take 20 us each and 0 to 80 us more, the same in all eight (a library below them, which carries no probe):
 * 64 * 533 = 34,133 us^2 together, each 533 by itself, and a share of 10.8 %.  check() takes 0 to 250 us: 5,208.
 * There are nine factors above 5 %, so any three of the eight may come first; the view says what is behind them.
 *
 * truth: function check 0.13
 * truth: function step1 0.108
 * truth: function step2 0.108
 * truth: function step3 0.108
 * truth: function step4 0.108
 * truth: function step5 0.108
 * truth: function step6 0.108
 * truth: function step7 0.108
 * truth: function step8 0.108
 * says: together:
 * says: look for what they share
 */
#include <vprof.h>
#include "truth.h"

enum { REQUESTS = 600 };

#define STEP(number) static void step##number(size_t id) \
	{ TRUTH(id, number, truth_work(truth_uniform("heap", 1, id, 20, 100))); }
STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8)

static void check(size_t id)
{
	TRUTH(id, 0, truth_work(truth_uniform("check", 2, id, 0, 250)));
}

static void handle(size_t id)
{
	step1(id);
	step2(id);
	step3(id);
	step4(id);
	check(id);
	step5(id);
	step6(id);
	step7(id);
	step8(id);
}

int main(void)
{
	truth_open(REQUESTS, "function check;function step1;function step2;function step3;function step4;"
		   "function step5;function step6;function step7;function step8");
	TRUTH_SERVE(id, REQUESTS, 800, handle(id));
	truth_close();
	return 0;
}
