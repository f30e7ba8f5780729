/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * output.h - JSON and CSV as all views, and `vprof sql`, write them.
 */
#ifndef REPORT_OUTPUT_H
#define REPORT_OUTPUT_H

#include "report/report.h"

/* { "schema": "vprof.NAME/1" } */
json_t *json_document(const char *name);

/* The same with run, interval and warnings: what every view of results starts with. */
json_t *json_results(const char *name, const struct view_input *in);

/* text as valid UTF-8; NULL is null. */
json_t *json_text(const char *text);

/* "function": and, where the run has those of several hosts, "host". */
void json_set_function(json_t *object, const struct run *run, const char *function);

/* A number of ns or ns^2: written as an integer if it is one. */
json_t *json_ns(double value);

/* Any other number, always with a point; null if it is not finite. */
json_t *json_number(double value);

json_t *json_u64(uint64_t value);
json_t *json_ci95(bool known, const double ci95[2]);		/* [low, high] or null */
json_t *json_warnings(const struct warning *items, size_t cnt);	/* [{ code, text }] */
json_t *json_wait(bool is_wait, enum trace_state wait);		/* class or null */

void json_set(json_t *object, const char *key, json_t *value);	/* takes value */
void json_add(json_t *array, json_t *value);			/* takes value */

/* Writes a value on one line, without its end: a row of a document that is too long to be built first. */
void json_write_line(FILE *out, const json_t *value);
void json_write_text(FILE *out, const char *text);		/* json_text() so written */
void json_write_compact(FILE *out, const json_t *value);	/* ... and without blanks: for programs alone */

/* Writes one text of a CSV line, quoted if necessary; NULL: empty. */
void csv_field(FILE *out, const char *text);
void csv_text(FILE *out, const char *text);	/* the same of a text that may have lines */

/* One CSV line from a format of letters: t text (NULL: empty), u uint64_t, i int64_t, d double
 * (17 digits, exact). */
void csv_line(FILE *out, const char *format, ...);

#endif
