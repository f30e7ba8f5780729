/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diff.h - prints a comparison of runs: as text, as JSON, and for tools of continuous integration.
 *
 *	github		lines that GitHub turns into annotations, and a summary in Markdown
 *	junit		a test case for each term of the gate
 */
#ifndef REPORT_COMPARE_DIFF_H
#define REPORT_COMPARE_DIFF_H

#include "analysis/compare/compare.h"
#include "report/report.h"

struct diff_input {
	const struct comparison *comparison;
	const struct gate *gate;		/* NULL: no gate was given */
	const runs *runs[SIDE_CNT];		/* the compared runs */
	const char *label[SIDE_CNT];		/* as the user named them; NULL: base, head */
};

void diff_text(const struct style *s, const struct diff_input *in);
json_t *diff_json(const struct diff_input *in);
void diff_github(FILE *out, const struct diff_input *in);
void diff_github_summary(FILE *out, const struct diff_input *in);	/* for $GITHUB_STEP_SUMMARY */
void diff_junit(FILE *out, const struct diff_input *in);

/* Warnings about how the runs were measured. */
typedef VEC(struct warning) diff_warnings;
void diff_warn(const struct comparison *c, diff_warnings *ret);		/* the texts are constant */

#endif
