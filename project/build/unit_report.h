/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unit_report.h - reports units without probes before a load runs.
 */
#ifndef PROJECT_BUILD_UNIT_REPORT_H
#define PROJECT_BUILD_UNIT_REPORT_H

#include "instrumenter/scan/scan.h"

/* A unit without probes (unit_is_uncounted()) whose source has that word, rather one that defines it; NULL. */
const struct unit *untouched_unit_with(const units *scanned, const char *name);

/* "compiled untouched: WHY", for a message; arguments of "%s: %s". */
const char *how_uncounted(const struct unit *u);
const char *why_uncounted(const struct unit *u);

size_t uncounted_cnt(const units *scanned, const struct unit **ret_first);

/* Warns of them: how many, the first few with their reasons; where a view lists the rest. */
void warn_untouched(const units *scanned);

#endif
