/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * chrome_text.h - the JSON of a list of events, also where the tracer was killed while it wrote.
 *
 *	[{"ph":"B"},			the "]" at the end may be absent
 *	[{"ph":"B"},{"ph":"E"		read as [{"ph":"B"}], with a warning
 *	{"traceEvents":[{"ph":"B"},	read as {"traceEvents":[{"ph":"B"}]}, with a warning
 */
#ifndef CMD_FORMATS_SPANS_CHROME_TEXT_H
#define CMD_FORMATS_SPANS_CHROME_TEXT_H

#include <jansson.h>
#include "base/diag.h"

/* The caller json_decref()s *ret.  EXIT_DATA names the line: no JSON, and not only cut off. */
int chrome_text_load(const char *path, const char *text, size_t len, json_t **ret, struct diag *reterr);

#endif
