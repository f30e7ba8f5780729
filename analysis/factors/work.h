/* SPDX-License-Identifier: GPL-3.0-or-later */
/* work.h - what the amount of work explains of the variance.  Private to analysis/. */
#ifndef ANALYSIS_FACTORS_WORK_H
#define ANALYSIS_FACTORS_WORK_H

#include "analysis/pass/pass.h"
#include "analysis/tree/times.h"

/* f->work, work_share of factors.  times: of factors. */
void explain_by_work(const struct analysis *a, const struct times *times);

#endif
