/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpu_found.h - findings about the CPUs.  Private to analysis/. */
#ifndef ANALYSIS_PASS_CPU_FOUND_H
#define ANALYSIS_PASS_CPU_FOUND_H

#include "analysis/findings/findings.h"

void find_cpu(const struct trace *t, struct findings *f);	/* f->cpu */

#endif
