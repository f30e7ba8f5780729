/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs compared: figures by hand, changes against the definition, functions found again, terms of a gate. */
#include <string.h>
#include "tests/unit/cmocka_all.h"

#include "analysis/compare/contrast.h"
#include "tests/unit/analysis/sides.h"
#include "base/banned.h"

static void close_to(double a, double b)
{
	if (!(fabs(a - b) <= 1e-9 * fmax(1, fabs(b))))
		fail_msg("%.17g is not %.17g", a, b);
}

/* ---- Student's t, by hand ---- */

static void contrasts(void **state)
{
	const double base[] = { 1, 2, 3 }, head[] = { 4, 4, 7 };
	struct contrast welch = contrast_of(base, 3, head, 3, false), pairs = contrast_of(base, 3, head, 3, true);
	double ci[2];

	(void)state;
	close_to(welch.diff, 3);
	close_to(welch.se, sqrt(4. / 3));
	close_to(welch.df, 3.2);
	close_to(pairs.diff, 3);
	close_to(pairs.se, sqrt(1. / 3));
	close_to(pairs.df, 2);
	contrast_ci95(&pairs, ci);			/* t of 2 degrees of freedom: 4.30265 */
	assert_true(fabs(ci[0] - (3 - 4.302653 * .5773503)) < 1e-5 && fabs(ci[1] - (3 + 4.302653 * .5773503)) < 1e-5);
	assert_true(fabs(contrast_p(&pairs, 3 - 4.302653 * .5773503, false) - .025) < 1e-6);
	assert_true(fabs(contrast_p(&pairs, 3 + 4.302653 * .5773503, true) - .025) < 1e-6);
	/* Standard error 1 with 3 runs a side, 1 away: t(22) 2.0739 sqrt(3/12) = 1.037, t(24) 2.0639 sqrt(3/13) = .9914. */
	welch = (struct contrast){ 1, 1, 4 };
	assert_int_equal(contrast_runs_needed(&welch, 0, 3, false), 13);
}

/* ---- figures of sides ---- */

static void figures(void **state)
{
	const double one[] = { 1000, 3000 }, two[] = { 4000, 12000 }, four[] = { 2000, 6000 };
	struct own_side base = { .cnt = 0 }, head = { .cnt = 0 };

	(void)state;
	/* Means 2000, 8000, 4000: their geometric mean is 4000; the head's are twice that. */
	side_add(&base, 1, run_of(one, 2, 1));
	side_add(&base, 2, run_of(two, 2, 1));
	side_add(&base, 3, run_of(four, 2, 1));
	for (int i = 0; i < 3; i++)
		side_add(&head, 4 + i, run_of(two, 2, 1));

	struct compared_side b = side_as(&base), h = side_as(&head);
	_cleanup_(comparison_freep) struct comparison *c = compare(&b, &h);

	assert_true(c->enough && c->apart && !c->paired);
	close_to(c->metrics[METRIC_MEAN].of[SIDE_BASE], 4000);
	assert_true(c->metrics[METRIC_MEAN].of[SIDE_HEAD] == 8000);	/* to the last bit: they are all alike */
	close_to(c->metrics[METRIC_MEAN].ratio, 2);
	close_to(c->metrics[METRIC_VAR].of[SIDE_BASE], 4e6);
	close_to(c->metrics[METRIC_VAR].ratio, 4);
	close_to(c->metrics[METRIC_P999].of[SIDE_BASE], 6000);
	close_to(c->changes.items[0].delta_ns2, 12e6);
	close_to(c->changes.items[0].share_of_change, 1);
	assert_int_equal(c->metrics[METRIC_MEAN].verdict, VERDICT_UNKNOWN);
	side_release(&base);
	side_release(&head);
}

static struct comparison *compare_starts(const int64_t *b_starts, const int64_t *h_starts, size_t cnt, struct own_side *base,
					 struct own_side *head)
{
	const double times[] = { 1000, 3000 };

	for (size_t i = 0; i < cnt; i++) {
		side_add(base, b_starts[i], run_of(times, 2, 1));
		side_add(head, h_starts[i], run_of(times, 2, 1));
	}

	struct compared_side b = side_as(base), h = side_as(head);

	return compare(&b, &h);
}

static void turns(void **state)
{
	static const int64_t abba[][3] = { { 1, 4, 5 }, { 2, 3, 6 } }, after[][3] = { { 1, 2, 3 }, { 4, 5, 6 } },
			     mixed[][3] = { { 1, 2, 5 }, { 3, 4, 6 } };
	struct own_side s[6] = { { .cnt = 0 } };
	struct comparison *c;

	(void)state;
	c = compare_starts(abba[0], abba[1], 3, &s[0], &s[1]);
	assert_true(c->paired && !c->apart);
	for (unsigned m = 0; m < METRIC_CNT; m++)
		assert_int_equal(c->metrics[m].verdict, VERDICT_SAME);
	comparison_free(c);
	c = compare_starts(after[0], after[1], 3, &s[2], &s[3]);
	assert_true(!c->paired && c->apart);
	comparison_free(c);
	c = compare_starts(mixed[0], mixed[1], 3, &s[4], &s[5]);
	assert_true(!c->paired && !c->apart);
	comparison_free(c);
	for (unsigned i = 0; i < 6; i++)
		side_release(&s[i]);
}

/* Two runs a side: figures that hold for these runs only; no verdict, and a gate cannot decide. */
static void few_runs(void **state)
{
	struct own_side base = { .cnt = 0 }, head = { .cnt = 0 };
	struct numbers n = { 7 };
	double times[1000];
	struct gate g;

	(void)state;
	for (int r = 0; r < 2; r++) {
		for (size_t i = 0; i < 1000; i++)
			times[i] = 1e6 * exp(.3 * numbers_normal(&n));
		side_add(&base, r, run_of(times, 1000, 1));
		for (size_t i = 0; i < 1000; i++)
			times[i] *= 3;
		side_add(&head, 10 + r, run_of(times, 1000, 1));
	}

	struct compared_side b = side_as(&base), h = side_as(&head);
	_cleanup_(comparison_freep) struct comparison *c = compare(&b, &h);

	assert_false(c->enough);
	assert_true(c->metrics[METRIC_MEAN].has_ci95 && c->metrics[METRIC_MEAN].ci95[0] > 2.5);
	assert_false(c->metrics[METRIC_P999].has_ci95);		/* a section of 100 has no p99.9 */
	for (unsigned m = 0; m < METRIC_CNT; m++)
		assert_int_equal(c->metrics[m].verdict, VERDICT_UNKNOWN);
	assert_false(c->changes.items[0].has_ci95);
	assert_int_equal(gate_parse("mean>+10%", &g, NULL), 0);
	gate_judge(&g, c);
	assert_int_equal(g.result, GATE_INCONCLUSIVE);
	assert_int_equal(g.runs_needed, 3);
	close_to(g.terms.items[0].value, c->metrics[METRIC_MEAN].ratio);
	gate_release(&g);
	side_release(&base);
	side_release(&head);
}

/* No variance before: there is a difference, but no ratio. */
static void from_nothing(void **state)
{
	const double still[] = { 1000, 1000 };
	struct own_side base = { .cnt = 0 }, head = { .cnt = 0 };
	struct gate g;

	(void)state;
	for (int r = 0; r < 3; r++) {
		const double moving[] = { 1000, 3000 + r };

		side_add(&base, 2 * r, run_of(still, 2, 1));
		side_add(&head, 10 + r, run_of(moving, 2, 1));
	}

	struct compared_side b = side_as(&base), h = side_as(&head);
	_cleanup_(comparison_freep) struct comparison *c = compare(&b, &h);

	assert_true(isnan(c->metrics[METRIC_VAR].ratio) && !c->metrics[METRIC_VAR].has_ci95);
	assert_int_equal(c->metrics[METRIC_VAR].verdict, VERDICT_WORSE);
	close_to(c->changes.items[0].delta_ns2, c->metrics[METRIC_VAR].of[SIDE_HEAD]);
	assert_int_equal(gate_parse("var>+50%, mean>+1000%", &g, NULL), 0);
	gate_judge(&g, c);
	assert_int_equal(g.terms.items[0].result, GATE_FAIL);
	assert_int_equal(g.terms.items[1].result, GATE_PASS);
	assert_int_equal(g.result, GATE_FAIL);
	gate_release(&g);
	side_release(&base);
	side_release(&head);
}

/* ---- changes against the definition ---- */

/* exp(mean log V) mean(Cov / V) of function k, from the times. */
static double definition(double (*times)[60], size_t runs, size_t functions, size_t k, bool all)
{
	size_t cnt = 60 / functions;
	double logs = 0, shares = 0;

	for (size_t r = 0; r < runs; r++) {
		double mean = 0, own = 0, var = 0, cov = 0;

		for (size_t i = 0; i < cnt; i++)
			for (size_t j = 0; j < functions; j++) {
				mean += times[r][i * functions + j] / (double)cnt;
				own += j == k ? times[r][i * functions + j] / (double)cnt : 0;
			}
		for (size_t i = 0; i < cnt; i++) {
			double t = -mean;

			for (size_t j = 0; j < functions; j++)
				t += times[r][i * functions + j];
			var += t * t / (double)cnt;
			cov += t * (times[r][i * functions + k] - own) / (double)cnt;
		}
		logs += log(var) / (double)runs;
		shares += cov / var / (double)runs;
	}
	return exp(logs) * (all ? 1 : shares);
}

static void changes(void **state)
{
	struct numbers n = { 11 };

	(void)state;
	for (int draw = 0; draw < 200; draw++) {
		static double times[SIDE_CNT][6][60];
		struct own_side sides[SIDE_CNT] = { { .cnt = 0 }, { .cnt = 0 } };
		size_t functions[SIDE_CNT], runs[SIDE_CNT];
		double sum = 0;

		for (int s = 0; s < SIDE_CNT; s++) {
			functions[s] = 1 + (size_t)(4 * numbers_uniform(&n));
			runs[s] = 1 + (size_t)(5 * numbers_uniform(&n));
			for (size_t r = 0; r < runs[s]; r++) {
				for (size_t i = 0; i < 60; i++)
					times[s][r][i] = round((1 + s) * 1000 * numbers_uniform(&n));
				side_add(&sides[s], (int64_t)r * 2 + s, run_of(times[s][r], 60 / functions[s], functions[s]));
			}
		}

		struct compared_side b = side_as(&sides[SIDE_BASE]), h = side_as(&sides[SIDE_HEAD]);
		_cleanup_(comparison_freep) struct comparison *c = compare(&b, &h);

		assert_int_equal(c->changes.cnt, functions[functions[1] > functions[0]]);
		for (size_t i = 0; i < c->changes.cnt; i++) {
			const struct change *x = &c->changes.items[i];
			size_t k = strtoul(x->function + 1, NULL, 10);

			for (int s = 0; s < SIDE_CNT; s++)
				close_to(x->of_ns2[s], k < functions[s] ? definition(times[s], runs[s], functions[s], k, false) : 0);
			close_to(x->delta_ns2, x->of_ns2[SIDE_HEAD] - x->of_ns2[SIDE_BASE]);
			assert_int_equal(x->match, k >= functions[0] ? MATCH_NEW : k >= functions[1] ? MATCH_GONE : MATCH_SAME);
			assert_true(x->has_ci95 == c->enough);
			assert_true(!x->has_ci95 || (x->ci95[0] <= x->delta_ns2 && x->delta_ns2 <= x->ci95[1]));
			assert_true(i == 0 || fabs(x->delta_ns2) <= fabs(x[-1].delta_ns2));
			sum += x->delta_ns2;
		}
		close_to(sum / c->metrics[METRIC_VAR].of[SIDE_HEAD], (c->metrics[METRIC_VAR].of[SIDE_HEAD] -
			 c->metrics[METRIC_VAR].of[SIDE_BASE]) / c->metrics[METRIC_VAR].of[SIDE_HEAD]);
		close_to(c->metrics[METRIC_VAR].of[SIDE_BASE], definition(times[0], runs[0], functions[0], 0, true));
		side_release(&sides[0]);
		side_release(&sides[1]);
	}
}

/* ---- functions found again ---- */

/* "main/a.c parse/a.c<main": functions with their callers, parents before children. */
struct place {
	const char *name, *file, *caller;
	double own_ns;
};

static struct findings *tree_of(const struct place *places, size_t cnt)
{
	struct findings *f = findings_new();

	f->interval = (struct interval_summary){ .name = "r", .cnt = 10, .mean_ns = 10, .variance_ns2 = 100, .stddev_ns = 10,
						 .p50_ns = 1, .p90_ns = 1, .p99_ns = 1 };
	VEC_ADD(&f->nodes, (struct node){ .parent = NODE_NONE, .kind = NODE_INTERVAL });
	for (uint32_t i = 0; i < cnt; i++) {
		uint32_t parent = 0;

		for (uint32_t k = 0; k < i; k++)
			if (places[i].caller && strcmp(places[k].name, places[i].caller) == 0)
				parent = k + 1;
		VEC_ADD(&f->nodes, (struct node){ .id = i + 1, .parent = parent, .kind = NODE_FUNCTION,
						  .function = places[i].name, .file = places[i].file });
		VEC_ADD(&f->parts, (struct part){ .function = places[i].name, .file = places[i].file,
						  .mean_ns = places[i].own_ns, .share = 1. / (double)cnt });
	}
	return f;
}

static const struct change *find(const struct comparison *c, const char *name)
{
	for (size_t i = 0; i < c->changes.cnt; i++)
		if (strcmp(c->changes.items[i].function, name) == 0)
			return &c->changes.items[i];
	fail_msg("no change of %s", name);
	return NULL;
}

static void expect_match(const struct comparison *c, const char *name, enum match match, const char *was, const char *was_file)
{
	const struct change *x = find(c, name);

	if (x->match != match)
		fail_msg("%s is %s, not %s", name, match_name(x->match), match_name(match));
	assert_true(!x->was == !was && (!was || strcmp(x->was, was) == 0));
	assert_true(!was || strcmp(x->was_file, was_file) == 0);
}

#define TREE(...) tree_of((const struct place[]){ __VA_ARGS__ }, sizeof((const struct place[]){ __VA_ARGS__ }) / sizeof(struct place))

static void versions(void **state)
{
	struct own_side base = { .cnt = 0 }, head = { .cnt = 0 };

	(void)state;
	side_add(&base, 1, TREE({ "serve", "a.c", NULL, 50 }, { "parse", "a.c", "serve", 5 }, { "store", "a.c", "serve", 5 },
				{ "old_name", "a.c", "store", 7 }, { "old_leaf", "a.c", "old_name", 7 }, { "dead", "b.c", "serve", 1 },
				{ "twin", "x.c", "serve", 1 }, { "twin", "y.c", "parse", 1 }));
	side_add(&head, 2, TREE({ "serve", "a.c", NULL, 10 }, { "parse", "moved.c", "serve", 5 }, { "store", "a.c", "serve", 5 },
				{ "new_name", "a.c", "store", 7 }, { "new_leaf", "a.c", "new_name", 7 },
				{ "serve_slow", "a.c", "serve", 40 }, { "other", "c.c", "serve", 1 }, { "twin", "x.c", "serve", 1 },
				{ "twin", "z.c", "serve", 1 }));

	struct compared_side b = side_as(&base), h = side_as(&head);
	_cleanup_(comparison_freep) struct comparison *c = compare(&b, &h);

	expect_match(c, "serve", MATCH_SAME, NULL, NULL);
	expect_match(c, "parse", MATCH_MOVED, "parse", "a.c");
	expect_match(c, "store", MATCH_SAME, NULL, NULL);
	expect_match(c, "new_name", MATCH_RENAMED, "old_name", "a.c");
	expect_match(c, "new_leaf", MATCH_RENAMED, "old_leaf", "a.c");
	expect_match(c, "serve_slow", MATCH_SPLIT, "serve", "a.c");
	expect_match(c, "other", MATCH_NEW, NULL, NULL);
	expect_match(c, "dead", MATCH_GONE, NULL, NULL);
	assert_int_equal(c->changes.cnt, 10);	/* 8 of the base, of which one is gone; 3 more; twin y.c moved to z.c */
	side_release(&base);
	side_release(&head);
}

/* Both were built in directories of their own: nothing moved but what did, and two of a name are distinct. */
static void two_places(void **state)
{
	struct own_side base = { .cnt = 0 }, head = { .cnt = 0 };

	(void)state;
	side_add(&base, 1, TREE({ "serve", "/ci/base/src/a.c", NULL, 10 }, { "twin", "/ci/base/src/a.c", "serve", 5 },
				{ "twin2", "/ci/base/src/b.c", "serve", 5 }, { "parse", "/ci/base/src/a.c", "serve", 5 },
				{ "old_name", "/ci/base/src/b.c", "twin2", 5 }));
	side_add(&head, 2, TREE({ "serve", "/w/src/a.c", NULL, 10 }, { "twin", "/w/src/a.c", "serve", 5 },
				{ "twin2", "/w/src/b.c", "serve", 5 }, { "parse", "/w/src/parse.c", "serve", 5 },
				{ "new_name", "/w/src/b.c", "twin2", 5 }));

	struct compared_side b = side_as(&base), h = side_as(&head);
	_cleanup_(comparison_freep) struct comparison *c = compare(&b, &h);

	expect_match(c, "serve", MATCH_SAME, NULL, NULL);
	expect_match(c, "twin", MATCH_SAME, NULL, NULL);
	expect_match(c, "twin2", MATCH_SAME, NULL, NULL);
	expect_match(c, "parse", MATCH_MOVED, "parse", "/ci/base/src/a.c");
	expect_match(c, "new_name", MATCH_RENAMED, "old_name", "/ci/base/src/b.c");
	assert_int_equal(c->changes.cnt, 5);
	side_release(&base);
	side_release(&head);
}

/* Two that went and two that came in one place: no rename is guessed. */
static void no_guess(void **state)
{
	struct own_side base = { .cnt = 0 }, head = { .cnt = 0 };

	(void)state;
	side_add(&base, 1, TREE({ "serve", "a.c", NULL, 10 }, { "a", "a.c", "serve", 5 }, { "b", "a.c", "serve", 5 }));
	side_add(&head, 2, TREE({ "serve", "a.c", NULL, 10 }, { "c", "a.c", "serve", 5 }, { "d", "a.c", "serve", 5 }));

	struct compared_side b = side_as(&base), h = side_as(&head);
	_cleanup_(comparison_freep) struct comparison *c = compare(&b, &h);

	expect_match(c, "a", MATCH_GONE, NULL, NULL);
	expect_match(c, "c", MATCH_NEW, NULL, NULL);	/* serve's own time did not fall: nothing was split off */
	assert_int_equal(c->changes.cnt, 5);
	side_release(&base);
	side_release(&head);
}

/* ---- the gate ---- */

static void terms(void **state)
{
	static const char *const bad[] = {
		"", "p99", "p99>10%", "p99>+10", "p99>+%", "p99>-10%", "p99<+10%", "p98>+10%", "p99>+10%,", ",p99>+10%", "p99>+1e2%",
		"p99>+10pt", "share:f>+5%", "share:>+5pt", "time:f>+5pt", "var<-101%", "p99>+10%%", "p99=+10%", "p99>+1.2.3%",
		"p99 > +10%", "P99>+10%", "share:f", "p99>+10%;mean>+5%", "p99>+inf%",
	};
	struct gate g;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct diag d = DIAG_INIT;

		if (gate_parse(bad[i], &g, &d) == 0)
			fail_msg("'%s' is taken for a gate", bad[i]);
		assert_int_equal(d.status, EXIT_USAGE);
		gate_release(&g);
	}
	assert_int_equal(gate_parse("p99>+10%, p99.9<-2.5%,share:f(int, long)>+5pt,time:a<b,c>::d>+20%,share:x<-1pt", &g, NULL), 0);
	assert_int_equal(g.terms.cnt, 5);
	assert_true(g.terms.items[1].metric == METRIC_P999 && g.terms.items[1].falls);
	close_to(g.terms.items[1].amount, .025);
	assert_string_equal(g.terms.items[1].text, "p99.9<-2.5%");
	assert_string_equal(g.terms.items[2].function, "f(int, long)");
	assert_string_equal(g.terms.items[3].function, "a<b,c>::d");
	assert_true(g.terms.items[3].subject == GATE_TIME && g.terms.items[4].subject == GATE_SHARE && g.terms.items[4].falls);
	gate_release(&g);
}

static void judge(struct own_side *base, struct own_side *head, const char *text, const enum gate_result *wanted)
{
	struct compared_side b = side_as(base), h = side_as(head);
	_cleanup_(comparison_freep) struct comparison *c = compare(&b, &h);
	struct gate g;

	assert_int_equal(gate_parse(text, &g, NULL), 0);
	assert_int_equal(gate_check_functions(&g, &b, &h, NULL), 0);
	gate_judge(&g, c);
	for (size_t i = 0; i < g.terms.cnt; i++)
		if (g.terms.items[i].result != wanted[i])
			fail_msg("%s: %s, %g (%g to %g)", g.terms.items[i].text, gate_result_name(g.terms.items[i].result),
				 g.terms.items[i].value, g.terms.items[i].ci95[0], g.terms.items[i].ci95[1]);
	gate_release(&g);
}

/* f0 1000 or 3000; f1 constant, then 1000 or 3000 with it: T 1000, 3000 and then twice that; its mean 2000, then 4000. */
static void judged(void **state)
{
	struct own_side base = { .cnt = 0 }, head = { .cnt = 0 };
	struct compared_side b, h;
	struct diag d = DIAG_INIT;
	struct gate g;

	(void)state;
	for (int r = 0; r < 3; r++) {
		const double before[] = { 1000, 500, 3000 + r, 500 }, after[] = { 1000, 1000, 3000 + r, 3000 };

		side_add(&base, r, run_of(before, 2, 2));
		side_add(&head, 10 + r, run_of(after, 2, 2));
	}
	judge(&base, &head, "mean>+50%,mean>+70%,var>+290%,var>+310%,share:f1>+49pt,share:f1>+51pt,share:f0<-49pt,time:f1>+290%,"
	      "time:f1>+310%,time:f0>+1%,mean<-1%", (const enum gate_result[]){
		GATE_FAIL, GATE_PASS, GATE_FAIL, GATE_PASS, GATE_FAIL, GATE_PASS, GATE_FAIL, GATE_FAIL, GATE_PASS, GATE_PASS,
		GATE_PASS });
	judge(&head, &base, "mean<-30%,mean<-50%,share:f1<-49pt,share:f1<-51pt,mean>+0%", (const enum gate_result[]){
		GATE_FAIL, GATE_PASS, GATE_FAIL, GATE_PASS, GATE_PASS });
	b = side_as(&base);
	h = side_as(&head);
	assert_int_equal(gate_parse("share:f2>+1pt", &g, NULL), 0);
	assert_true(gate_check_functions(&g, &b, &h, &d) < 0);
	assert_int_equal(d.status, EXIT_USAGE);
	assert_non_null(strstr(d.text, "share:f2>+1pt"));
	gate_release(&g);
	side_release(&base);
	side_release(&head);
}

/* Runs without any spread that change by exactly the limit: no change beyond it, whatever the logarithms round to. */
static void at_the_limit(void **state)
{
	(void)state;
	for (int percent = -99; percent <= 400; percent++) {
		struct own_side base = { .cnt = 0 }, head = { .cnt = 0 };
		char text[128];

		if (!percent)
			continue;
		for (int r = 0; r < 3; r++) {
			const double before[] = { 1000, 3000 }, after[] = { 1000 + 10 * percent, 3000 + 30 * percent };

			side_add(&base, r, run_of(before, 2, 1));
			side_add(&head, 10 + r, run_of(after, 2, 1));
		}
		if (percent > 0)
			snprintf(text, sizeof(text), "mean>+%d%%,time:f0>+%d%%,mean>+%d.99%%", percent, percent, percent - 1);
		else
			snprintf(text, sizeof(text), "mean<-%d%%,time:f0<-%d%%,mean<-%d.99%%", -percent, -percent, -percent - 1);
		judge(&base, &head, text, (const enum gate_result[]){ GATE_PASS, GATE_PASS, GATE_FAIL });
		side_release(&base);
		side_release(&head);
	}
}

/* Ratios near 1.1, 1.2, 1.3: a limit of 10 % is in the middle, and about that many runs would decide. */
static void open_term(void **state)
{
	struct own_side base = { .cnt = 0 }, head = { .cnt = 0 };
	struct gate g;

	(void)state;
	for (int r = 0; r < 3; r++) {
		const double before[] = { 1000, 3000 }, after[] = { 1100 + 100 * r, 3300 + 300 * r };

		side_add(&base, r, run_of(before, 2, 1));
		side_add(&head, 10 + r, run_of(after, 2, 1));
	}

	struct compared_side b = side_as(&base), h = side_as(&head);
	_cleanup_(comparison_freep) struct comparison *c = compare(&b, &h);

	assert_int_equal(gate_parse("mean>+10%", &g, NULL), 0);
	gate_judge(&g, c);
	assert_int_equal(g.result, GATE_INCONCLUSIVE);
	/* log 1.1, 1.2, 1.3: mean .180, s .0836, se .0482, away from log 1.1 by .0846: t(8) 2.306 .0482 sqrt(3/5) = .0861,
	 * t(10) 2.228 .0482 sqrt(3/6) = .0759. */
	assert_int_equal(g.runs_needed, 6);
	gate_release(&g);
	side_release(&base);
	side_release(&head);
}

/* Logarithms of the means 0, .1, .2 and .2448 more: t = .2448 / sqrt(2 * .01 / 3) = 2.998 of 4 degrees of freedom, p = .02.  Alone
 * that is a violation; of five terms .05 / 5 is asked for. */
static void held_down(void **state)
{
	struct own_side base = { .cnt = 0 }, head = { .cnt = 0 };

	(void)state;
	for (int r = 0; r < 3; r++) {
		double before[] = { 1e6 * exp(.1 * r), 3e6 * exp(.1 * r) }, after[] = { before[0] * exp(.2448), before[1] * exp(.2448) };

		side_add(&base, r, run_of(before, 2, 1));
		side_add(&head, 10 + r, run_of(after, 2, 1));
	}
	judge(&base, &head, "mean>+0%", (const enum gate_result[]){ GATE_FAIL });
	judge(&base, &head, "mean>+0%,mean<-50%,sd<-50%,p50<-50%,p90<-50%", (const enum gate_result[]){
		GATE_INCONCLUSIVE, GATE_PASS, GATE_PASS, GATE_PASS, GATE_PASS });
	side_release(&base);
	side_release(&head);
}

/* f calls itself: the inner call is in the outer one's time. */
static void recursion(void **state)
{
	struct own_side base = { .cnt = 0 }, head = { .cnt = 0 };

	(void)state;
	for (int r = 0; r < 3; r++) {
		struct findings *b = TREE({ "f", "a.c", NULL, 10 }), *h = TREE({ "f", "a.c", NULL, 10 });

		b->nodes.items[1].share = h->nodes.items[1].share = .6;
		VEC_ADD(&h->nodes, (struct node){ .id = 2, .parent = 1, .kind = NODE_FUNCTION, .function = "f", .file = "a.c",
						  .share = .5 });
		side_add(&base, r, b);
		side_add(&head, 10 + r, h);
	}
	judge(&base, &head, "share:f>+1pt", (const enum gate_result[]){ GATE_PASS });
	side_release(&base);
	side_release(&head);
}

/* Either side has to have three runs; of intervals that stand for several no p99.9 is made up. */
static void not_enough(void **state)
{
	const double times[] = { 1000, 3000 };
	struct own_side two = { .cnt = 0 }, three = { .cnt = 0 };
	struct compared_side b, h;
	struct findings *weighted;

	(void)state;
	for (int r = 0; r < 3; r++) {
		weighted = run_of(times, 2, 1);
		weighted->interval.cnt = 7;
		side_add(&three, r, weighted);
		if (r < 2)
			side_add(&two, 10 + r, run_of(times, 2, 1));
	}
	b = side_as(&two);
	h = side_as(&three);
	for (int turn = 0; turn < 2; turn++) {
		_cleanup_(comparison_freep) struct comparison *c = turn ? compare(&h, &b) : compare(&b, &h);

		assert_false(c->enough);
		assert_true(isnan(c->metrics[METRIC_P999].ratio) && !c->metrics[METRIC_P999].has_ci95);
	}
	side_release(&two);
	side_release(&three);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(contrasts), cmocka_unit_test(figures), cmocka_unit_test(turns), cmocka_unit_test(few_runs),
		cmocka_unit_test(from_nothing), cmocka_unit_test(changes), cmocka_unit_test(versions), cmocka_unit_test(no_guess), cmocka_unit_test(two_places),
		cmocka_unit_test(terms), cmocka_unit_test(judged),
		cmocka_unit_test(at_the_limit), cmocka_unit_test(open_term),
		cmocka_unit_test(held_down), cmocka_unit_test(recursion), cmocka_unit_test(not_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
