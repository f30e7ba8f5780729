/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * carrier.h - the functions that carry what is below them, where functions are those of stacks.
 *
 * Private to analysis/.  The work of one command of a server is in many small functions, and some of these serve all commands.  So the
 * doer is not the innermost function.  It is the lowest function that still has nearly all of what is one cause.  In a function:
 *
 *	one of what it calls, wherever, has nearly all of the cause, and	that is it, and the same is asked there; the highest is first
 *	does not serve others as well
 *	each of what it calls has as much of the share as of the time,	it is the cause: they are slow because it is called
 *	as far as can be told
 *	else									they are several causes: what follows is asked of each
 *
 *	share and time	main > call > keys > next .56 10, keys > match .37 7, call > get .02 80
 *	-> keys .93 of 17, get .02: call has it because of keys; next and match have of it what they have of the time
 *	share and time	main > call > slow > spin > clock .80 10, call > quick > spin > clock .01 10
 *	-> slow .80: spin and clock are quick's as well
 *
 * The outermost function, and those in which the threads wait for requests, are around all requests, and are no cause; nor is one that has
 * causes of several kinds: one runs, another waits for a disk.
 */
#ifndef ANALYSIS_CAUSES_CARRIER_H
#define ANALYSIS_CAUSES_CARRIER_H

#include "analysis/findings/block_kind.h"
#include "analysis/findings/findings.h"

struct carried {			/* a leaf of the tree */
	uint32_t doer;			/* the node whose function did it; NODE_NONE: none did */
	enum trace_state state;		/* in which it did it */
	double share, mean_ns;
	const char *carrier;		/* found: a function around it, or its own; NULL: it has no doer */
	const double *blocks;		/* of its share; unused without carrier_blocks */
};

/* What is between the share and the time of a callee may be chance: it counts from where a confidence interval excludes that. */
struct carrier_blocks {
	struct block_kind kind;
	uint64_t n;			/* intervals */
};

/* blocks: NULL if the shares have none. */
void find_carriers(const struct findings *f, const struct carrier_blocks *blocks, struct carried *leaves, size_t cnt);

#endif
