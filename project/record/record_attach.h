/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record_attach.h - `vprof record -p PID` and `--attach RUN`: processes that run already.
 *
 * No command is started; a child of ours waits for them (or for the duration, or Control-C), so that the recording
 * ends when the child does.
 */
#ifndef PROJECT_RECORD_RECORD_ATTACH_H
#define PROJECT_RECORD_RECORD_ATTACH_H

#include "base/alloc.h"
#include "drainer/drainer.h"
#include "store/store.h"

struct attach {
	VEC(pid_t) pids;
	int64_t duration_ns;		/* 0: until they have ended */
};

void attach_release(struct attach *a);

/* The processes of a run that are still there. */
int attach_to_run(struct attach *a, struct store *s, const char *run, struct diag *reterr);

/* ret_cnt 0 without an error: none of them can be invited (*reterr says why). */
int attach_invite(const struct attach *a, struct drainer *d, unsigned *ret_cnt, struct diag *reterr);

/* In the child: returns when the recording is to end. */
void attach_wait(const struct attach *a);

#endif
