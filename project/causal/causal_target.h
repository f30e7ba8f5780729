/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * causal_target.h - the target of a causal experiment: what becomes virtually faster.
 *
 *	FUNCTION		its calls, with what they call, without the waits that another thread of the run ends
 *	body:FUNCTION		while it runs itself, without the probed functions that it calls
 *	pc:FUNCTION		while it runs itself, by the ticks that hit its code; it needs no probe
 *	io			waits that no thread of the run can end: files on disks, sleeps, connections to outside
 *	io@FUNCTION		the same, inside calls of that function
 *	lock:VARIABLE		while a thread holds the lock that is that variable, or in it
 *	lock:FUNCTION		while a thread holds a lock that calls of that function take, whoever holds it
 *
 *	disk:NAME		waits for that disk, as the kernel sees them: of calls, and of page faults
 *
 * An experiment refuses what cannot become faster while the program runs, and says what to ask instead: a wait for another thread
 * (wait:NAME), queues (queue), the run queue (runqueue).
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
	char *name;			/* the part after the kind: "read_block"; NULL: there is none */
	uint32_t disk;			/* of disk:NAME (recorder_disk_find()) */
	char *file;			/* of the function; NULL: not a function, or unknown */
	VEC(uint64_t) keys;		/* of the functions of that name (runtime/shared/probe.h) */
};

typedef VEC(struct causal_target) causal_targets;

/* Why a target cannot be asked, and what can be: an entry of refused[]. */
struct causal_refusal {
	char *target, *why, *instead;	/* instead: NULL if nothing can be */
};

/* Parses text only.  -EINVAL with a message: text is not a target. */
int causal_target_parse(const char *text, struct causal_target *ret, struct diag *reterr);

/*
 * Finds the target's functions among those that the last build gave a probe.  Returns 0 if the target may be asked, 1 if not
 * (*ret_refusal says why), negative on an error.
 */
int causal_target_find(struct store *s, struct causal_target *t, struct causal_refusal *ret_refusal, struct diag *reterr);

/* Whether it can only be asked with the kernel's recorder. */
bool causal_target_needs_kernel(const struct causal_target *t);

/* lock:VARIABLE, pc:FUNCTION: whether the program has it is seen when it runs (lock_names.h). */
bool causal_target_is_symbol(const struct causal_target *t);

void causal_target_release(struct causal_target *t);
void causal_targets_release(causal_targets *list);
void causal_refusal_release(struct causal_refusal *r);

#endif
