/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * causal_formats.h - what the formats of show causal share.  Private to report/; `vprof causal` prints the same document.
 */
#ifndef REPORT_VIEWS_CAUSAL_FORMATS_H
#define REPORT_VIEWS_CAUSAL_FORMATS_H

#include "report/output.h"
#include "report/style.h"

typedef VEC(double) speedup_list;

/* The experiment of that target and speedup, or NULL. */
const struct experiment *causal_find(const struct experiments *e, const char *target, double speedup);

/* Whether no experiment before it has its target. */
bool causal_is_first(const struct experiments *e, size_t i);

/* The answer in one sentence; the caller frees it. */
char *causal_sentence(const struct experiments *e);

json_t *causal_json(const struct view_input *in);
void causal_csv(FILE *out, const struct view_input *in);
void causal_svg(FILE *out, const struct view_input *in);

#endif
