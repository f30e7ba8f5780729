/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_check.h - a view printed to memory, and what was expected there.
 *
 * Text is compared with tests/report/NAME.expected.  A new one is read by a person before it is
 * kept: UPDATE_EXPECTED=1 tests/unit/report/test_report writes them all.
 */
#ifndef TESTS_UNIT_REPORT_REPORT_CHECK_H
#define TESTS_UNIT_REPORT_REPORT_CHECK_H

#include "report/report.h"

extern struct run sample_run;		/* number 3, "base" */

struct view_input input_of(const struct findings *f);

/* The caller frees what these return. */
char *text_of(const char *view, const struct view_input *in, bool utf8, unsigned width);
char *csv_of(const char *view, const struct view_input *in);

/* Written and parsed back, as a program sees it; every number comes back as a real. */
json_t *json_of(const char *view, const struct view_input *in);

/* Frees text. */
void want_text(const char *name, char *text);

/* The value at a path like "factors/0/share"; NULL if it is not there. */
json_t *at(json_t *o, const char *path);

void want_string(json_t *o, const char *path, const char *value);
void want_number(json_t *o, const char *path, double value);
void want_null(json_t *o, const char *path);

#endif
