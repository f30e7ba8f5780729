/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * carrier.h - the function that carries what is below it, where functions are those of stacks.
 *
 * Private to analysis/.  What one command of a server does is in many small functions, and some of these serve all commands.  So the
 * doer is not the innermost function, but that one of a path which still has all of it to itself:
 *
 *	main > call > keys > next .30, keys > match .25, keys > copy .20, call > get > copy .02
 *	-> keys .75: call has it because of keys, next has less than half of that
 *	main > call > slow > spin > clock .80, call > quick > spin > clock .10
 *	-> slow .80: spin and clock are quick's as well
 */
#ifndef ANALYSIS_CAUSES_CARRIER_H
#define ANALYSIS_CAUSES_CARRIER_H

#include "analysis/findings/findings.h"

struct carried {			/* a leaf of the tree */
	uint32_t doer;			/* the node whose function did it; NODE_NONE: none did */
	double share;
	bool is_below;			/* the carrier is around it, or does it */
};

/* The carrier of the most; NULL: none. */
const char *find_carrier(const struct findings *f, struct carried *leaves, size_t cnt);

#endif
