/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_oracle.c - the analysis against its definitions, on thousands of random traces.
 *
 *	test_oracle [FIRST_SEED COUNT]
 *
 * Paths are compared nanosecond by nanosecond, tables and tree by name, moments as fractions,
 * factors by kind and name.  A difference prints the seed.  At the end each kind of comparison
 * is shown to notice: one value of the fast result is changed, and the comparison must fail.
 * Rows are compared both ways in which the analysis makes them, piece by piece and from sums.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "analysis/analyze.h"
#include "analysis/tree/execution_table.h"
#include "analysis/tree/variance_tree.h"
#include "base/str.h"
#include "tests/oracle/oracle.h"
#include "base/banned.h"

#define TRACES 2400

/* Changes one value of a fast result, so that a comparison has something to find. */
enum plant { PLANT_NOTHING, PLANT_PIECE, PLANT_ROW, PLANT_VARIANCE, PLANT_COVARIANCE, PLANT_SHARE,
	     PLANT_HEIGHT, PLANT_PAIR, PLANT_OTHER_PAIRS, PLANT_CNT };

static bool differs(double found, __int128 numerator, __int128 denominator)
{
	double exact = denominator ? (double)((long double)numerator / denominator) : 0;

	return fabs(found - exact) > 1e-9 * (1 + fabs(exact));
}

static bool compare_paths(const struct oracle *o, enum plant plant)
{
	_cleanup_(timeline_freep) struct timeline *tl = timeline_new(o->t);
	pieces path = { NULL, 0, 0 };
	bool same = true;

	for (size_t row = 0; row < o->row_cnt && same; row++) {
		same = critical_path(tl, o->rows[row], &path) == 0;
		if (plant == PLANT_PIECE && path.cnt > 0)
			path.items[path.cnt / 2].depth++;
		for (size_t i = 0; i < path.cnt; i++) {
			const struct piece *p = &path.items[i];

			for (int64_t ns = p->start_ns; ns < p->end_ns; ns++) {
				const struct tick *k = &o->ticks[row][ns];

				same = same && k->tid == p->tid && k->state == p->state &&
				       k->wait == p->wait && k->depth == p->depth &&
				       k->owner_tid == p->owner_tid;
			}
		}
	}
	VEC_RELEASE(&path);
	return same;
}

/* Adds ns to the row named label. */
static void add_row(execution_rows *rows, uint64_t sid, const char *label, int64_t ns)
{
	struct execution_row row = { sid, label, ns };

	for (size_t i = 0; i < rows->cnt; i++) {
		if (rows->items[i].sid == sid && strcmp(rows->items[i].label, label) == 0) {
			rows->items[i].nanoseconds += ns;
			return;
		}
	}
	VEC_ADD(rows, row);
}

static void expect_tick(const struct oracle *o, const struct tick *k, int64_t ns, uint64_t sid,
			enum charge charge, execution_rows *rows)
{
	static const char *const waits[STATE_CNT] = {
#define X(id, name) "wait:" name,
		TRACE_STATES(X)
#undef X
	};
	bool waiter = charge == CHARGE_WAITER;
	enum trace_state wait = waiter || k->wait == STATE_QUEUE ? k->wait : k->state;	/* in the queue no thread executes for it */
	uint32_t stack[ORACLE_STACK_MAX];
	size_t cnt = oracle_stack(o->t, waiter ? k->owner_tid : k->tid, ns, stack);

	if (wait != STATE_RUNNING)
		add_row(rows, sid, waits[wait], 1);
	else if (cnt == 0)
		add_row(rows, sid, "other", 1);
	if (waiter ? wait == STATE_QUEUE : wait != STATE_RUNNING)
		return;
	for (size_t i = 0; i < cnt; i++) {
		uint32_t function = o->t->invocations.items[stack[i]].function;
		bool again = false;

		for (size_t j = 0; j < i; j++)
			again |= o->t->invocations.items[stack[j]].function == function;
		if (!again)
			add_row(rows, sid, o->t->functions.items[function].name, 1);
	}
}

static bool compare_tables(struct trace *t, const struct oracle *o, enum charge charge,
			   enum plant plant)
{
	execution_rows found = { NULL, 0, 0 }, expected = { NULL, 0, 0 };
	bool same;

	execution_table(t, t->interval_names.items[o->name], charge, &found);
	for (size_t row = 0; row < o->row_cnt; row++)
		for (int64_t ns = o->rows[row]->start_ns; ns < o->rows[row]->end_ns; ns++)
			expect_tick(o, &o->ticks[row][ns], ns, o->rows[row]->sid, charge, &expected);
	if (plant == PLANT_ROW && found.cnt > 0)
		found.items[0].nanoseconds++;
	same = found.cnt == expected.cnt;
	for (size_t i = 0; i < found.cnt && same; i++) {
		bool seen = false;

		for (size_t j = 0; j < expected.cnt; j++)
			seen |= found.items[i].sid == expected.items[j].sid &&
				strcmp(found.items[i].label, expected.items[j].label) == 0 &&
				found.items[i].nanoseconds == expected.items[j].nanoseconds;
		same = seen;
	}
	VEC_RELEASE(&found);
	VEC_RELEASE(&expected);
	return same;
}

static void label_node(const struct findings *f, uint32_t id, struct str *s)
{
	const struct node *n = &f->nodes.items[id];

	if (n->parent == NODE_NONE) {
		str_add(s, f->interval.name);
		return;
	}
	label_node(f, n->parent, s);
	if (n->kind == NODE_FUNCTION)
		str_addf(s, " > %s%s%s", n->function, n->call_site ? "@" : "",
			 n->call_site ? n->call_site : "");
	else if (n->kind == NODE_BODY)
		str_add(s, " > body");
	else if (n->kind == NODE_WAIT)
		str_addf(s, " > wait:%s", trace_state_name(n->wait));
	else
		str_addf(s, " > by %s%s%s%s%s%s", n->function ? n->function : "?", n->is_wait ? "/" : "",
			 n->is_wait ? trace_state_name(n->wait) : "", n->device ? " (" : "",
			 n->device ? n->device : "", n->device ? ")" : "");
}

static const struct oracle_node *node_in_oracle(const struct oracle *o, const struct findings *f,
						uint32_t id)
{
	_cleanup_(str_release) struct str label = STR_INIT;

	label_node(f, id, &label);
	for (size_t i = 0; i < o->nodes.cnt; i++)
		if (o->nodes.items[i].shown && strcmp(o->nodes.items[i].label, str_cstr(&label)) == 0)
			return &o->nodes.items[i];
	return NULL;
}

static bool same_node(const struct oracle *o, const struct node *n, const struct oracle_node *e)
{
	__int128 count = (__int128)o->row_cnt, variance_t, sum = 0, present = 0;

	variance_t = oracle_covariance(o->nodes.items[0].ns, o->nodes.items[0].ns, o->row_cnt);
	for (size_t i = 0; i < o->row_cnt; i++) {
		sum += e->ns[i];
		present += e->present[i];
	}
	return !differs(n->mean_ns, sum, count) &&
	       !differs(n->variance_ns2, oracle_covariance(e->ns, e->ns, o->row_cnt), count * count) &&
	       !differs(n->share, oracle_covariance(e->ns, o->nodes.items[0].ns, o->row_cnt),
			variance_t) &&
	       !differs(n->presence, present, count) &&
	       !differs(n->calls_per_interval, (__int128)e->calls, count) &&
	       n->open == ((n->kind == NODE_FUNCTION || n->kind == NODE_BODY) &&
			   e->function < o->t->functions.cnt && o->open[e->function]);
}

static bool compare_trees(const struct oracle *o, struct findings *f, enum plant plant)
{
	size_t shown = 0, siblings = 0;

	if (plant == PLANT_VARIANCE)
		f->nodes.items[f->nodes.cnt - 1].variance_ns2 += 0.001;
	if (plant == PLANT_COVARIANCE && f->covariances.cnt > 0)
		f->covariances.items[0].covariance_ns2 += 0.001;
	for (size_t i = 0; i < o->nodes.cnt; i++) {
		shown += o->nodes.items[i].shown;
		for (size_t j = 1; j < i; j++)
			siblings += o->nodes.items[i].shown && o->nodes.items[j].shown &&
				    o->nodes.items[i].parent == o->nodes.items[j].parent;
	}
	if (f->nodes.cnt != shown || f->covariances.cnt != siblings ||
	    f->root_height != o->root_height)
		return false;
	for (uint32_t i = 0; i < f->nodes.cnt; i++) {
		const struct oracle_node *e = node_in_oracle(o, f, i);

		if (!e || !same_node(o, &f->nodes.items[i], e))
			return false;
	}
	for (size_t i = 0; i < f->covariances.cnt; i++) {
		const struct covariance *c = &f->covariances.items[i];
		const struct oracle_node *a = node_in_oracle(o, f, c->a);
		const struct oracle_node *b = node_in_oracle(o, f, c->b);

		if (f->nodes.items[c->a].parent != c->parent || c->a >= c->b ||
		    differs(c->covariance_ns2, oracle_covariance(a->ns, b->ns, o->row_cnt),
			    (__int128)o->row_cnt * (__int128)o->row_cnt))
			return false;
	}
	return true;
}

static bool above_itself(const struct oracle *o, const struct oracle_node *n)
{
	for (int i = n->parent; i >= 0; i = o->nodes.items[i].parent)
		if (o->nodes.items[i].function == n->function &&
		    o->nodes.items[i].kind == NODE_FUNCTION)
			return true;
	return false;
}

static bool belongs_to(const struct oracle *o, const struct oracle_node *n, const struct factor *x)
{
	static const enum node_kind kinds[] = {
		[FACTOR_FUNCTION] = NODE_FUNCTION, [FACTOR_BODY] = NODE_BODY,
		[FACTOR_WAIT] = NODE_WAIT,
	};
	const char *function = oracle_function(o, n->function);

	return n->shown && n->kind == kinds[x->kind] &&
	       (function ? x->function && strcmp(function, x->function) == 0 : !x->function) &&
	       (n->kind != NODE_WAIT || n->wait == x->wait);
}

static uint32_t expected_height(const struct oracle *o, const struct factor *x, uint32_t function)
{
	if (x->kind == FACTOR_WAIT)
		return 0;
	if (function == FUNCTION_NONE)
		return o->root_height;
	return x->kind == FACTOR_FUNCTION || o->open[function] ? o->heights[function] : 0;
}

/* Sum of Var over its nodes, with the covariances of siblings that are both its own. */
static __int128 paper_sum(const struct oracle *o, const struct factor *x)
{
	__int128 sum = 0;

	for (size_t i = 1; i < o->nodes.cnt; i++) {
		const struct oracle_node *a = &o->nodes.items[i];

		if (!belongs_to(o, a, x))
			continue;
		sum += oracle_covariance(a->ns, a->ns, o->row_cnt);
		for (size_t j = 1; j < i; j++)
			if (belongs_to(o, &o->nodes.items[j], x) &&
			    o->nodes.items[j].parent == a->parent)
				sum += 2 * oracle_covariance(a->ns, o->nodes.items[j].ns, o->row_cnt);
	}
	return sum;
}

static bool same_factor(const struct oracle *o, const struct factor *x)
{
	int64_t ns[ORACLE_ROWS_MAX] = { 0 };
	const int64_t *latency = o->nodes.items[0].ns;
	__int128 variance_t = oracle_covariance(latency, latency, o->row_cnt);
	uint32_t function = FUNCTION_NONE, height;
	double because = 0;

	for (size_t i = 1; i < o->nodes.cnt; i++) {
		const struct oracle_node *n = &o->nodes.items[i];

		if (!belongs_to(o, n, x))
			continue;
		function = n->function;
		for (size_t row = 0; row < o->row_cnt; row++)
			ns[row] += n->kind == NODE_FUNCTION && above_itself(o, n) ? 0 : n->ns[row];
	}
	for (size_t i = 0; i < x->because_of.cnt; i++)
		because += x->because_of.items[i].share;
	height = expected_height(o, x, function);
	return !differs(x->share, oracle_covariance(ns, latency, o->row_cnt), variance_t) &&
	       !differs(x->variance_share, oracle_covariance(ns, ns, o->row_cnt), variance_t) &&
	       !differs(x->paper_contribution, paper_sum(o, x), variance_t) &&
	       x->height == height &&
	       x->specificity == (o->root_height > height
					  ? pow(o->root_height - (double)height, 2) : 0) &&
	       (x->because_of.cnt == 0 || fabs(because - x->share) < 1e-9);
}

static bool is_root(const struct oracle *o, const struct oracle_node *n)
{
	return n->kind == NODE_FUNCTION && n->function == o->root_function;
}

/* "f", "body of f", "wait:lock in f", "wait:queue", "body": both ways of the pair's names. */
static bool has_label(const struct oracle *o, const struct oracle_node *n, const char *label)
{
	const char *function = oracle_function(o, n->function);
	_cleanup_(str_release) struct str s = STR_INIT;

	if (n->kind == NODE_FUNCTION)
		str_add(&s, function);
	else if (n->kind == NODE_BODY)
		str_addf(&s, "body%s%s", function ? " of " : "", function ? function : "");
	else
		str_addf(&s, "wait:%s%s%s", trace_state_name(n->wait), function ? " in " : "",
			 function ? function : "");
	return strcmp(str_cstr(&s), label) == 0;
}

/* n^2 * 2 Cov over all siblings, or over those that the pair names. */
static __int128 sibling_sum(const struct oracle *o, const struct factor *pair)
{
	__int128 sum = 0;

	for (size_t i = 1; i < o->nodes.cnt; i++) {
		const struct oracle_node *a = &o->nodes.items[i];

		for (size_t j = 1; j < o->nodes.cnt; j++) {
			const struct oracle_node *b = &o->nodes.items[j];

			if (i == j || a->parent != b->parent || !a->shown || !b->shown ||
			    a->kind == NODE_BLAME || is_root(o, a) || is_root(o, b))
				continue;
			/* Each two siblings come by in both orders; a pair's names in one. */
			if (pair ? has_label(o, a, pair->functions[0]) &&
				   has_label(o, b, pair->functions[1]) : true)
				sum += (pair ? 2 : 1) * oracle_covariance(a->ns, b->ns, o->row_cnt);
		}
	}
	return sum;
}

/* Every pair by its names, and all that covaries is in a pair or folded into a factor. */
static bool same_pairs(const struct oracle *o, const struct findings *f)
{
	const int64_t *latency = o->nodes.items[0].ns;
	__int128 variance_t = oracle_covariance(latency, latency, o->row_cnt);
	__int128 variances = 0;
	double all = 0;

	for (size_t i = 1; i < o->nodes.cnt; i++) {
		const struct oracle_node *n = &o->nodes.items[i];

		if (n->shown && n->kind != NODE_BLAME && !is_root(o, n))
			variances += oracle_covariance(n->ns, n->ns, o->row_cnt);
	}
	for (size_t i = 0; i < f->factors.cnt; i++) {
		const struct factor *x = &f->factors.items[i];

		all += x->paper_contribution;
		if (x->kind == FACTOR_PAIR &&
		    (differs(x->share, sibling_sum(o, x), variance_t) ||
		     x->share != x->paper_contribution || x->share != x->variance_share))
			return false;
	}
	/* Pairs below a millionth are left out, hence the wider limit. */
	return variance_t == 0 ||
	       fabs(all - (double)((long double)(variances + sibling_sum(o, NULL)) /
				   variance_t)) < 1e-3;
}

static bool compare_factors(const struct oracle *o, struct findings *f, enum plant plant)
{
	size_t members = 0, expected = 0;

	if (plant == PLANT_SHARE && f->factors.cnt > 0)
		f->factors.items[0].share += 0.001;
	if (plant == PLANT_HEIGHT && f->factors.cnt > 0)
		f->factors.items[0].height++;
	for (size_t i = 1; i < o->nodes.cnt; i++) {
		const struct oracle_node *n = &o->nodes.items[i];

		expected += n->shown && n->kind != NODE_BLAME && !is_root(o, n);
	}
	for (size_t i = 0; i < f->factors.cnt; i++) {
		const struct factor *x = &f->factors.items[i];

		if (x->kind == FACTOR_PAIR)
			continue;
		if (!same_factor(o, x))
			return false;
		for (size_t j = 1; j < o->nodes.cnt; j++)
			members += belongs_to(o, &o->nodes.items[j], x);
	}
	return members == expected && same_pairs(o, f);
}

static bool compare_pairs(const struct oracle *o, struct findings *f, enum plant plant)
{
	if (plant == PLANT_PAIR && f->part_pairs.cnt)
		f->part_pairs.items[f->part_pairs.cnt - 1].across ^= true;
	if (plant == PLANT_OTHER_PAIRS)
		f->parts.items[f->parts.cnt - 1].other_pairs += 0.001;
	return oracle_same_pairs(o, f);
}

static bool compare_all(struct trace *t, uint32_t name, enum plant plant, const char **ret_what)
{
	struct analyze_options options = { .interval = t->interval_names.items[name] };
	_cleanup_(findings_freep) struct findings *f = NULL;
	struct oracle *o;

	*ret_what = "nothing";
	if (analyze(t, &options, &f) < 0)
		return false;
	o = oracle_new(t, name);
	if (f->interval.dropped_bad_path > 0)
		*ret_what = "a bad path";
	else if (!compare_paths(o, plant))
		*ret_what = "paths";
	else if (!compare_tables(t, o, CHARGE_WAITER, plant))
		*ret_what = "table of waiters";
	else if (!compare_tables(t, o, CHARGE_WAKER, plant))
		*ret_what = "table of wakers";
	else if (o->row_cnt > 0 && !compare_trees(o, f, plant))
		*ret_what = "trees";
	else if (o->row_cnt > 0 && !compare_factors(o, f, plant))
		*ret_what = "factors";
	else if (o->row_cnt > 0 && !compare_pairs(o, f, plant))
		*ret_what = "pairs of parts";
	oracle_free(o);
	return strcmp(*ret_what, "nothing") == 0;
}

/* Everything is known in a simulated program: nothing may be left unexplained. */
static bool all_explained(struct trace *t)
{
	execution_rows rows = { NULL, 0, 0 };
	bool clean = true;

	execution_table(t, "req", CHARGE_WAKER, &rows);
	for (size_t i = 0; i < rows.cnt; i++)
		clean = clean && strcmp(rows.items[i].label, "wait:other") != 0 &&
			strcmp(rows.items[i].label, "wait:lock") != 0 &&
			strcmp(rows.items[i].label, "wait:cond") != 0;
	VEC_RELEASE(&rows);
	return clean;
}

static unsigned int compare_seeds(unsigned int first, unsigned int cnt)
{
	unsigned int wrong = 0;

	for (unsigned int seed = first; seed < first + cnt; seed++) {
		enum random_style style = seed % 2 ? RANDOM_PROGRAM : RANDOM_ANY;
		_cleanup_(trace_freep) struct trace *t = random_trace(seed, style);
		const char *what;

		for (uint32_t name = 0; name < t->interval_names.cnt; name++) {
			if (!compare_all(t, name, PLANT_NOTHING, &what)) {
				fprintf(stderr, "seed %u: interval %u: %s differ\n", seed, name, what);
				wrong++;
			}
		}
		if (style == RANDOM_PROGRAM && !all_explained(t)) {
			fprintf(stderr, "seed %u: a wait is left unexplained\n", seed);
			wrong++;
		}
	}
	return wrong;
}

/* Each planted mistake must be found in most traces (some have nothing to change). */
static unsigned int notices_plants(void)
{
	unsigned int wrong = 0;

	for (int plant = PLANT_PIECE; plant < PLANT_CNT; plant++) {
		unsigned int found = 0;

		for (unsigned int seed = 1; seed < 40; seed += 2) {
			_cleanup_(trace_freep) struct trace *t = random_trace(seed, RANDOM_PROGRAM);
			const char *what;

			found += !compare_all(t, 0, (enum plant)plant, &what);
		}
		if (found < 15) {
			fprintf(stderr, "planted mistake %d was found in %u of 20 traces\n", plant,
				found);
			wrong++;
		}
	}
	return wrong;
}

int main(int argc, char **argv)
{
	unsigned int first = argc > 2 ? (unsigned int)strtoul(argv[1], NULL, 10) : 1;
	unsigned int cnt = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 10) : TRACES;
	unsigned int wrong = compare_seeds(first, cnt);

	vtree_unfold_limit = 0;		/* what long waits are summed by, for all of them */
	wrong += compare_seeds(first, cnt);
	wrong += notices_plants();
	printf("%u traces from seed %u, %u differences\n", cnt, first, wrong);
	return wrong ? 1 : 0;
}
