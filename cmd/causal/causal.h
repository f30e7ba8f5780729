/* SPDX-License-Identifier: GPL-3.0-or-later */
/* causal.h - the options of one `vprof causal`.  Private to cmd/causal/. */
#ifndef CMD_CAUSAL_CAUSAL_H
#define CMD_CAUSAL_CAUSAL_H

#include "analysis/causal/experiments.h"
#include "base/proc.h"
#include "store/store.h"

struct causal_request {
	struct args targets;		/* named by the user; none: chosen by vprof */
	VEC(double) speedups;		/* ascending */
	bool has_metric;
	enum gain_metric metric;
	const char *interval;		/* NULL: not given */
	const char *name;		/* of the run; NULL: none */
	int64_t for_ns;			/* 0: not given */
	unsigned k;
	uint64_t seed;			/* 0: not given */
	pid_t pid;			/* 0: none */
	bool virtual_clock, kernel, json;
	const char *currency;		/* auto, sleep, cpu */
};

/* Both print the answer to stdout and return the exit status. */
int causal_predict(const struct causal_request *q, const char *run);
int causal_measure(const struct causal_request *q, char *const *command);

/* Prints the results e of that run.  Returns the exit status that they call for. */
int causal_print(const struct causal_request *q, const struct run *run, struct experiments *e);

#endif
