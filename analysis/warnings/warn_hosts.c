/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * warn_hosts.c - the intervals are of several hosts, too few to tell how hosts differ.
 */
#include "analysis/warnings/warnings.h"

#include <inttypes.h>
#include "analysis/stats/confidence.h"
#include "base/banned.h"

void warn_few_hosts(const struct analysis *a)
{
	uint32_t cnt = analysis_host_cnt(a);

	if (cnt < 2 || cnt >= CONFIDENCE_HOSTS_MIN || analysis_blocks(a).cnt == 0)
		return;
	findings_warn(a->f, "few-hosts", "these are %" PRIu32 " hosts: the confidence intervals hold for these, not for others of their kind; "
		      "from %d on, what differs between hosts is in them", cnt, CONFIDENCE_HOSTS_MIN);
}
