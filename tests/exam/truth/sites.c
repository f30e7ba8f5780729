/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sites.c - one function called from two places that offset each other.
 *
 * copy() takes x in read_half() and 600 us - x in write_half(), x from 0 to 600: each call varies by 30,000 us^2, both
 * together not at all.  scale() takes y in both of them, the same y from 0 to 200: 4 * 3,333 = 13,333.  Judged by
 * place copy() would be the cause, with four times the variance there is.
 *
 * truth: function scale 1.00
 * also: function read_half
 * also: function write_half
 * forbidden: function copy
 * says: offset each other
 * fix: scale function scale
 */
#include <vprof.h>
#include "truth.h"

enum { REQUESTS = 500 };

static void copy(size_t id, int64_t us)
{
	TRUTH(id, 1, truth_work(us));
}

static void scale(size_t id)
{
	TRUTH(id, 0, truth_work(truth_uniform("scale", 2, id, 0, 200)));
}

static void read_half(size_t id)
{
	copy(id, truth_uniform("copy", 1, id, 0, 600));
	scale(id);
}

static void write_half(size_t id)
{
	copy(id, 600 - truth_uniform("copy", 1, id, 0, 600));
	scale(id);
}

static void handle(size_t id)
{
	read_half(id);
	write_half(id);
}

int main(void)
{
	truth_open(REQUESTS, "function scale;function copy");
	TRUTH_SERVE(id, REQUESTS, 800, handle(id));
	truth_close();
	return 0;
}
