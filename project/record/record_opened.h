/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record_opened.h - names for calls from before the recording: finds the calls that threads are in when it begins or
 * resumes on their stacks, and passes them to the drainer.
 */
#ifndef PROJECT_RECORD_RECORD_OPENED_H
#define PROJECT_RECORD_RECORD_OPENED_H

#include "drainer/drainer.h"
#include "project/record/record_attach.h"
#include "store/store.h"

struct record_opened {
	struct store *store;
	const struct attach *attach;	/* NULL: none */
};

/* arg: a struct record_opened; looks at attach's processes, the child (0: none), and their descendants. */
void record_opened_look(void *arg, struct drainer *d, pid_t child);

#endif
