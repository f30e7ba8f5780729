/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * releases.h - when each lock was released while a thread waited for it, by which thread, and since when that one held it.
 */
#ifndef TRACE_READ_RELEASES_H
#define TRACE_READ_RELEASES_H

#include "trace/raw/raw.h"

struct release {
	uint64_t object;
	int64_t ns;
	uint32_t thread;		/* index into raw.threads */
	enum trace_event kind;		/* EVENT_RELEASE, EVENT_UNLOCK or EVENT_POST */
	int64_t taken_ns;		/* when it got the lock, if recorded after its own previous release;
					 * else INT64_MIN */
	int64_t wanted_ns;		/* since when it had waited for it; taken_ns if it did not wait */
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

/* That thread's release at that moment, or NULL. */
const struct release *releases_at(const struct releases *list, uint64_t object, uint32_t thread, int64_t ns);

#endif
