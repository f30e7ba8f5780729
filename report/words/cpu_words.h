/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cpu_words.h - whether the program's threads had CPUs, and which other processes used them, in words.
 */
#ifndef REPORT_WORDS_CPU_WORDS_H
#define REPORT_WORDS_CPU_WORDS_H

#include "base/str.h"
#include "report/output.h"

/* Whether what the run's threads waited for a CPU can be what x, the first factor, seems to be. */
bool cpu_may_be_cause(const struct findings *f, const struct factor *x);

/* Behind the sentence about x: why its threads had no CPU, or that this may be the cause; or nothing. */
void cpu_add_reason(struct str *to, const struct findings *f, const struct factor *x);

/* "your threads waited 34 % ...", for the summary; NULL: there was nearly always a CPU.  The caller frees it. */
char *cpu_text(const struct findings *f);

json_t *cpu_json(const struct findings *f);

#endif
