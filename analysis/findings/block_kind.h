/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * block_kind.h - what the blocks are that confidence intervals rest on (analysis/stats/confidence.h).
 *
 * Private to analysis/.
 */
#ifndef ANALYSIS_FINDINGS_BLOCK_KIND_H
#define ANALYSIS_FINDINGS_BLOCK_KIND_H

#include <stdbool.h>
#include <stddef.h>

struct block_kind {
	size_t cnt;			/* 0: there are too few intervals for blocks */
	bool of_hosts;			/* each is a host, or several: neighbours have nothing to do with each other */
};

#endif
