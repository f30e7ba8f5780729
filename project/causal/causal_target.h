/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * causal_target.h - what a causal experiment makes virtually faster, as the user names it.
 *
 *	FUNCTION		all of its calls, with what they call; waits that another thread of the run ends are not in it
 *	body:FUNCTION		while it runs itself, and none of the probed functions that it calls
 *	io			waits that no thread of the run can end: files on disks, sleeps, connections to outside
 *	io@FUNCTION		the same, inside calls of that function
 *	lock:VARIABLE		while a thread holds the lock that is that variable, or in it
 *	lock:FUNCTION		while a thread holds a lock that calls of that function take, whoever holds it
 *
 * What cannot be made faster while the program runs is refused, with what to ask instead: a wait for a lock or of a
 * function (wait:NAME), queues (queue), the run queue (runqueue).  Refused for now: code without a probe (pc:FUNCTION),
 * waits for a device (disk:NAME).
 */
#ifndef PROJECT_CAUSAL_CAUSAL_TARGET_H
#define PROJECT_CAUSAL_CAUSAL_TARGET_H

#include "analysis/causal/experiments.h"
#include "base/alloc.h"
#include "base/diag.h"
#include "store/store.h"

struct causal_target {
	enum asked_kind kind;
	char *text;			/* as the user wrote it: "io@read_block" */
	char *name;			/* what stands after the kind: "read_block"; NULL: nothing does */
	char *file;			/* where that function is, if it is one; NULL: unknown */
	VEC(uint64_t) keys;		/* of the functions of that name (runtime/shared/probe.h) */
};

typedef VEC(struct causal_target) causal_targets;

/* Why a target cannot be asked, and what can: entries of refused[]. */
struct causal_refusal {
	char *target, *why, *instead;	/* instead: NULL if there is nothing */
};

/* Understands text only.  -EINVAL with a message: it is no target. */
int causal_target_parse(const char *text, struct causal_target *ret, struct diag *reterr);

/*
 * Finds its functions among those that the last build gave a probe, and says whether it may be asked.  0: it may.  1: it may not,
 * *ret_refusal says why.  Negative: an error.
 */
int causal_target_find(struct store *s, struct causal_target *t, struct causal_refusal *ret_refusal, struct diag *reterr);

/* lock:VARIABLE: whether the program has it is seen when it runs (lock_names.h). */
bool causal_target_is_variable(const struct causal_target *t);

void causal_target_release(struct causal_target *t);
void causal_targets_release(causal_targets *list);
void causal_refusal_release(struct causal_refusal *r);

#endif
