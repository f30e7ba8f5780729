/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lock_names.h - private to project/causal/: where in the memory of the run's programs the variables of lock:NAME and the code of pc:NAME are.
 *
 * They are names in programs and libraries; base/text/symbol.h says which names mean which symbols.
 */
#ifndef PROJECT_CAUSAL_LOCK_NAMES_H
#define PROJECT_CAUSAL_LOCK_NAMES_H

#include "drainer/experiments.h"
#include "project/causal/causal_target.h"

struct lock_names {
	const struct causal_target *targets;
	size_t target_cnt;
	uint32_t next;			/* module */
	VEC(bool) found;		/* by target */
};

/* Looks at programs and libraries that have come since the last time. */
void lock_names_look(struct lock_names *n, struct drainer *d);

/* A target whose variable was not found anywhere; NULL: there is none. */
const struct causal_target *lock_names_missing(const struct lock_names *n);

void lock_names_release(struct lock_names *n);

#endif
