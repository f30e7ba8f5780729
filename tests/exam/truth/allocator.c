/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * allocator.c - a cause that is in twelve places, a little in each.
 *
 * Twelve steps of a request each ask allocate() once.  How fragmented the heap is changes from request to request,
 * and allocate() takes 0 to 60 us for it, the same in all twelve: 144 * 300 = 43,200 us^2.  None of the
 * twelve steps has more than a twelfth of that by its share, 0.7 % by its own variance: the rest is covariances.  merge()
 * takes 0 to 200 us: 3,333.
 *
 * truth: function allocate 0.93
 * truth: function merge 0.07
 * forbidden: function seal
 * fix: allocate function allocate
 */
#include <vprof.h>
#include "truth.h"

enum { REQUESTS = 600 };

static void allocate(size_t id)
{
	TRUTH(id, 0, truth_work(truth_uniform("allocate", 1, id, 0, 60)));
}

#define STEP(name) static void name(size_t id) { allocate(id); truth_work(20); truth_took(id, 3, 1); }
STEP(accept_one) STEP(read_head) STEP(check_head) STEP(find_route) STEP(open_session) STEP(read_body)
STEP(check_body) STEP(plan) STEP(fetch) STEP(sort) STEP(format) STEP(reply)

static void merge(size_t id)
{
	TRUTH(id, 1, truth_work(truth_uniform("merge", 2, id, 0, 200)));
}

static void seal(size_t id)
{
	TRUTH(id, 2, truth_work(100));
}

static void handle(size_t id)
{
	accept_one(id);
	read_head(id);
	check_head(id);
	find_route(id);
	open_session(id);
	read_body(id);
	merge(id);
	check_body(id);
	plan(id);
	fetch(id);
	sort(id);
	format(id);
	reply(id);
	seal(id);
}

int main(void)
{
	truth_open(REQUESTS, "function allocate;function merge;function seal;steps");
	TRUTH_SERVE(id, REQUESTS, 800, handle(id));
	truth_close();
	return 0;
}
