/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probing.h - what recording functions costs.  Private to analysis/. */
#ifndef ANALYSIS_PASS_PROBING_H
#define ANALYSIS_PASS_PROBING_H

#include "analysis/pass/pass.h"

/* f->probing; root_only: of the intervals that are. */
void measure_probing(const struct analysis *a, const struct latencies *root_only);

#endif
