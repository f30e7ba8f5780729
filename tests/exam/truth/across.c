/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * across.c - two functions that offset each other, three calls down in different places of the tree.
 *
 * fill(), below parse(), takes x from 0 to 600 us; what it did not load costs load(), below reply(), 600 - x: 30,000 us^2 each,
 * and nothing both together; parse() and reply() have the same by inclusive time.  sort() takes 0 to 400, in reply() as well:
 * 13,333.  With fill() fixed the variance would be 43,333, three times what it is.
 *
 * truth: function sort 1.00
 * also: function reply
 * forbidden: function fill
 * forbidden: function load
 * says: fill and load offset each other
 * says: (below parse and reply)
 * fix: sort function sort
 * fix: fill function fill
 */
#include <vprof.h>
#include "truth.h"

enum { REQUESTS = 600 };

static volatile unsigned notes;

static void fill(size_t id)
{
	TRUTH(id, 1, truth_work(truth_uniform("fill", 1, id, 0, 600)));
}

static void load(size_t id)
{
	TRUTH(id, 2, truth_work(600 - truth_uniform("load", 1, id, 0, 600)));
}

static void sort(size_t id)
{
	TRUTH(id, 0, truth_work(truth_uniform("sort", 2, id, 0, 400)));
}

static void cache(size_t id) { fill(id); notes++; }
static void fetch(size_t id) { load(id); notes++; }
static void parse(size_t id) { cache(id); notes++; }

static void reply(size_t id)
{
	fetch(id);
	sort(id);
}

static void handle(size_t id)
{
	parse(id);
	reply(id);
}

int main(void)
{
	truth_open(REQUESTS, "function sort;function fill;function load");
	TRUTH_SERVE(id, REQUESTS, 800, handle(id));
	truth_close();
	return 0;
}
