/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * releases.h - when each lock was let go while somebody waited for it, and by whom.
 */
#ifndef TRACE_RELEASES_H
#define TRACE_RELEASES_H

#include "trace/raw.h"

struct release {
	uint64_t object;
	int64_t ns;
	uint32_t thread;		/* index into raw.threads */
};

struct releases {
	VEC(struct release) list;	/* by object, then time */
};

/* The caller releases list. */
void releases_collect(const struct raw *r, struct releases *ret);

/* Those of object strictly between start and end: at most the first RELEASES_MOST. */
#define RELEASES_MOST 64
const struct release *releases_between(const struct releases *list, uint64_t object,
				       int64_t start_ns, int64_t end_ns, size_t *ret_cnt);

#endif
