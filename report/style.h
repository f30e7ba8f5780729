/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * style.h - numbers, bars and signs of the text views.  Private to report/.
 */
#ifndef REPORT_STYLE_H
#define REPORT_STYLE_H

#include "base/str.h"
#include "report/report.h"

/* Signs; the plain form is used where UTF-8 may not be. */
struct glyphs {
	const char *answer, *then, *ellipsis, *dot, *arrow;
	const char *branch, *last_branch, *trunk, *blank;	/* of a tree */
};
const struct glyphs *glyphs_of(const struct style *s);
const struct glyphs *glyphs_for(bool utf8);

/* Terminal sequences; "" where there is no colour. */
const char *style_bold(const struct style *s);
const char *style_wait(const struct style *s);
const char *style_end(const struct style *s);

/* Each returns a string of buf, as text_ns() does. */
const char *text_percent(char buf[TEXT_MAX], double share);		/* "62 %", "0.4 %" */
const char *text_percent_cell(char buf[TEXT_MAX], double share);	/* "62.0 %": all with one decimal */

/* A confidence interval in percent: "52 to 73", "97.1 to 98.7", "99.91 to 99.95"; half of it: "±11", "±0.8". */
const char *text_ci95(char buf[TEXT_MAX], const double ci95[2]);
const char *text_plus_minus(char buf[TEXT_MAX], const double ci95[2], bool utf8);
/* The interval, or NULL if there is none: unknown, or of the root, which is all of the variance. */
const double *ci95_to_show(bool known, const double ci95[2]);
/* Whether the share exceeds the whole by more than rounding: other parts offset some of it. */
bool share_is_above_all(double share);
/* The number before such an interval, with as many decimals: not "100 % (95 % CI 99.1 to 99.9)".  ci95 may be NULL. */
const char *text_percent_with_ci95(char buf[TEXT_MAX], double share, const double *ci95);

/* "" for 1, else "s": "%s interval%s" */
const char *plural(uint64_t cnt);

/* A bar of at most width columns for fraction 0..1; longer ones end in a sign that says so. */
void add_bar(struct str *to, double fraction, unsigned width, bool utf8);

/* A cell "server.c:28", which leads there on a terminal; empty where the file is not known. */
struct table;
void table_where(struct table *t, const struct style *s, const char *file, uint32_t line);

/* "▶ sentence" */
void print_answer(const struct style *s, const char *sentence);

/* "work: rows, bytes explain 35 % of the variance; of the rest f causes 54 %"; nothing where none was noted. */
void print_work(const struct style *s, const struct view_input *in);

/* "request · 4,000 intervals · mean ... · run 3" */
void print_heading(const struct style *s, const struct view_input *in);

#endif
