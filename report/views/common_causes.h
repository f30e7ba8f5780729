/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * common_causes.h - what single factors do not show: parts that vary together, pairs that offset each other.
 * Private to report/.
 */
#ifndef REPORT_VIEWS_COMMON_CAUSES_H
#define REPORT_VIEWS_COMMON_CAUSES_H

#include "report/report.h"

/* A line each below the table of factors. */
void print_common(const struct style *s, const struct view_input *in);

/* The members that name a part; more may be set. */
json_t *part_json(const struct part *p);

json_t *common_causes_json(const struct findings *f);
json_t *hedges_json(const struct findings *f);
json_t *part_pairs_json(const struct findings *f);
json_t *pairs_rest_json(const struct findings *f);

#endif
