/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_wait.h - for how long threads waited for a disk, as the kernel sees it (recorder/bpf/device_waits.bpf.h).
 *
 * The table is memory of the kernel, which processes of a run of experiments with --kernel map and can only read.  So other threads
 * know of a page fault while it goes on, although no code of ours runs at its begin and its end.
 *
 *	thread 7 faults at 100, the disk wakes it at 180	from 100 on: since 100; from 180 on: since 0, total 80
 *
 * Entry 0 holds no thread, but the table's own number: a descriptor that is inherited may have become another file.
 */
#ifndef RUNTIME_SHARED_DEVICE_WAIT_H
#define RUNTIME_SHARED_DEVICE_WAIT_H

enum { DEVICE_WAITS = 16384, DEVICE_WAIT_STEPS = 8, DEVICE_WAIT_TABLE_BYTES = DEVICE_WAITS * 64 };

/* For which disk waits count: its number plus one, or one of these. */
#define DEVICE_WAIT_NONE 0U
#define DEVICE_WAIT_ANY (~0U)

struct device_wait {			/* of a thread; times are of CLOCK_MONOTONIC, in ns */
	unsigned int tid, pid;		/* as the thread sees them; 0: free */
	unsigned long long since;	/* it has waited from then on, probably for a disk that is asked for; 0: it does not */
	unsigned long long total;	/* of all such waits that are over */
	unsigned long long from, until;	/* the last one */
	unsigned long long number;	/* of the table, in entry 0 */
	unsigned long long unused[2];
};

#define DEVICE_WAIT_PLACE(tid, step) (1 + ((tid) * 0x9e3779b1U + (step)) % (DEVICE_WAITS - 1))

#endif
