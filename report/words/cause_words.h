/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cause_words.h - words a cause summed over the tree.  Private to report/.
 */
#ifndef REPORT_WORDS_CAUSE_WORDS_H
#define REPORT_WORDS_CAUSE_WORDS_H

#include <stdbool.h>

#include "analysis/findings/findings.h"
#include "base/str.h"

/* "flush_log", "waiting for a CPU", "the disk", "unknown"; the caller frees it. */
char *cause_label(const struct summed_cause *c);

/* " (server.c:41)"; nothing where it is not known. */
void add_place(struct str *to, const char *file, uint32_t line);

/* "sleep wait", "io wait for the disk", "running time"; "" if the label says it already. */
char *cause_state(const struct summed_cause *c);

/* "lock wait in log_append", through which it acts; "" if it acts directly. */
char *cause_through(const struct summed_cause *c);

/* ": log_append › lock wait because of flush_log, which sleeps"; nothing where there is nothing to add. */
void cause_add_how(struct str *to, const struct findings *f, const struct summed_cause *c, bool utf8);

/* Of an unknown cause: adds why it is unknown, and what would name it. */
void cause_add_why_unknown(struct str *to, const struct findings *f, const struct summed_cause *c, bool utf8);

/* The thread idles in its loop, for an unknown file or connection, while a request waits for its turn. */
bool cause_is_parked(const struct summed_cause *c);

#endif
