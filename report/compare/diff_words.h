/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff_words.h - words changes and terms.  Private to report/compare/. */
#ifndef REPORT_COMPARE_DIFF_WORDS_H
#define REPORT_COMPARE_DIFF_WORDS_H

#include "base/str.h"
#include "report/compare/diff.h"

/* "head is worse: p99 +34 % (95 % CI +20 to +50 %); ..."; the caller frees it. */
char *diff_sentence(const struct diff_input *in, bool utf8);

/* "log_append › lock wait  (moved from a.c)"; the caller frees it. */
char *change_label(const struct change *x, bool utf8);

/* A ratio as a change: "+34 %", "-3.1 %"; "?": not known. */
const char *text_change(char buf[TEXT_MAX], double ratio);
/* "+20 to +50 %"; "" if there is none. */
const char *text_change_ci95(char buf[TEXT_MAX], bool known, const double ci95[2]);
/* "p99>+10% is violated: +34 % (95 % CI +20 to +50 %)"; the caller frees it. */
char *term_text(const struct gate_term *t, const struct comparison *c);
/* "about 12 runs a side would tell", "a verdict needs 3 runs a side"; "" if there is a verdict, or a term has no figure. */
const char *text_needed(char buf[TEXT_MAX], const struct gate *g, const struct comparison *c);

/* Words for the units of inference: "run", "host"; and, if there are too few of them: "within these runs", "of these hosts". */
const char *unit_word(const struct comparison *c);
const char *text_within(const struct comparison *c);

#endif
