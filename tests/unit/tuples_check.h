/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tuples_check.h - a trace is what some tuples say.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include "tests/unit/cmocka_all.h"
#include "trace/tuples/tuples.h"

/* Does not free the trace. */
static inline void assert_trace_is(const struct trace *t, const char *expected)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(tuples_write(out, t), 0);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}
