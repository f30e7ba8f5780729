/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sentence.h - the result of a run in one sentence, and the labels of nodes and factors.
 */
#ifndef REPORT_WORDS_SENTENCE_H
#define REPORT_WORDS_SENTENCE_H

#include <stdbool.h>

#include "analysis/findings/findings.h"
#include "base/str.h"

/* "flush_log (server.c:41) causes 62 % of the variance of 'request' (95 % CI 52 to 73): log_append › lock wait (server.c:28)
 * because of flush_log, which sleeps."  The caller frees it. */
char *sentence_text(const struct findings *f, const struct select_options *r, bool utf8);

/* The cause that the sentence names, or with --paper the factor; NULL: none. */
const struct summed_cause *sentence_cause(const struct findings *f, const struct select_options *o);
const struct factor *sentence_factor(const struct findings *f, const struct select_options *o);

/* The sentence by the default ranking, with a sign in front, in the locale's characters. */
void report_sentence(const struct findings *f, struct str *ret);

/* wait_text.c: "lock wait"; of the class wakeup "wakeup delay": runnable, not yet running; "runnable time": it waited for no thread. */
const char *wait_text(enum trace_state wait);

/* "log_append › lock wait", "(queue wait)"; the caller frees it. */
char *node_label(const struct node *n, bool utf8);
char *part_label(const struct part *p, bool utf8);
char *factor_label(const struct factor *f, bool utf8);

/* sentence_json.c: the sentence of the view, and its parts. */
struct json_t;
struct view_input;
struct json_t *sentence_json(const struct view_input *in);

#endif
