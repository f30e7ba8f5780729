/* SPDX-License-Identifier: GPL-3.0-or-later */
/* work.h - what the amount of work explains of the variance.  Private to analysis/. */
#ifndef ANALYSIS_WORK_H
#define ANALYSIS_WORK_H

#include "analysis/pass.h"
#include "analysis/times.h"

/* f->work, work_share of factors.  times: of factors. */
void explain_by_work(const struct analysis *a, const struct times *times);

#endif
