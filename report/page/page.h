/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * page.h - the results of a run as one self-contained HTML file (vprof-report(1)).
 *
 *	page_edges(findings, &edges)		the positions of the brush on the latencies
 *	run_analyze_bins(..., edges, ...)	what each part took between two edges
 *	page_write(out, &input)
 *
 * The file has the sections of sections.h for which the run has data, the data in <script type="application/json">, and the
 * scripts of report/html/ that draw them.  The numbers are those of the views' JSON.  Names are shown, never executed: see page.c.
 */
#ifndef REPORT_PAGE_PAGE_H
#define REPORT_PAGE_PAGE_H

#include "report/compare/diff.h"

struct page_input {
	struct view_input view;			/* run and findings; trace NULL: it was removed */
	const struct findings *binned;		/* the findings with bins; NULL: without the trace there are none */
	const char *version;
};

/* The edges in ascending order; none if no interval was completed.  The caller frees *ret. */
size_t page_edges(const struct findings *f, int64_t **ret);

void page_write(FILE *out, const struct page_input *in);

/* The page of two sides: the document of vprof diff, and the distributions of both latencies.  findings: of in->runs. */
void page_write_comparison(FILE *out, const struct diff_input *in, struct findings *const *findings[SIDE_CNT], const char *version);

#endif
