/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * resolve.h - the scan records of all units -> one list of functions and the calls between them.
 * Private to store/.
 */
#ifndef STORE_RESOLVE_H
#define STORE_RESOLVE_H

#include "base/alloc.h"
#include "base/arena.h"
#include "instrumenter/scan/scan.h"

struct resolved_call {
	uint64_t caller, callee;	/* keys */
	const char *call_site;		/* "server.c:28" */
	bool may;			/* through a pointer */
	bool is_tail;			/* as of struct scan_call */
};

struct resolved {
	struct arena *arena;
	VEC(struct scan_function) functions;	/* one per key; strings belong to the units */
	VEC(struct resolved_call) calls;	/* no two equal, except in may and is_tail */
};

/* list must outlive the result. */
void resolve_units(const units *list, struct resolved *ret);
void resolved_release(struct resolved *r);

#endif
