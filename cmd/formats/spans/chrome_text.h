/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * chrome_text.h - the JSON of a list of events, also where the tracer was killed while it wrote.
 *
 *	[{"ph":"B"},			the "]" at the end may be absent
 *	[{"ph":"B"},{"ph":"E"		read as [{"ph":"B"}], with a warning
 *	{"traceEvents":[{"ph":"B"},	read as {"traceEvents":[{"ph":"B"}]}, with a warning
 *
 * Times are exact: 1700000000000001.123 us, which no double holds, is 1700000000000001123 ns.
 */
#ifndef CMD_FORMATS_SPANS_CHROME_TEXT_H
#define CMD_FORMATS_SPANS_CHROME_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/diag.h"

/* The caller json_decref()s *ret.  EXIT_DATA names the line: no JSON, and not only cut off. */
int chrome_text_load(const char *path, const char *text, size_t len, json_t **ret, struct diag *reterr);

/* The line in which that event begins, from 0 on; for messages about it. */
unsigned long chrome_text_line(const char *text, size_t event);

/* A time in microseconds, which some tracers write as text.  False: it is none from 0 to below CHROME_NS_MAX. */
#define CHROME_NS_MAX INT64_C(4000000000000000000)
bool chrome_text_ns(const json_t *event, const char *key, int64_t *ret);

#endif
