/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recorder.h - the kernel recorder: why the threads of a run were off the CPU, from the kernel.
 *
 *	recorder_open()		loads and attaches; from now on what this process forks is recorded
 *	recorder_rest()		for benchmarks: detached for a moment, attached again
 *	recorder_close()	detaches, writes what is left, says what was lost
 *
 * In between a thread of its own takes the records out, every 10 to 50 ms: nobody is woken
 * for a record.
 */
#ifndef RECORDER_RECORDER_H
#define RECORDER_RECORDER_H

#include <stdint.h>
#include <sys/types.h>
#include "base/diag.h"

struct recorder;

struct recorder_options {
	const char *path;		/* of the file; created */
	pid_t pid;			/* a process that runs already, besides what is forked; 0: none */
	uint32_t ring_bytes;		/* a power of two; 0: default */
	uint64_t limit_bytes;		/* of the file: what comes then is dropped; 0: none */
	int user_stacks, kernel_stacks;	/* as threads leave the CPU, wake somebody, and at samples */
	unsigned int samples_hz;	/* of each CPU; 0: none */
	int or_reduced;			/* where it is not permitted: when threads are off the CPU, not why */
};

struct recorder_stats {
	uint64_t records;		/* written */
	uint64_t lost_records;
	uint64_t stacks, unknown_stacks, lost_stacks;	/* unknown: of them, in no file that could be read */
	char unnamed_file[64];		/* was stripped of its symbols; "": none was */
	uint64_t unnamed_stacks;	/* that pass through it where it has no name for it; of those with a number */
	uint64_t numbered_stacks;
	uint64_t bytes_written;
	int full;			/* writing stopped there; the run went on */
	int disk_error;			/* why: ENOSPC, EDQUOT ...; 0: the limit */
};

/* -EPERM if it is not permitted, -ENOSYS if this vprof or this kernel has no recorder; the message
 * says what to do. */
int recorder_open(const struct recorder_options *o, struct recorder **ret, struct diag *reterr);

/* Whether it would: the programs are loaded and thrown away. */
int recorder_try(struct diag *reterr);

/* Only the times are recorded: what recorder_open() said about it is in its diag. */
int recorder_is_reduced(const struct recorder *r);

/* While it rests nothing is attached, so what a recording costs a server is told from one fifth of a second to the next; both
 * take milliseconds.  Who came or went meanwhile was not seen, so of such a file the times off the CPU are not true.
 * 0 or a negative errno: not all is attached again then, and what is left is to close it. */
int recorder_rest(struct recorder *r, int rest);

int recorder_close(struct recorder *r, struct recorder_stats *ret, struct diag *reterr);

#endif
