/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * suggest_interval.h - where a request may begin and end, from the last build: `vprof annotate --suggest`.
 *
 * A request is read from a socket and answered to one.  Functions whose text calls read(), recv() and their like are readers, those that
 * call write(), send() and their like are writers.  A function from which calls lead to both, while none of its callees does,
 * answers what it reads:
 *
 *	handle_command calls read, get_key and write		--start handle_command --end handle_command
 *	loop calls on_readable (reads) and on_writable (writes)	--start on_readable --end on_writable, with a key
 *
 * Where several of its callees do, too, a request is what a loop that polls or accepts calls for one of its connections, or what a
 * thread that begins with a connection, or a library's callback, does with it; from there down while a single callee leads to both:
 *
 *	main accepts and calls serve; serve calls get_request, send_error, which both may read and write	--start serve --end serve
 */
#ifndef PROJECT_BUILD_SUGGEST_INTERVAL_H
#define PROJECT_BUILD_SUGGEST_INTERVAL_H

#include "store/store.h"

struct suggestion {
	const char *start, *end;	/* functions; the project's */
	const char *file;		/* of start */
	uint32_t line;
	bool needs_key;			/* two functions: a value that both know identifies the request */
	uint32_t rank;			/* 0: a loop or a thread calls it for a connection; 1: a library does; 2: it is the lowest */
	size_t below;			/* of rank 0: functions that it leads to: more, the more of what is served */
	uint32_t height;		/* calls from it down to where it reads and writes: the lower, the closer to one request */
};
typedef VEC(struct suggestion) suggestions;

/* Best first, at most most. */
void suggest_intervals(const struct project *p, size_t most, suggestions *ret);

#endif
