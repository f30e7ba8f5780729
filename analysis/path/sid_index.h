/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sid_index.h - finds where a thread last worked for an interval, without visiting later segments.
 *
 * Private to analysis/, used by timeline_others_first(): otherwise a thread with thousands of open intervals would be
 * walked segment by segment for each.
 */
#ifndef ANALYSIS_PATH_SID_INDEX_H
#define ANALYSIS_PATH_SID_INDEX_H

#include "analysis/path/timeline.h"

struct sid_index *sid_index_new(void);		/* empty; filled at its first use */
void sid_index_free(struct sid_index *x);

/* As timeline_others_first(), with no floor. */
size_t sid_index_others_first(const struct timeline *tl, uint32_t thread, size_t segment,
			      uint64_t sid);

#endif
