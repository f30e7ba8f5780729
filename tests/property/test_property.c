/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_property.c - what must hold for every program (program.h), on random ones.
 *
 *	test_property [FIRST_SEED COUNT]
 *
 * Small programs: the critical path of every interval equals the simulator's truth nanosecond by
 * nanosecond, waits and blames of the tree sum to it, and the order of the input changes nothing.
 * Large ones (10^4 to 10^6 tuples): the pieces sum to the latency, no path is bad, order changes
 * nothing.  A difference prints the seed.  Last, the comparison is shown to notice: a truth is
 * changed in one nanosecond, and a wakeup is taken away.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "analysis/analyze.h"
#include "analysis/tree/variance_tree.h"
#include "tests/oracle/random_trace.h"
#include "tests/property/program.h"
#include "base/banned.h"

#define PROGRAMS 300
#define STATES ((size_t)STATE_CNT)
#define WAITERS ((size_t)PROGRAM_FUNCTIONS + 1)	/* the last: in no function */

struct totals {				/* ns over all intervals */
	int64_t waits[WAITERS][STATE_CNT];
	int64_t blames[WAITERS][STATE_CNT][WAITERS][STATE_CNT];
};

static bool planting;			/* differences are wanted: no messages */

static size_t tuple_cnt(const struct trace *t)
{
	return t->intervals.cnt + t->segments.cnt + t->invocations.cnt + t->wakeups.cnt +
	       t->creations.cnt;
}

static bool same_tick(const struct piece *p, const struct charge_tick *k)
{
	return p->tid == k->tid && p->state == k->state && p->wait == k->wait &&
	       p->meanwhile == k->meanwhile && (p->depth > 0) == k->explained;
}

/* Also that the pieces sum to the latency, truth or not. */
static bool same_path(const struct timeline *tl, const struct interval *iv,
		      const struct charge_tick *truth, unsigned int seed)
{
	pieces path = { NULL, 0, 0 };
	int64_t sum_ns = 0;
	bool same = critical_path(tl, iv, &path) == 0;

	for (size_t i = 0; i < path.cnt && same; i++) {
		const struct piece *p = &path.items[i];

		sum_ns += p->end_ns - p->start_ns;
		for (int64_t ns = p->start_ns; truth && same && ns < p->end_ns; ns++) {
			same = same_tick(p, &truth[ns]);
			if (!same && !planting)
				fprintf(stderr, "seed %u: interval %" PRIu64 " at %" PRId64 ": thread %"
					PRIu64 " %s, in truth %" PRIu64 " %s\n", seed, iv->sid, ns,
					p->tid, trace_state_name(p->state), truth[ns].tid,
					trace_state_name(truth[ns].state));
		}
	}
	VEC_RELEASE(&path);
	if (sum_ns != iv->end_ns - iv->start_ns && same) {
		fprintf(stderr, "seed %u: interval %" PRIu64 ": pieces sum to %" PRId64 ", latency %"
			PRId64 "\n", seed, iv->sid, sum_ns, iv->end_ns - iv->start_ns);
		same = false;
	}
	return same;
}

static unsigned int wrong_paths(struct program *p, unsigned int seed)
{
	_cleanup_(timeline_freep) struct timeline *tl = timeline_new(p->t);
	unsigned int wrong = 0;

	for (size_t i = 0; i < p->t->intervals.cnt; i++) {
		const struct interval *iv = &p->t->intervals.items[i];

		if (iv->status == INTERVAL_COMPLETED)
			wrong += !same_path(tl, iv, p->truths ? p->truths[iv->sid] : NULL, seed);
	}
	return wrong;
}

/* ---- the tree ------------------------------------------------------------------- */

static size_t slot(uint32_t function)
{
	return function == FUNCTION_NONE ? PROGRAM_FUNCTIONS : function;
}

static size_t slot_of_name(const char *name)	/* "f3" */
{
	return name ? (size_t)(name[1] - '0') : PROGRAM_FUNCTIONS;
}

static void sum_tick(const struct charge_tick *k, struct totals *sums)
{
	bool others = k->meanwhile != STATE_QUEUE;

	if (k->wait == STATE_RUNNING)
		return;
	sums->waits[slot(k->waiter)][k->wait]++;
	if (k->explained)
		sums->blames[slot(k->waiter)][k->wait][slot(k->function)][k->state]++;
	else if (others && k->function != FUNCTION_NONE)
		sums->blames[PROGRAM_FUNCTIONS][STATE_QUEUE][k->function][k->meanwhile]++;
}

static void sum_truth(const struct program *p, struct totals *sums)
{
	for (size_t i = 0; i < p->t->intervals.cnt; i++) {
		const struct interval *iv = &p->t->intervals.items[i];

		for (int64_t ns = iv->start_ns; iv->status == INTERVAL_COMPLETED && ns < iv->end_ns;
		     ns++)
			sum_tick(&p->truths[iv->sid][ns], sums);
	}
}

static void sum_tree(const struct findings *f, struct totals *sums)
{
	for (size_t i = 1; i < f->nodes.cnt; i++) {
		const struct node *n = &f->nodes.items[i], *above = &f->nodes.items[n->parent];
		int64_t ns = llround(n->mean_ns * (double)f->interval.cnt);

		if (n->kind == NODE_WAIT)
			sums->waits[slot_of_name(n->function)][n->wait] += ns;
		else if (n->kind == NODE_BLAME && (n->function || n->is_wait))
			sums->blames[slot_of_name(above->function)][above->wait]
				    [slot_of_name(n->function)]
				    [n->is_wait ? n->wait : STATE_RUNNING] += ns;
	}
}

/* Blames without a name are not compared: a wait's only one is not shown. */
static void forget_nameless(struct totals *sums)
{
	for (size_t w = 0; w < WAITERS; w++)
		for (size_t s = 0; s < STATES; s++)
			sums->blames[w][s][PROGRAM_FUNCTIONS][STATE_RUNNING] = 0;
}

static bool same_totals(const struct program *p, const struct findings *f)
{
	_cleanup_(freep) struct totals *truth = xcalloc(1, sizeof(*truth));
	_cleanup_(freep) struct totals *found = xcalloc(1, sizeof(*found));

	sum_truth(p, truth);
	sum_tree(f, found);
	forget_nameless(truth);
	forget_nameless(found);
	return memcmp(truth, found, sizeof(*truth)) == 0;
}

/* ---- order of the input --------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_findings(const struct findings *a, const struct findings *b)
{
	bool same = a->nodes.cnt == b->nodes.cnt && a->factors.cnt == b->factors.cnt &&
		    a->interval.cnt == b->interval.cnt;

	for (size_t i = 0; same && i < a->nodes.cnt; i++) {
		const struct node *x = &a->nodes.items[i], *y = &b->nodes.items[i];

		same = x->kind == y->kind && x->parent == y->parent && x->wait == y->wait &&
		       same_text(x->function, y->function) && x->mean_ns == y->mean_ns &&
		       x->variance_ns2 == y->variance_ns2 && x->share == y->share &&
		       x->calls_per_interval == y->calls_per_interval && x->presence == y->presence;
	}
	for (size_t i = 0; same && i < a->covariances.cnt; i++)
		same = a->covariances.items[i].covariance_ns2 == b->covariances.items[i].covariance_ns2;
	return same;
}

static unsigned int wrong_findings(struct program *p, unsigned int seed)
{
	struct analyze_options options = { .interval = "req" };
	_cleanup_(findings_freep) struct findings *f = NULL, *g = NULL;
	unsigned int wrong = 0;

	if (analyze(p->t, &options, &f) < 0 || f->interval.dropped_bad_path > 0 || f->clamped > 0) {
		fprintf(stderr, "seed %u: bad paths or spans that had to be cut\n", seed);
		return 1;
	}
	if (p->truths && !same_totals(p, f)) {
		fprintf(stderr, "seed %u: waits or blames do not sum to the truth\n", seed);
		wrong++;
	}
	shuffle_trace(p->t, seed);
	if (analyze(p->t, &options, &g) < 0 || !same_findings(f, g)) {
		fprintf(stderr, "seed %u: the order of the input changes the findings\n", seed);
		wrong++;
	}
	return wrong;
}

/* ---- runs ----------------------------------------------------------------------- */

static unsigned int check_small(unsigned int first, unsigned int cnt)
{
	unsigned int wrong = 0;

	for (unsigned int seed = first; seed < first + cnt; seed++) {
		struct program_options o = { seed, 5 + seed % 14, 400 + 100 * (seed % 13), true };
		_cleanup_(program_freep) struct program *p = program_run(&o);

		shuffle_trace(p->t, seed);
		trace_sort(p->t);
		wrong += wrong_paths(p, seed);
		wrong += wrong_findings(p, seed);
	}
	return wrong;
}

static unsigned int check_large(unsigned int seed, uint32_t thread_cnt, size_t tuples)
{
	/* All threads together leave about one tuple a nanosecond: they are mostly waiting. */
	struct program_options o = { seed, thread_cnt, (int64_t)(tuples + tuples / 10), false };
	_cleanup_(program_freep) struct program *p = program_run(&o);

	printf("%zu tuples, %u threads, %zu intervals\n", tuple_cnt(p->t), thread_cnt,
	       p->t->intervals.cnt);
	trace_sort(p->t);
	return wrong_paths(p, seed) + wrong_findings(p, seed);
}

/* A comparison that cannot fail proves nothing. */
static unsigned int notices_plants(void)
{
	unsigned int found_tick = 0, found_edge = 0, found_total = 0;

	planting = true;
	for (unsigned int seed = 1; seed <= 20; seed++) {
		struct program_options o = { seed, 12, 1500, true };
		_cleanup_(program_freep) struct program *p = program_run(&o);
		struct analyze_options options = { .interval = "req" };
		_cleanup_(findings_freep) struct findings *f = NULL;
		const struct interval *iv = NULL;

		trace_sort(p->t);
		for (size_t i = 0; i < p->t->intervals.cnt; i++)
			if (p->t->intervals.items[i].status == INTERVAL_COMPLETED)
				iv = &p->t->intervals.items[i];
		p->truths[iv->sid][iv->start_ns].tid += 1000;
		found_tick += wrong_paths(p, seed) > 0;
		p->truths[iv->sid][iv->start_ns].tid -= 1000;
		analyze(p->t, &options, &f);
		p->truths[iv->sid][iv->start_ns].wait = STATE_LOCK;
		p->truths[iv->sid][iv->start_ns].waiter = 7;
		found_total += !same_totals(p, f);
		for (size_t i = 0; i < p->t->wakeups.cnt; i++)
			p->t->wakeups.items[i].waker_tid++;
		found_edge += wrong_paths(p, seed) > 0;
	}
	if (found_tick == 20 && found_edge == 20 && found_total >= 19)
		return 0;
	fprintf(stderr, "planted mistakes were found in %u, %u and %u of 20 programs\n", found_tick,
		found_edge, found_total);
	return 1;
}

int main(int argc, char **argv)
{
	unsigned int first = argc > 2 ? (unsigned int)strtoul(argv[1], NULL, 10) : 1;
	unsigned int cnt = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 10) : PROGRAMS;
	size_t usual = vtree_unfold_limit;
	unsigned int wrong = check_small(first, cnt);

	vtree_unfold_limit = 0;		/* what long waits are summed by, for all of them */
	wrong += check_small(first, cnt);
	vtree_unfold_limit = usual;
	printf("%u programs from seed %u, %u differences\n", cnt, first, wrong);
	wrong += check_large(first, 8, 10000);
	wrong += check_large(first + 1, 24, 100000);
	wrong += check_large(first + 2, 64, 1000000);
	wrong += notices_plants();
	return wrong ? 1 : 0;
}
