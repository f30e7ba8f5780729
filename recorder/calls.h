/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calls.h - intervals from one place of the program's code to another (bpf/calls.bpf.h): which places, and the kernel's uprobes
 * there.
 *
 *	processCommand			its entry as a start, its return as an end
 *	processCommand@entry, ...@return
 *	libfoo.so:handle		in that file of those that the process has mapped; with a slash: in that file
 *	usdt:query__start, usdt:postgresql:query__start
 *
 * A uprobe is set in a file, so every process that executes the file stops there for a moment; only those of the run are recorded.
 */
#ifndef RECORDER_CALLS_H
#define RECORDER_CALLS_H

#include "recorder/bpf/record.h"
#include "recorder/recorder_internal.h"

enum { CALL_NAME_MAX = 128 };

struct call_probe {			/* a place, and where the kernel stops there */
	struct call_place place;
	char path[4096];
	uint64_t offset, semaphore;
};

struct calls {
	struct call_probe *probes;	/* CALL_PLACES_MAX of them */
	size_t cnt;
	bool nest;			/* one function's entry and return, by thread */
	char start[CALL_NAME_MAX], end[CALL_NAME_MAX];	/* functions; "": it is a tracepoint */
	char name[2 * CALL_NAME_MAX + 8];	/* of the intervals */
	struct bpf_link *links[CALL_PLACES_MAX];
};

/* Finds the places.  Not found, or no place at all: EXIT_USAGE; no uprobes: EXIT_ENVIRONMENT.  calls_release() in any case. */
int calls_find(struct calls *c, const struct recorder_calls *wanted, pid_t pid, struct diag *reterr);
void calls_release(struct calls *c);

/* Before loading.  NULL: no such intervals are wanted. */
void calls_choose(const struct calls *c, struct record_bpf *p);

/* Sets the uprobes: 0 or a negative errno.  calls_detach() takes them off. */
int calls_attach(struct calls *c, struct record_bpf *p);
void calls_detach(struct calls *c);

#endif
