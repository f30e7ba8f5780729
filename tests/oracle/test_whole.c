/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_whole.c - the views of a whole run against their definitions, on random traces.
 *
 *	test_whole [FIRST_SEED CNT]
 *
 * Identities that hold for every trace are checked as well: a thread's times by state sum to its
 * segments, CMetric to the time with anybody active, samples of period 1 to the segments' length.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/whole_run/criticality.h"
#include "analysis/whole_run/wait_graph.h"
#include "base/map.h"
#include "base/str.h"
#include "tests/oracle/oracle_whole.h"
#include "base/banned.h"

#define TRACES 600
#define FUNCTIONS_MAX 16

static unsigned int wrong;

static void complain(unsigned int seed, const char *what)
{
	fprintf(stderr, "seed %u: %s\n", seed, what);
	wrong++;
}

/* A random trace with what the generator leaves out: devices and false wake-ups. */
static struct trace *trace_of(unsigned int seed)
{
	static const enum thread_kind kinds[] = { KIND_THREAD, KIND_DISK, KIND_NIC, KIND_TIMER, KIND_KERNEL };
	struct trace *t = random_trace(seed, seed % 2 ? RANDOM_PROGRAM : RANDOM_ANY);
	struct random r = { seed * 7919ULL };

	t->threads.cnt = 0;		/* each is named once */
	for (uint64_t tid = 2; tid < 6; tid++)
		if (random_below(&r, 4) == 0)
			VEC_ADD(&t->threads, (struct thread_name){ tid, 0, NULL, kinds[random_below(&r, 5)],
				false, 0 });
	for (uint32_t i = random_below(&r, 6); i > 0; i--)
		VEC_ADD(&t->false_wakeups,
			(struct false_wakeup){ 1 + random_below(&r, 4), random_below(&r, 60) });
	t->creations.cnt = 0;		/* no short-lived threads */
	trace_sort(t);
	return t;
}

static enum thread_kind kind_of(const struct trace *t, uint64_t tid)
{
	for (size_t i = 0; i < t->threads.cnt; i++)
		if (t->threads.items[i].tid == tid)
			return t->threads.items[i].kind;
	return KIND_THREAD;
}

/* ---- waits ---- */

static uint64_t oracle_id(uint64_t id)
{
	return id == VERTEX_ID_NONE ? ORACLE_UNKNOWN : id;
}

/* Edges of devices that are shared out are no waits; they are looked at by hand in golden traces. */
static bool same_edges(const struct trace *t, const struct wait_graph *g, const struct oracle_waits *o,
		       const int64_t typical[ORACLE_TIDS][ORACLE_TIDS])
{
	int64_t seen = 0, expected = 0;

	for (size_t i = 0; i < g->edges.cnt; i++) {
		const struct wait_edge *e = &g->edges.items[i];
		uint64_t from = oracle_id(g->vertices.items[e->from].id);
		uint64_t to = oracle_id(g->vertices.items[e->to].id);
		enum thread_kind kind = kind_of(t, from);

		if (kind == KIND_DISK || kind == KIND_NIC)
			continue;
		if (e->weight_ns != o->weight_ns[from][to] || e->direct_ns != o->direct_ns[from][to])
			return false;
		if (typical && e->typical_ns != typical[from][to])
			return false;
		seen += e->weight_ns;
	}
	for (uint64_t from = 0; from < ORACLE_TIDS; from++)
		for (uint64_t to = 0; to < ORACLE_TIDS; to++)
			if (kind_of(t, from) != KIND_DISK && kind_of(t, from) != KIND_NIC)
				expected += o->weight_ns[from][to];
	return seen == expected;
}

static bool same_states(const struct trace *t, const struct wait_graph *g, const struct oracle_waits *o)
{
	for (size_t i = 0; i < g->vertices.cnt; i++) {
		const struct wait_vertex *v = &g->vertices.items[i];
		uint64_t tid = oracle_id(v->id);
		int64_t life_ns = 0;

		if (kind_of(t, tid) == KIND_DISK || kind_of(t, tid) == KIND_NIC)
			continue;
		for (size_t j = 0; j < t->segments.cnt; j++)
			if (t->segments.items[j].tid == tid)
				life_ns += t->segments.items[j].end_ns - t->segments.items[j].start_ns;
		if (v->running_ns != o->running_ns[tid] || v->runnable_ns != o->runnable_ns[tid] ||
		    v->waiting_ns != o->waiting_ns[tid])
			return false;
		/* A hole between two waits that a false wake-up joins is waited through. */
		if (t->false_wakeups.cnt == 0 &&
		    v->running_ns + v->runnable_ns + v->waiting_ns != life_ns)
			return false;
	}
	return true;
}

struct class {
	const struct interval *const *all;
	size_t cnt;
	int64_t least_ns, most_ns;	/* of the latency */
};

static int64_t latency_of(const struct interval *iv)
{
	return iv->end_ns - iv->start_ns;
}

/* The smallest latency that at least q of them do not exceed. */
static int64_t latency_at(const struct interval *const *all, size_t cnt, double q)
{
	int64_t best_ns = INT64_MAX;

	for (size_t i = 0; i < cnt; i++) {
		size_t below = 0;

		for (size_t j = 0; j < cnt; j++)
			below += latency_of(all[j]) <= latency_of(all[i]);
		if ((double)below >= q * (double)cnt && latency_of(all[i]) < best_ns)
			best_ns = latency_of(all[i]);
	}
	return best_ns;
}

static bool class_counts(const void *arg, uint64_t sid, int64_t ns)
{
	const struct class *c = arg;
	bool open = false, mine = false;

	for (size_t i = 0; i < c->cnt; i++) {
		if (latency_of(c->all[i]) < c->least_ns || latency_of(c->all[i]) > c->most_ns)
			continue;
		open = open || (ns >= c->all[i]->start_ns && ns < c->all[i]->end_ns);
		mine = mine || c->all[i]->sid == sid;
	}
	return open && mine;
}

static void compare_slow(unsigned int seed, struct trace *t)
{
	static const double quantiles[] = { 0.99, 0.75, 0.5, 0.2 };
	struct wait_graph_options o = { .threshold = 0.2, .prefilter = 0.01, .slow = true,
					.interval = "req", .quantile = quantiles[seed / 2 % 4] };
	_cleanup_(wait_graph_freep) struct wait_graph *g = NULL;
	VEC(const struct interval *) all = { NULL, 0, 0 };
	struct oracle_waits slow, typical;
	int r = wait_graph_new(t, &o, &g);

	for (size_t i = 0; i < t->intervals.cnt; i++) {
		const struct interval *iv = &t->intervals.items[i];

		if (iv->name == 0 && iv->status == INTERVAL_COMPLETED && !iv->lost)
			VEC_ADD(&all, iv);
	}
	if ((r < 0) != (all.cnt == 0))
		complain(seed, "slow: no intervals, or some");
	if (r == 0 && all.cnt) {
		oracle_waits_counted(t, class_counts,
			&(struct class){ all.items, all.cnt, latency_at(all.items, all.cnt, o.quantile),
					 INT64_MAX }, &slow);
		oracle_waits_counted(t, class_counts,
			&(struct class){ all.items, all.cnt, 0, latency_at(all.items, all.cnt, 0.5) },
			&typical);
		if (!same_edges(t, g, &slow, (const int64_t (*)[ORACLE_TIDS])typical.weight_ns))
			complain(seed, "slow: edges");
	}
	VEC_RELEASE(&all);
}

static void compare_waits(unsigned int seed, struct trace *t)
{
	struct wait_graph_options o = { .threshold = 0.2, .prefilter = 0.01 };
	_cleanup_(wait_graph_freep) struct wait_graph *g = NULL;
	struct oracle_waits expected;

	oracle_waits(t, &expected);
	if (wait_graph_new(t, &o, &g) < 0)
		complain(seed, "waits: failed");
	else if (!same_edges(t, g, &expected, NULL))
		complain(seed, "waits: edges");
	else if (!same_states(t, g, &expected))
		complain(seed, "waits: states");
}

/* ---- criticality ---- */

static void compare_criticality(unsigned int seed, struct trace *t)
{
	static const double nmins[] = { -1, 0, 1, 1.5, 2, 4 };
	double nmin = nmins[seed % 6];
	_cleanup_(criticality_freep) struct criticality *c = criticality_new(t, nmin);
	struct oracle_criticality o;
	double sum_ns = 0, path_ns = 0;

	if (nmin < 0 && c->nmin != (double)c->threads.cnt / 2)
		complain(seed, "criticality: nmin");
	oracle_criticality(t, c->nmin, &o);
	for (size_t i = 0; i < c->threads.cnt; i++) {
		sum_ns += c->threads.items[i].cmetric_ns;
		if (fabs(c->threads.items[i].cmetric_ns - o.cmetric_ns[c->threads.items[i].tid]) > 1e-5)
			complain(seed, "criticality: a thread");
	}
	for (size_t i = 0; i < c->paths.cnt; i++)
		path_ns += c->paths.items[i].cmetric_ns;
	if (c->busy_ns != o.busy_ns || fabs(sum_ns - (double)o.busy_ns) > 1e-5)
		complain(seed, "criticality: busy time");
	if (c->slices != o.slices || c->critical_slices != o.critical_slices)
		complain(seed, "criticality: slices");
	if (fabs(path_ns - o.path_ns) > 1e-5)
		complain(seed, "criticality: paths");
}

/* ---- samples ---- */

static void compare_samples(unsigned int seed, struct trace *t)
{
	int64_t period_ns = 1 + seed % 9;
	_cleanup_(blocked_samples_freep) struct blocked_samples *s = blocked_samples_new(t, period_ns);
	uint64_t expected[FUNCTIONS_MAX][SAMPLE_TYPE_CNT] = { { 0 } }, sum = 0, stacks = 0;
	int64_t length_ns = 0;

	oracle_samples(t, period_ns, expected);
	for (size_t i = 0; i < s->rows.cnt; i++) {
		const struct sample_row *r = &s->rows.items[i];
		size_t f = 0;

		while (f < t->functions.cnt &&
		       (!r->function || strcmp(t->functions.items[f].name, r->function) != 0))
			f++;
		if (r->samples == 0 || r->samples != expected[f][r->type])
			complain(seed, "samples: a row");
		expected[f][r->type] = 0;
		sum += r->samples;
	}
	for (size_t f = 0; f <= t->functions.cnt; f++)
		for (int type = 0; type < SAMPLE_TYPE_CNT; type++)
			if (expected[f][type])
				complain(seed, "samples: a missing row");
	for (size_t i = 0; i < s->stacks.cnt; i++)
		stacks += s->stacks.items[i].samples;
	for (size_t i = 0; i < t->segments.cnt; i++)
		if (kind_is_thread(kind_of(t, t->segments.items[i].tid)))
			length_ns += t->segments.items[i].end_ns - t->segments.items[i].start_ns;
	if (stacks != sum || (period_ns == 1 && (int64_t)sum != length_ns))
		complain(seed, "samples: the sum");
}

/* ---- knots ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "b a c" -> "a b c" */
static void add_sorted(struct str *to, char *text)
{
	VEC(char *) words = { NULL, 0, 0 };
	char *rest = NULL;

	for (char *w = strtok_r(text, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
		VEC_ADD(&words, w);
	if (words.cnt > 1)
		qsort(words.items, words.cnt, sizeof(*words.items), by_text);
	for (size_t i = 0; i < words.cnt; i++)
		str_addf(to, " %s", words.items[i]);
	VEC_RELEASE(&words);
}

static char *found_knots(const struct knot_graph *g)
{
	struct knots found = { { NULL, 0, 0 }, { NULL, 0, 0 } };
	struct str kinds[3] = { STR_INIT, STR_INIT, STR_INIT }, trimmed = STR_INIT, all = STR_INIT;

	knots_find(g, &found);
	for (size_t i = 0; i < found.items.cnt; i++) {
		const struct knot *k = &found.items.items[i];
		struct str *s = &kinds[k->background ? 2 : k->sink];

		for (size_t j = 0; j < k->vertices.cnt; j++)
			str_addf(s, "%s%u", j ? "," : " ", k->vertices.items[j]);
	}
	for (size_t i = 0; i < found.trimmed.cnt; i++)
		str_addf(&trimmed, " %u>%u", g->edges[found.trimmed.items[i]].from,
			 g->edges[found.trimmed.items[i]].to);
	str_addf(&all, "knots%s sinks%s background%s trimmed%s", str_cstr(&kinds[0]),
		 str_cstr(&kinds[1]), str_cstr(&kinds[2]), str_cstr(&trimmed));
	for (int i = 0; i < 3; i++)
		str_release(&kinds[i]);
	str_release(&trimmed);
	knots_release(&found);
	return str_take(&all);
}

/* The lists in any order. */
static char *in_order(const char *text)
{
	static const char *const titles[] = { "knots", " sinks", " background", " trimmed" };
	struct str s = STR_INIT;

	for (int i = 0; i < 4; i++) {
		const char *from = strstr(text, titles[i]) + strlen(titles[i]);
		const char *to = i < 3 ? strstr(from, titles[i + 1]) : from + strlen(from);
		_cleanup_(freep) char *list = xstrndup(from, (size_t)(to - from));

		str_add(&s, titles[i]);
		add_sorted(&s, list);
	}
	return str_take(&s);
}

static void compare_knots(unsigned int seed)
{
	struct random r = { seed * 104729ULL + 1 };
	struct knot_vertex vertices[16] = { { 0 } };
	struct knot_edge edges[256];
	struct knot_graph g = { .vertices = vertices, .edges = edges,
				.vertex_cnt = 1 + random_below(&r, 9) };
	uint32_t density = 5 + random_below(&r, 60);
	_cleanup_(freep) char *found = NULL, *expected = NULL, *x = NULL, *y = NULL;

	for (uint32_t v = 0; v < g.vertex_cnt; v++)
		vertices[v] = (struct knot_vertex){ .ignored = random_below(&r, 15) == 0, .outside = random_below(&r, 8) == 0,
			.foreground = random_below(&r, 4) == 0, .cpu = random_below(&r, 15) / 10.0 };
	for (uint32_t from = 0; from < g.vertex_cnt; from++)
		for (uint32_t to = 0; to < g.vertex_cnt; to++)
			if (random_below(&r, 100) < density && !vertices[from].outside)
				edges[g.edge_cnt++] = (struct knot_edge){ from, to, random_below(&r, 60) };
	g.prefilter_ns = random_below(&r, 5);
	g.threshold_ns = random_below(&r, 80);
	found = found_knots(&g);
	expected = oracle_knots(&g);
	x = in_order(found);
	y = in_order(expected);
	if (strcmp(x, y) != 0) {
		complain(seed, "knots");
		fprintf(stderr, "  found    %s\n  expected %s\n", x, y);
	}
}

int main(int argc, char **argv)
{
	unsigned int first = argc > 2 ? (unsigned int)strtoul(argv[1], NULL, 10) : 1;
	unsigned int cnt = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 10) : TRACES;

	for (unsigned int seed = first; seed < first + cnt; seed++) {
		_cleanup_(trace_freep) struct trace *t = trace_of(seed);

		compare_waits(seed, t);
		compare_slow(seed, t);
		compare_criticality(seed, t);
		compare_samples(seed, t);
		for (unsigned int i = 0; i < 10; i++)
			compare_knots(seed * 10 + i);
	}
	printf("%u traces from seed %u, %u differences\n", cnt, first, wrong);
	return wrong ? 1 : 0;
}
