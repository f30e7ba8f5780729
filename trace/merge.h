/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * merge.h - several traces as one: vprof merge.
 */
#ifndef TRACE_MERGE_H
#define TRACE_MERGE_H

#include "trace/model.h"

/*
 * All that is in the parts, in a new trace that shares nothing with them.  Functions are the same where name,
 * file and line are.  Threads and intervals of different parts are different: a TID or SID that an earlier part
 * has, too, gets a number that no part has.  Times stay: intervals are in the order of their start.
 */
struct trace *traces_merge(struct trace *const *parts, size_t cnt);

#endif
