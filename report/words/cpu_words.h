/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cpu_words.h - whether the program's threads had CPUs, and which other processes used them, in words.
 */
#ifndef REPORT_WORDS_CPU_WORDS_H
#define REPORT_WORDS_CPU_WORDS_H

#include "base/str.h"
#include "report/output.h"

struct cpu_claim {			/* what came first: a cause, or a factor */
	bool is_runqueue;		/* it is the time without a CPU */
	bool is_wait;			/* time in which somebody waited, not running time */
	double share;
};
struct cpu_claim cpu_claim_of_cause(const struct summed_cause *c);
struct cpu_claim cpu_claim_of_factor(const struct factor *x);

/* Whether what the run's threads waited for a CPU can be what x seems to be. */
bool cpu_may_be_cause(const struct findings *f, struct cpu_claim x);

/* Behind the sentence about x: why its threads had no CPU, or that this may be the cause; or nothing. */
void cpu_add_reason(struct str *to, const struct findings *f, struct cpu_claim x);

/* "your threads waited 34 % ...", for the summary; NULL: there was nearly always a CPU.  The caller frees it. */
char *cpu_text(const struct findings *f);

json_t *cpu_json(const struct findings *f);

#endif
