/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * before_start.h - what the threads that began intervals did before, since they last waited for a connection.
 *
 * Private to analysis/.  A thread polls until 30, saves from 31 to 71 and begins an interval at 72: the request may have come at any time
 * since 30, so at most 42 went before the interval, 40 of them by save.  Only intervals whose whole time before is in
 * one window say whose time it was.
 */
#ifndef ANALYSIS_PASS_BEFORE_START_H
#define ANALYSIS_PASS_BEFORE_START_H

#include "analysis/path/timeline.h"
#include "analysis/pass/pass.h"
#include "trace/archive.h"

struct before_sums;

struct before_sums *before_sums_new(void);
void before_sums_free(struct before_sums *s);

/* before_ns: what ended by then was in an earlier window. */
void before_sums_add(struct before_sums *s, const struct timeline *tl, const struct interval *iv, int64_t before_ns);

/* Writes the sums, or reads some of another trace with that many functions; then adds them, functions[its own numbers]. */
void before_sums_archive(struct before_sums *s, struct archive *a, uint32_t function_cnt);
void before_sums_join(struct before_sums *to, const struct before_sums *from, const uint32_t *functions);

/* f->before */
void find_before_start(const struct analysis *a, struct before_sums *s);

#endif
