/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sentence.h - what a run found, in one sentence; and what nodes and factors are called.
 */
#ifndef REPORT_WORDS_SENTENCE_H
#define REPORT_WORDS_SENTENCE_H

#include <stdbool.h>

#include "analysis/findings/findings.h"
#include "base/str.h"

/* "log_append › lock wait causes 62 % of the variance of 'request'; because of flush_log (60 %)."
 * The caller frees it. */
char *sentence_text(const struct findings *f, const struct select_options *r, bool utf8);

/* The factor that it is about; NULL: none. */
const struct factor *sentence_factor(const struct findings *f, const struct select_options *o);

/* The same of a factor that iterate put first. */
char *sentence_about(const struct findings *f, const struct factor *x, const struct select_options *r, bool utf8);

/* The same by the default ranking, with a sign in front, in what the locale can print. */
void report_sentence(const struct findings *f, struct str *ret);

/* "lock wait"; of the class wakeup "wakeup delay": made runnable, not yet running; "runnable time": it waited for nobody. */
const char *wait_text(enum trace_state wait);

/* "log_append › lock wait", "(queue wait)"; the caller frees it. */
char *node_label(const struct node *n, bool utf8);
char *part_label(const struct part *p, bool utf8);
char *factor_label(const struct factor *f, bool utf8);

#endif
