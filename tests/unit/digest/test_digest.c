/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_digest.c - digests of random runs, merged in any order and nesting, say what their merged traces say, bit for bit.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/path/timeline.h"
#include "digest/unite.h"
#include "tests/oracle/random_trace.h"
#include "tests/unit/digest/sums_of.h"
#include "trace/merge/merge.h"

enum { PARTS_MAX = 6, ROUNDS = 300 };

static struct summed *united(struct summed *const *list, size_t cnt)
{
	_cleanup_(uniter_freep) struct uniter *u = uniter_new();
	struct diag diag = DIAG_INIT;
	struct summed *ret = NULL;

	for (size_t i = 0; i < cnt; i++)
		uniter_add(u, list[i]);
	if (uniter_end(u, &ret, &diag) < 0)
		fail_msg("%s", diag.text);
	return ret;
}

/* Puts the list into another order, then joins two neighbours until one is left. */
static struct summed *united_somehow(struct summed **list, size_t cnt, struct random *r)
{
	struct summed *left[PARTS_MAX] = { NULL };

	for (size_t i = 0; i < cnt; i++)
		left[i] = copied(list[i]);
	for (size_t i = cnt; i-- > 1; ) {
		size_t k = random_below(r, (uint32_t)i + 1);
		struct summed *kept = left[i];

		left[i] = left[k];
		left[k] = kept;
	}
	while (cnt > 1) {
		size_t at = random_below(r, (uint32_t)cnt - 1);
		_cleanup_(summed_freep) struct summed *both = united(left + at, 2);

		summed_free(left[at]);
		summed_free(left[at + 1]);
		left[at] = copied(both);
		memmove(left + at + 1, left + at + 2, (cnt - at - 2) * sizeof(*left));
		cnt--;
	}
	return left[0];
}

static void assert_same_text(const char *a, const char *b)
{
	assert_string_equal(a ? a : "(none)", b ? b : "(none)");
}

static void assert_same_bits(double a, double b)
{
	if (memcmp(&a, &b, sizeof(a)) != 0 && !(a == 0 && b == 0))
		fail_msg("%.17g is not %.17g", a, b);
}

static void assert_same_nodes(const struct findings *a, const struct findings *b)
{
	assert_int_equal(a->nodes.cnt, b->nodes.cnt);
	for (size_t i = 0; i < a->nodes.cnt; i++) {
		const struct node *x = &a->nodes.items[i], *y = &b->nodes.items[i];

		assert_int_equal(x->parent, y->parent);
		assert_int_equal(x->kind, y->kind);
		assert_int_equal(x->wait, y->wait);
		assert_int_equal(x->open, y->open);
		assert_same_text(x->function, y->function);
		assert_same_text(x->file, y->file);
		assert_same_text(x->call_site, y->call_site);
		assert_same_text(x->device, y->device);
		assert_same_bits(x->mean_ns, y->mean_ns);
		assert_same_bits(x->variance_ns2, y->variance_ns2);
		assert_same_bits(x->share, y->share);
		assert_same_bits(x->calls_per_interval, y->calls_per_interval);
		assert_same_bits(x->presence, y->presence);
	}
	assert_int_equal(a->covariances.cnt, b->covariances.cnt);
	for (size_t i = 0; i < a->covariances.cnt; i++) {
		assert_int_equal(a->covariances.items[i].a, b->covariances.items[i].a);
		assert_int_equal(a->covariances.items[i].b, b->covariances.items[i].b);
		assert_same_bits(a->covariances.items[i].covariance_ns2, b->covariances.items[i].covariance_ns2);
	}
}

/* Functions that call each other in a circle share a height: where one recording has half of the circle it is higher there. */
static void assert_same_factors(const struct findings *a, const struct findings *b, bool circles)
{
	assert_int_equal(a->factors.cnt, b->factors.cnt);
	for (size_t i = 0; i < a->factors.cnt; i++) {
		const struct factor *x = &a->factors.items[i], *y = &b->factors.items[i];

		assert_same_text(x->function, y->function);
		assert_same_text(x->functions[1], y->functions[1]);
		assert_int_equal(x->kind, y->kind);
		assert_int_equal(x->wait, y->wait);
		if (!circles)
			assert_int_equal(x->height, y->height);
		assert_same_bits(x->mean_ns, y->mean_ns);
		assert_same_bits(x->share, y->share);
		assert_same_bits(x->variance_share, y->variance_share);
		assert_same_bits(x->paper_contribution, y->paper_contribution);
		if (y->has_presence)
			assert_same_bits(x->presence, y->presence);
		assert_int_equal(x->because_of.cnt, y->because_of.cnt);
		for (size_t k = 0; k < x->because_of.cnt; k++)
			assert_same_bits(x->because_of.items[k].share, y->because_of.items[k].share);
	}
}

static int by_name(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	int r = strcmp(x->function ? x->function : "", y->function ? y->function : "");

	if (r == 0)
		r = x->is_wait - y->is_wait;
	return r ? r : (int)x->wait - (int)y->wait;
}

/* They stand in order of their tails, which a digest has by buckets. */
static void assert_same_parts(struct findings *a, struct findings *b)
{
	assert_int_equal(a->parts.cnt, b->parts.cnt);
	if (a->parts.cnt > 1) {
		qsort(a->parts.items, a->parts.cnt, sizeof(*a->parts.items), by_name);
		qsort(b->parts.items, b->parts.cnt, sizeof(*b->parts.items), by_name);
	}
	for (size_t i = 0; i < a->parts.cnt; i++) {
		assert_same_text(a->parts.items[i].function, b->parts.items[i].function);
		assert_same_bits(a->parts.items[i].mean_ns, b->parts.items[i].mean_ns);
		assert_same_bits(a->parts.items[i].share, b->parts.items[i].share);
	}
}

static struct trace *random_part(unsigned int seed, enum random_style style, struct random *r)
{
	struct trace *t = random_trace(seed, style);

	for (size_t i = 0; i < t->intervals.cnt; i++)
		t->intervals.items[i].weight = random_below(r, 3) ? 1U << random_below(r, 4) : 0;
	for (size_t i = 0; seed % 5 == 0 && i < t->intervals.cnt; i++)	/* all divisible */
		t->intervals.items[i].weight = 6 * (1 + random_below(r, 3));
	return t;
}

static uint32_t function_like(struct trace *t, const struct function *f)
{
	for (uint32_t i = 0; i < t->functions.cnt; i++) {
		struct function *own = &t->functions.items[i];

		if (strcmp(own->name, f->name) == 0 && own->line == f->line && strcmp(own->file ? own->file : "", f->file ? f->file : "") == 0) {
			own->probed |= f->probed;
			own->left_out |= f->left_out;
			return i;
		}
	}
	VEC_ADD(&t->functions, *f);
	t->functions.items[t->functions.cnt - 1].name = arena_strdup(t->arena, f->name);
	t->functions.items[t->functions.cnt - 1].file = f->file ? arena_strdup(t->arena, f->file) : NULL;
	return (uint32_t)t->functions.cnt - 1;
}

/* The graph knows each call that nests. */
static void know_nestings(struct trace *t)
{
	_cleanup_(timeline_freep) struct timeline *tl = NULL;

	trace_sort(t);
	tl = timeline_new(t);
	for (size_t i = 0; i < t->invocations.cnt; i++)
		if (tl->parents[i] != INVOCATION_NONE)
			VEC_ADD(&t->calls, (struct call){ t->invocations.items[tl->parents[i]].function, t->invocations.items[i].function,
							  CALL_SITE_NONE, false });
}

/* Recordings of one build have one call graph. */
static void share_calls(struct trace *to, const struct trace *from)
{
	_cleanup_(freep) uint32_t *functions = xcalloc(from->functions.cnt + 1, sizeof(*functions));

	for (size_t i = 0; i < from->functions.cnt; i++)
		functions[i] = function_like(to, &from->functions.items[i]);
	for (size_t i = 0; i < from->calls.cnt; i++) {
		struct call c = from->calls.items[i];

		c.caller = functions[c.caller];
		c.callee = functions[c.callee];
		if (c.call_site != CALL_SITE_NONE)
			c.call_site = trace_add_string(to, &to->call_sites, from->call_sites.items[c.call_site]);
		VEC_ADD(&to->calls, c);
	}
}

static void compare(struct trace *const *parts, size_t cnt, const struct summed *sums, bool circles)
{
	_cleanup_(trace_freep) struct trace *merged = cnt > 1 ? traces_merge(parts, cnt) : NULL;
	struct trace *t = merged ? merged : parts[0];

	for (size_t i = 0; i < t->interval_names.cnt; i++) {
		struct analyze_options o = { .interval = t->interval_names.items[i] };
		_cleanup_(findings_freep) struct findings *of_trace = NULL, *of_sums = NULL;
		int r = analyze(t, &o, &of_trace);

		if (r < 0 || of_trace->interval.cnt == 0)
			continue;
		assert_int_equal(summed_findings(sums, &o, &of_sums), 0);
		assert_int_equal(of_trace->interval.cnt, of_sums->interval.cnt);
		assert_same_bits(of_trace->interval.variance_ns2, of_sums->interval.variance_ns2);
		assert_int_equal(of_trace->interval.max_ns, of_sums->interval.max_ns);
		assert_int_equal(of_trace->interval.min_ns, of_sums->interval.min_ns);
		assert_same_nodes(of_trace, of_sums);
		assert_same_factors(of_trace, of_sums, circles);
		assert_same_parts(of_trace, of_sums);
	}
}

/* Sums of any length of window, added up again, are those of the whole. */
static void compare_windows(struct trace *t, struct random *r)
{
	_cleanup_(summed_freep) struct summed *whole = sum_up(t, 0, 1), *cut = sum_up(t, 1 + random_below(r, RANDOM_TIME_MAX), 1);
	_cleanup_(summed_freep) struct summed *a = united(&whole, 1), *b = united(&cut, 1);
	_cleanup_(str_release) struct str x = STR_INIT, y = STR_INIT;

	assert_int_equal(summed_roll_up(b, 0, NULL), 0);
	for (size_t i = 0; i < b->windows.cnt; i++) {
		b->windows.items[i].from_ns = INT64_MIN;
		b->windows.items[i].until_ns = INT64_MAX;
	}
	assert_int_equal(digest_write(a, &x, NULL), 0);
	assert_int_equal(digest_write(b, &y, NULL), 0);
	assert_int_equal(x.len, y.len);
	assert_memory_equal(x.data, y.data, x.len);
}

static void test_random(void **state)
{
	struct random r = { 11 };

	(void)state;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		size_t cnt = 1 + random_below(&r, PARTS_MAX);
		struct trace *parts[PARTS_MAX];
		struct summed *sums[PARTS_MAX];
		_cleanup_(summed_freep) struct summed *flat = NULL, *nested = NULL;
		_cleanup_(str_release) struct str x = STR_INIT, y = STR_INIT;

		for (size_t i = 0; i < cnt; i++)
			parts[i] = random_part(round * PARTS_MAX + (unsigned int)i, round % 4 ? RANDOM_ANY : RANDOM_PROGRAM, &r);
		for (size_t i = 0; round % 2 && i < cnt; i++)
			know_nestings(parts[i]);
		for (size_t i = 1; i < cnt; i++)
			share_calls(parts[0], parts[i]);
		for (size_t i = 1; i < cnt; i++)
			share_calls(parts[i], parts[0]);
		for (size_t i = 0; i < cnt; i++) {
			sums[i] = sum_up(parts[i], random_below(&r, 2) ? 100 : 0, (int64_t)i);
		}
		flat = united(sums, cnt);
		nested = united_somehow(sums, cnt, &r);
		if (cnt == 1) {
			struct summed *one = nested;

			nested = united(&one, 1);
			summed_free(one);
		}
		assert_int_equal(digest_write(flat, &x, NULL), 0);
		assert_int_equal(digest_write(nested, &y, NULL), 0);
		assert_int_equal(x.len, y.len);
		assert_memory_equal(x.data, y.data, x.len);
		compare(parts, cnt, nested, cnt > 1 && round % 2 == 0);
		compare_windows(parts[0], &r);
		for (size_t i = 0; i < cnt; i++) {
			trace_free(parts[i]);
			summed_free(sums[i]);
		}
	}
}

/* Each has a part of the call graph: f calls g, g calls h, and h a function that was not recorded. */
static void test_heights(void **state)
{
	_cleanup_(trace_freep) struct trace *a = parsed("vprof-tuples 1\ninterval 1 r 7 0 7 10\nsegment 7 1 0 10 running\n"
							"invocation 7 1 f 1 9\ninvocation 7 1 g 2 5\n");
	_cleanup_(trace_freep) struct trace *b = parsed("vprof-tuples 1\ninterval 1 r 7 0 7 30\nsegment 7 1 0 30 running\n"
							"invocation 7 1 g 1 9\ninvocation 7 1 h 2 5\ncall h unseen\n");
	_cleanup_(summed_freep) struct summed *x = sum_up(a, 0, 1), *y = sum_up(b, 0, 2);
	_cleanup_(summed_freep) struct summed *both = united((struct summed *[]){ x, y }, 2);
	_cleanup_(findings_freep) struct findings *f = NULL;
	unsigned seen = 0;

	(void)state;
	assert_int_equal(summed_findings(both, &(struct analyze_options){ .interval = "r" }, &f), 0);
	for (size_t i = 0; i < f->factors.cnt; i++) {
		const struct factor *of = &f->factors.items[i];

		if (of->kind != FACTOR_FUNCTION)
			continue;
		assert_int_equal(of->height, of->function[0] == 'f' ? 3 : of->function[0] == 'g' ? 2 : 1);
		seen++;
	}
	assert_int_equal(seen, 3);
	assert_int_equal(f->root_height, 4);
}

/* Circles of calls that lead through functions which no interval meets. */
static void test_circles(void **state)
{
	static const char *const texts[] = {
		/* f calls g through u, g calls f: one circle; f calls leaf, so that both have height 1 */
		"interval 1 r 7 0 7 10\nsegment 7 1 0 10 running\ninvocation 7 1 g 1 9\ninvocation 7 1 f 2 8\ninvocation 7 1 leaf 3 4\n"
		"call f u\ncall u g\n",
		/* the same, and g is below top */
		"interval 1 r 7 0 7 20\nsegment 7 1 0 20 running\ninvocation 7 1 top 1 19\ninvocation 7 1 g 2 9\ninvocation 7 1 f 3 8\n"
		"invocation 7 1 leaf 4 5\ncall f u\ncall u w\ncall w g\ncall u far\n",
	};
	struct random r = { 5 };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		_cleanup_(freep) char *text = xasprintf("vprof-tuples 1\n%s", texts[i]);
		struct trace *t = parsed(text);
		_cleanup_(summed_freep) struct summed *s = sum_up(t, 0, 1), *same = copied(s);

		compare(&t, 1, same, false);
		trace_free(t);
	}
	for (unsigned int seed = 770000; seed < 770000 + ROUNDS; seed++) {
		struct trace *t = random_part(seed, seed % 2 ? RANDOM_ANY : RANDOM_PROGRAM, &r);
		_cleanup_(summed_freep) struct summed *s = sum_up(t, 0, 1), *same = copied(s);

		compare(&t, 1, same, false);
		trace_free(t);
	}
}

/* Twice the same is refused. */
static void test_twice(void **state)
{
	_cleanup_(trace_freep) struct trace *t = random_trace(7, RANDOM_PROGRAM);
	_cleanup_(summed_freep) struct summed *s = sum_up(t, 0, 1), *ret = NULL;
	_cleanup_(uniter_freep) struct uniter *u = uniter_new();
	struct diag diag = DIAG_INIT;

	(void)state;
	uniter_add(u, s);
	uniter_add(u, s);
	assert_int_equal(uniter_end(u, &ret, &diag), -EEXIST);
	assert_non_null(strstr(diag.text, "twice"));
}

/* By hand: T 10 + 30; f takes 4 and 9, of it its body 4 and 9. */
static void test_by_hand(void **state)
{
	static const char text[] = "vprof-tuples 1\ninterval 1 r 7 0 7 10\nsegment 7 1 0 10 running\ninvocation 7 1 f 1 5\n"
				   "interval 2 r 7 100 7 130\nsegment 7 2 100 130 running\ninvocation 7 2 f 110 119\n";
	_cleanup_(trace_freep) struct trace *t = NULL;
	_cleanup_(summed_freep) struct summed *s = NULL, *own = NULL;
	const struct summed_window *w;
	struct diag diag = DIAG_INIT;

	(void)state;
	assert_int_equal(tuples_parse(text, strlen(text), "it", &t, &diag), 0);
	own = sum_up(t, 0, 1);
	s = united(&own, 1);
	w = &s->windows.items[0];
	assert_int_equal(s->windows.cnt, 1);
	assert_int_equal(w->n, 2);
	assert_int_equal(w->max_ns, 30);
	/* interval; f, body; body of f */
	assert_int_equal(w->sums.cnt, 4);
	assert_true(w->sums.items[0].x == 40 && w->sums.items[0].xx == 1000 && w->sums.items[0].xt == 1000);
	assert_int_equal(s->places.items[w->sums.items[1].place].kind, NODE_FUNCTION);
	assert_true(w->sums.items[1].x == 13 && w->sums.items[1].xx == 97 && w->sums.items[1].xt == 310);
	assert_int_equal(w->sums.items[1].calls, 2);
	assert_true(w->sums.items[2].x == 27 && w->sums.items[2].xx == 36 + 441 && w->sums.items[2].xt == 60 + 630);
	assert_int_equal(w->pairs.cnt, 1);
	assert_true(w->pairs.items[0].xy == 4 * 6 + 9 * 21);
	assert_int_equal(w->buckets.cnt, 2);
	assert_int_equal(w->buckets.items[1].bucket, 30);
}

static void test_buckets(void **state)
{
	struct random r = { 3 };

	(void)state;
	assert_int_equal(bucket_of(7, 3), 7);
	assert_int_equal(bucket_of(15, 3), 15);
	assert_int_equal(bucket_of(16, 3), 16);
	assert_int_equal(bucket_of(17, 3), 16);
	assert_int_equal(bucket_of(32, 3), 24);
	assert_true(bucket_of(INT64_MAX, 7) < BUCKETS_MAX(7));
	for (int i = 0; i < 10000; i++) {
		int64_t ns = (int64_t)random_below(&r, UINT32_MAX) << random_below(&r, 30);

		for (unsigned bits = 3; bits <= 7; bits += 4) {
			uint32_t b = bucket_of(ns, bits);

			assert_true(bucket_from(b, bits) <= ns && ns < bucket_from(b + 1, bits));
		}
		/* edges of coarse buckets are edges of fine ones */
		assert_int_equal(bucket_of(bucket_from(bucket_of(ns, 7), 7), 3), bucket_of(ns, 3));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buckets),
		cmocka_unit_test(test_by_hand), cmocka_unit_test(test_circles),
		cmocka_unit_test(test_heights),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
