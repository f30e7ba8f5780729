/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ranking.c - [iterate] k and threshold, for what shows factors and knots.
 */
#include <limits.h>
#include <math.h>

#include "base/banned.h"
#include "cmd/ranking.h"
#include "project/config/launcher_context.h"
#include "project/notices.h"
#include "report/report.h"

int ranking_take(unsigned k, double threshold, struct diag *reterr)
{
	_cleanup_(config_release) struct config config = { 0 };
	struct diag diag = DIAG_INIT;
	int r = 0;

	if (k == UINT_MAX || isnan(threshold))
		r = project_config(&config, &diag);
	if (r < 0 && diag.status != EXIT_ENVIRONMENT) {
		*reterr = diag;
		return r;
	}
	if (r < 0) {
		warn_line("%s; k and threshold are the defaults", diag.text);
		config.k = FACTORS_K_DEFAULT;
		config.threshold = FACTORS_THRESHOLD_DEFAULT;
	}
	view_given.threshold = isnan(threshold) && config.threshold_given ? config.threshold : threshold;
	view_given.ranking.threshold = isnan(threshold) ? config.threshold : threshold;
	view_given.ranking.k = k == UINT_MAX ? config.k : k;
	return 0;
}
