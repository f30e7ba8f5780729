/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sections.h - the list of the page's sections, in reading order.  Private to report/page/.
 *
 *	X(wait_graph)		section_wait_graph, in a file of this room
 *
 * A section needs its row here, a script in report/html/ that draws it (registered in report/html/main.js), and both in
 * report/local.am.
 */
#ifndef REPORT_PAGE_SECTIONS_H
#define REPORT_PAGE_SECTIONS_H

#include "report/output.h"
#include "report/page/page.h"

#define PAGE_SECTIONS(X)	\
	X(verdict)		\
	X(latency)		\
	X(tree)			\
	X(slow_vs_fast)		\
	X(over_time)		\
	X(critical_path)	\
	X(wait_graph)		\
	X(causes)		\
	X(factors)		\
	X(causal)		\
	X(method)

struct page_section {
	const char *id, *title;
	/* The data to draw; NULL: the run has none, and the page leaves out the section. */
	json_t *(*data)(const struct page_input *in, struct diag *reterr);
};

#define X(name) extern const struct page_section section_##name;
PAGE_SECTIONS(X)
#undef X

/* ---- helpers of the sections ---- */

/* Keeps the items of array for which keep[i]. */
void json_keep(json_t *array, const bool *keep);

/* For json_keep(): selects the `most` heaviest of cnt items; ties: the first ones.  The caller frees it. */
bool *keep_heaviest(const double *weights, size_t cnt, size_t most);

/* JSON without blanks; the caller frees it. */
char *json_compact_text(const json_t *value, size_t *ret_len);

/* The text as JSON, compressed (zlib), in base64: { "packed": "..." }.  For long data that only the page's scripts read. */
json_t *json_packed(const char *text, size_t len);
json_t *json_packed_value(json_t *value);		/* takes value */

/* The JSON of that view with these options.  NULL: the run lacks what the view needs, or an error (*reterr says which). */
json_t *page_view(const struct page_input *in, const char *name, const struct view_options *options, struct diag *reterr);

struct page_document {
	const char *title, *sentence, *version;
	bool compares;			/* two sides instead of one run */
	json_t *data;			/* by section, if it has data; page_write_document() frees it */
};
void page_write_document(FILE *out, const struct page_document *d);

/* Limit for the rows of a table; the page states how many rows there are in all. */
#define PAGE_ROWS_MAX 300

#endif
