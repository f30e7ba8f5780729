/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sums_of.h - sums of a trace, for the tests of digest/. */
#ifndef TESTS_UNIT_DIGEST_SUMS_OF_H
#define TESTS_UNIT_DIGEST_SUMS_OF_H

#include <string.h>
#include "analysis/summed/summed.h"
#include "digest/digest.h"
#include "tests/unit/cmocka_all.h"
#include "trace/tuples/tuples.h"

static inline struct summed *sum_up(struct trace *t, int64_t window_ns, int64_t started_ns)
{
	_cleanup_(analyzer_freep) struct analyzer *a = analyzer_new();
	const struct summed_source source = { .machine = "ab12", .boot = "cd34", .host = "h1", .container = "", .build = "", .run = "7",
					      .started_ns = started_ns };
	struct summed *s = NULL;

	trace_sort(t);
	analyzer_sum_up(a, window_ns);
	analyzer_add(a, &(struct analysis_window){ t, INT64_MIN, INT64_MAX });
	assert_int_equal(analyzer_summed(a, t, &source, &s), 0);
	return s;
}

/* Through its bytes. */
static inline struct summed *copied(const struct summed *s)
{
	_cleanup_(str_release) struct str bytes = STR_INIT;
	struct diag diag = DIAG_INIT;
	struct summed *ret = NULL;

	assert_int_equal(digest_write(s, &bytes, &diag), 0);
	if (digest_parse(bytes.data, bytes.len, "it", &ret, &diag) < 0)
		fail_msg("%s", diag.text);
	return ret;
}

static inline struct trace *parsed(const char *text)
{
	struct trace *t = NULL;
	struct diag diag = DIAG_INIT;

	assert_int_equal(tuples_parse(text, strlen(text), "it", &t, &diag), 0);
	return t;
}

#endif
