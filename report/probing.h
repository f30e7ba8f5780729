/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * probing.h - what recording cost, in words and in JSON.
 */
#ifndef REPORT_PROBING_H
#define REPORT_PROBING_H

#include <jansson.h>

#include "analysis/findings/findings.h"

/* "instrumentation: +1.2 % mean (95 % CI ...), ..."; NULL if all intervals were recorded in full.
 * The caller frees it. */
char *probing_text(const struct findings *f);

/* An object, or null. */
json_t *probing_json(const struct findings *f);

/* The slowdown of the whole load: the cost times the fraction recorded in full. */
double probing_overall(const struct findings *f);

#endif
