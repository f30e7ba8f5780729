/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cpu_words.h - words whether the program's threads had CPUs, and which other processes used them.
 */
#ifndef REPORT_WORDS_CPU_WORDS_H
#define REPORT_WORDS_CPU_WORDS_H

#include "base/str.h"
#include "report/output.h"

struct cpu_claim {			/* the first cause or factor */
	bool is_runqueue;		/* time without a CPU */
	bool is_wait;			/* time of waiting, not of running */
	double share;
};
struct cpu_claim cpu_claim_of_cause(const struct summed_cause *c);
struct cpu_claim cpu_claim_of_factor(const struct factor *x);

/* Whether time in the run queue may be the real cause of what x claims. */
bool cpu_may_be_cause(const struct findings *f, struct cpu_claim x);

/* After the sentence about x: adds why the threads had no CPU, or that this may be the cause; or nothing. */
void cpu_add_reason(struct str *to, const struct findings *f, struct cpu_claim x);

/* "your threads waited 34 % ...", for the summary; NULL: there nearly always was a CPU.  The caller frees it. */
char *cpu_text(const struct findings *f);

json_t *cpu_json(const struct findings *f);

#endif
