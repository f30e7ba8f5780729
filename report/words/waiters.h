/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * waiters.h - functions without a probe that waited, listed below the factor of the wait (struct waiter).  Private to report/.
 */
#ifndef REPORT_WORDS_WAITERS_H
#define REPORT_WORDS_WAITERS_H

#include "report/output.h"
#include "report/style.h"

/* "lock_slow", "wait_inside of libother.so", "libother.so". */
void add_waiter(struct str *to, const struct waiter *w);

/* "handle › lock wait: 62 % in lock_slow, which carries no probe (vprof iterate records it next)"; one line for each whose share
 * is at least threshold. */
void print_waiters(const struct style *s, const struct findings *f, double threshold);

/* The waiters of a wait; an empty list for any other factor. */
json_t *waiters_json(const struct findings *f, const struct factor *x);

#endif
