/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ranking.h - how many factors are shown, and from which share on: the command line, else vprof.conf, else the default.
 */
#ifndef CMD_RANKING_H
#define CMD_RANKING_H

#include "base/diag.h"

/*
 * Sets view_given (report/report.h).  k: UINT_MAX, threshold: NAN where the command line has none.  A mistake in vprof.conf
 * is an error; one that may not be trusted (config_open) is left out with a warning: what is shown runs none of its commands.
 */
int ranking_take(unsigned k, double threshold, struct diag *reterr);

#endif
