/* SPDX-License-Identifier: GPL-3.0-or-later */
/* causal.h - what `vprof causal` was asked for.  Private to cmd/causal/. */
#ifndef CMD_CAUSAL_CAUSAL_H
#define CMD_CAUSAL_CAUSAL_H

#include "analysis/causal/experiments.h"
#include "base/proc.h"
#include "store/store.h"

struct causal_request {
	struct args targets;		/* of the user's; none: chosen */
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

/* Both return the exit status; the answer is on stdout. */
int causal_predict(const struct causal_request *q, const char *run);
int causal_measure(const struct causal_request *q, char *const *command);

/* Prints what was found of that run, and says in which way that is an answer: the exit status. */
int causal_print(const struct causal_request *q, const struct run *run, struct experiments *e);

#endif
