/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_report_round.c - what iterate says of one of its runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "base/banned.h"
#include "report/iteration/iteration.h"
#include "tests/unit/report/report_check.h"
#include "tests/unit/sample_findings.h"

/* The refinement of sample_server(): it looks below the wait of log_append, the rest is settled. */
static struct refinement sample_refinement(struct refine_verdict *verdicts)
{
	struct refinement r = { .options = { .max_runs = 12 }, .cost = 0.013 };

	verdicts[0] = (struct refine_verdict){ .factor = 0, .kind = REFINE_VERDICT_DEEPER };
	verdicts[1] = (struct refine_verdict){ .factor = 1, .needed = 1200 };
	r.verdicts.items = verdicts;
	r.verdicts.cnt = 2;
	return r;
}

static char *text_of_round(const struct round *r)
{
	struct style style = { .width = 100, .utf8 = true };
	char *text = NULL;
	size_t len = 0;

	style.out = open_memstream(&text, &len);
	assert_non_null(style.out);
	round_text(&style, r);
	fclose(style.out);
	return text;
}

static void test_round(void **state)
{
	_cleanup_(findings_freep) struct findings *f = sample_server();
	const char *added[] = { "log_append", "flush_log" };
	struct refine_verdict verdicts[2];
	struct refinement refinement = sample_refinement(verdicts);
	struct round r = {
		.number = 2, .run = &sample_run, .findings = f, .refinement = &refinement, .recorded_cnt = 4,
		.gate = 1, .added = { added, 2, 2 }, .variance_before_ns2 = f->interval.variance_ns2 * 2,
	};

	(void)state;
	want_text("round", text_of_round(&r));
}

/* Twice is +100 %; what is beyond ten times has no percent; a tenth is not reported. */
static void test_drift(void **state)
{
	static const struct { double before, now; const char *words; } cases[] = {
		{ 0, 100, NULL }, { 100, 109, NULL }, { 100, 200, "(variance +100 % against" },
		{ 100, 50, "(variance -50 % against" }, { 100, 999, "(variance +899 % against" },
		{ 100, 1000, "(variance 10 times that of the run before)" },
		{ 1, 123.56, "(variance 124 times that of" },
	};
	_cleanup_(findings_freep) struct findings *f = sample_server();
	struct refinement refinement = { .options = { .max_runs = 12 } };
	struct round r = { .number = 2, .run = &sample_run, .findings = f, .refinement = &refinement, .gate = 1 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(freep) char *text = NULL;

		r.variance_before_ns2 = cases[i].before;
		f->interval.variance_ns2 = cases[i].now;
		text = text_of_round(&r);
		if (cases[i].words)
			assert_non_null(strstr(text, cases[i].words));
		else
			assert_null(strstr(text, "(variance"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round),
		cmocka_unit_test(test_drift),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
