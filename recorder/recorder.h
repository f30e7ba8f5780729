/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recorder.h - the kernel recorder: why the threads of a run were off the CPU, from the kernel.
 *
 *	recorder_open()		loads and attaches; from now on what this process forks is recorded
 *	recorder_rest()		for benchmarks: detached for a moment, attached again
 *	recorder_close()	detaches, writes what is left, says what was lost
 *
 * In between a thread of its own takes the records out, every 10 to 50 ms: records wake no
 * thread.
 */
#ifndef RECORDER_RECORDER_H
#define RECORDER_RECORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/diag.h"

struct recorder;

struct recorder_calls {			/* intervals from one place of the code to another (calls.h) */
	const char *start, *end;	/* NULL: none are wanted */
	unsigned int key;		/* of what makes one of them: the number of an argument plus one; 0: the thread */
	const char *program;		/* the file of the places, if no process runs yet */
};

struct recorder_options {
	const char *path;		/* of the file; created */
	pid_t pid;			/* a running process to record besides forked ones; 0: none */
	uint32_t ring_bytes;		/* a power of two; 0: default */
	uint64_t limit_bytes;		/* of the file: later records are dropped; 0: none */
	int user_stacks, kernel_stacks;	/* when threads leave the CPU or wake another one, and at samples */
	unsigned int samples_hz;	/* of each CPU; 0: none */
	int exchanges;			/* requests and answers on accepted sockets */
	int for_arrivals;		/* ... only for when those of the program's own intervals arrived */
	int device_waits;		/* how long threads wait for disks, while they do (recorder_device_waits()) */
	struct recorder_calls calls;	/* ... in place of them */
	int or_reduced;			/* if not permitted, record when threads are off the CPU, not why */
};

struct recorder_stats {
	uint64_t records;		/* written */
	uint64_t lost_records;
	uint64_t stacks, unknown_stacks, lost_stacks;	/* unknown: of them, in no file that could be read */
	char unnamed_file[64];		/* was stripped of its symbols; "": none was */
	uint64_t unnamed_stacks;	/* that pass through it where it has no name for it; of those with a number */
	uint64_t numbered_stacks;
	uint64_t datagrams, asked_others;	/* that the run read; reads and writes on sockets that it did not accept */
	uint64_t unasked;		/* sends on accepted ones that answer nothing */
	uint64_t calls_without_start;	/* ends of such intervals that had not begun */
	uint64_t bytes_written;
	int full;			/* writing stopped there; the run went on */
	int disk_error;			/* why: ENOSPC, EDQUOT ...; 0: the limit */
};

/* -EPERM if it is not permitted, -ENOSYS if this vprof or this kernel has no recorder; the message
 * says what to do. */
int recorder_open(const struct recorder_options *o, struct recorder **ret, struct diag *reterr);

/* Whether recorder_open() would succeed: loads the programs and discards them. */
int recorder_try(struct diag *reterr);
/* The same with requests on sockets. */
int recorder_try_requests(struct diag *reterr);
/* Whether the kernel can say when functions of programs are called (struct recorder_calls). */
int recorder_try_calls(struct diag *reterr);

/* Whether only the times are recorded; the reason is in the diag of recorder_open(). */
int recorder_is_reduced(const struct recorder *r);

/* Detaches all programs (rest) or attaches them again; both take milliseconds.  Benchmarks alternate the two every 0.2 s to
 * measure overhead.  Threads that start or exit while detached are missed, so the off-CPU times in such a file are wrong.
 * 0 or a negative errno: some programs are not attached again then, and the caller can only close the recorder. */
int recorder_rest(struct recorder *r, int rest);

/*
 * The table of runtime/shared/device_wait.h: ret_fd, which only permits to read it, may be inherited by the run's programs; ret_number says
 * that a descriptor is of this table.  0 or a negative errno; both belong to the recorder.
 */
struct device_wait;
int recorder_device_waits(struct recorder *r, const struct device_wait **ret, int *ret_fd, uint64_t *ret_number);

/* Waits for that disk count from now on (recorder_disk_find(), or DEVICE_WAIT_... there).  Waits that are over remain counted. */
void recorder_await(struct recorder *r, uint32_t disk);

/* "vda" is what recorder_await() takes; false: there is no such disk.  A partition is not one: the kernel knows the disk of a request. */
bool recorder_disk_find(const char *name, uint32_t *ret);
/* Their names, with spaces between them. */
struct str;
void recorder_disk_names(struct str *ret);

/* Requests that are answered from now on do not count: to call before all that ending a recording takes, which they may feel. */
void recorder_end_exchanges(struct recorder *r);

int recorder_close(struct recorder *r, struct recorder_stats *ret, struct diag *reterr);

#endif
