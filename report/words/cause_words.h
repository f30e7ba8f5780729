/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cause_words.h - the texts for a cause (struct summed_cause).  Private to report/.
 */
#ifndef REPORT_WORDS_CAUSE_WORDS_H
#define REPORT_WORDS_CAUSE_WORDS_H

#include <stdbool.h>

#include "analysis/findings/findings.h"
#include "base/str.h"

/* Names it: "flush_log", "waiting for a CPU", "the disk", "unknown".  The caller frees the text. */
char *cause_label(const struct summed_cause *c);

/* Adds " (server.c:41)"; nothing if the place is not known. */
void add_place(struct str *to, const char *file, uint32_t line);

/* Names its state: "sleep wait", "io wait for the disk", "running time"; "" if the label has it already.  The caller frees the text. */
char *cause_state(const struct summed_cause *c);

/* Names the wait through which it acts: "lock wait in log_append"; "" if it acts directly.  The caller frees the text. */
char *cause_through(const struct summed_cause *c);

/* Adds how it acts: ": log_append › lock wait because of flush_log, which sleeps"; nothing if the label has that already. */
void cause_add_how(struct str *to, const struct findings *f, const struct summed_cause *c, bool utf8);

/* Adds why an unknown cause is unknown, and what would name it. */
void cause_add_why_unknown(struct str *to, const struct findings *f, const struct summed_cause *c, bool utf8);

/* Whether the cause is a thread that idles in its loop, for an unknown file or connection, while a request waits for its turn. */
bool cause_is_parked(const struct summed_cause *c);

#endif
