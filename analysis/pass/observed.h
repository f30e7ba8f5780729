/* SPDX-License-Identifier: GPL-3.0-or-later */
/* observed.h - calls that the call graph does not know.  Private to analysis/. */
#ifndef ANALYSIS_PASS_OBSERVED_H
#define ANALYSIS_PASS_OBSERVED_H

#include "analysis/findings/findings.h"
#include "analysis/tree/nestings.h"

void find_observed_calls(const struct trace *t, const struct nestings *nestings, struct findings *f);	/* f->observed */

#endif
