/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record_requests.h - requests to a running `vprof record`, by signals.
 *
 *	SIGUSR1		a snapshot: what was recorded up to now, as a run of its own
 *	SIGUSR2		pauses the recording, or goes on with it; with a value, which of the two
 *
 * The requester reads the result in runs/NNN/recorder: "requests 2 run 9", "... paused" or "... failed".
 */
#ifndef PROJECT_RECORD_RECORD_REQUESTS_H
#define PROJECT_RECORD_RECORD_REQUESTS_H

#include <signal.h>
#include "drainer/drainer.h"
#include "store/store.h"

struct recorder;

struct record_requests {
	struct drainer_requests requests;	/* for the drainer */
	struct store *store;
	const struct run *run;
	int lock;			/* of recording_begin() */
	unsigned request_cnt;
	struct recorder *recorder;	/* it cannot pause; NULL: there is none */
	sigset_t old;			/* signals of before: for the command */
};

/* From here on the signals wait for the drainer.  Call it before other processes can know the pid to signal; after
 * release they are ignored. */
void record_requests_open(struct record_requests *q, struct store *s, const struct run *run);
void record_requests_release(struct record_requests *q);

/* Asks the recorder of a run to pause or to resume, and waits until it has.  It is no error if it has already. */
int record_ask_pause(struct store *s, const struct run *run, bool pause, struct diag *reterr);

/* Asks the recorder of a run for a snapshot, and waits for it. */
int record_ask_snapshot(struct store *s, const struct run *run, struct run *ret, struct diag *reterr);

#endif
