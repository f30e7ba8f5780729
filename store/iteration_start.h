/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * iteration_start.h - the data to continue an interrupted `vprof iterate`, besides its
 * runs' plans, selections and findings: its options, the state of the sources, and the user's answers.
 */
#ifndef STORE_ITERATION_START_H
#define STORE_ITERATION_START_H

#include "store/store.h"

struct iteration_start {
	uint32_t first_run;		/* as in struct iteration */
	char *command;			/* of its runs */
	char *policy;
	uint32_t k, max_runs;
	double threshold, overhead;
	uint64_t sources, configuration;	/* hashes: texts and compile commands; vprof.conf */
};
int iteration_start_write(struct store *s, const struct iteration_start *i, struct diag *reterr);

/* -ENOENT, without a message, if there is none. */
int iteration_start_read(struct store *s, uint32_t first_run, struct iteration_start *ret,
			 struct diag *reterr);
void iteration_start_release(struct iteration_start *i);	/* also a _cleanup_ function */

/* --ask: may that function be broken down? */
struct iteration_answer {
	uint64_t function;		/* key */
	bool deeper;
};
int iteration_answer_write(struct store *s, uint32_t first_run, const struct iteration_answer *a,
			   struct diag *reterr);
typedef VEC(struct iteration_answer) iteration_answers;		/* VEC_RELEASE frees it */
int iteration_answers_read(struct store *s, uint32_t first_run, iteration_answers *ret,
			   struct diag *reterr);

#endif
