/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bins.h - the scale of the latencies.  Private to report/page/; page_edges() is in page.h.
 */
#ifndef REPORT_PAGE_BINS_H
#define REPORT_PAGE_BINS_H

#include "report/page/page.h"

bool page_scale_is_log(const struct findings *f);

/* The edges without the percentiles, where bars begin.  The caller frees *ret. */
size_t page_steps(const struct findings *f, int64_t **ret);

#endif
