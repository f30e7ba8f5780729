/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * put_aside.h - between which functions an interval lay in the queue.
 *
 * Private to analysis/.  T1 runs enqueue until 10, nobody has the interval until 30, T2 then runs handle: between enqueue and handle.
 */
#ifndef ANALYSIS_PATH_PUT_ASIDE_H
#define ANALYSIS_PATH_PUT_ASIDE_H

#include "analysis/path/critical_path.h"
#include "trace/archive.h"

struct put_aside;

struct put_aside *put_aside_new(void);
void put_aside_free(struct put_aside *s);	/* NULL is fine */

/* Adds the queue pieces of a path of folded pieces, of an interval with this weight. */
void put_aside_add(struct put_aside *s, const struct timeline *tl, const pieces *path, uint32_t weight);

/* Writes the sums, or reads some of another trace with that many functions; then adds them, functions[its own numbers]. */
void put_aside_archive(struct put_aside *s, struct archive *a, uint32_t function_cnt);
void put_aside_join(struct put_aside *to, const struct put_aside *from, const uint32_t *functions);

/* The pair with the longest time, of numbers of functions; false: there is none of which both are known.  Ties: the lower numbers. */
bool put_aside_most(const struct put_aside *s, uint32_t *ret_before, uint32_t *ret_after);

#endif
