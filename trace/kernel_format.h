/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_format.h - the kernel's side of a run, kept beside the runtime's trace: kernel.vpk.
 *
 * A file of checked, compressed blocks, as format.h has them, behind a header with a magic number
 * of its own.  What the blocks unpack to are varints (encode.h):
 *
 *	KERNEL_BEGIN	1 if only the times are known, and no reason (recorder/reduced.c); ns between samples, 0: none;
 *			enum exchange_use; ns that a sample takes of the thread that it hits
 *	KERNEL_RECORDS	{ kind, tid, zigzag(ns - ns of the record before), ... }...
 *		OFF	pid, ns - out_ns, zigzag(ns - woken_ns) or 0 if !(flags & OFF_WOKEN), flags,
 *			state, syscall + 1, waker's kind, waker, lost; with OFF_ARGUMENTS three more
 *		FORK, EXEC, EXIT, SEEN	pid, other, name
 *		STACK	reason, number of the stack
 *		REQUEST	disk, ns - ns of its issue: tid, if not 0, brought it, and at ns it was done
 *		EXCHANGE	receiver, connection, port, flags, ns - start, first read - start, last read - first read, first send -
 *			last read (zigzag), last send - first send, bytes in, bytes out, sends that answered nothing; tid: the sender
 *		UPSTREAM	whether these are the first bytes since tid last waited, connection or 0, of a connection also ns - arrival
 *			and arrival - when it was asked, EXCHANGE_PATH + number of a path, or 0 and a name, HOST:PORT: at ns tid took
 *			bytes of that server, which was asked for the request of that connection
 *		PACKET	the same of a network interface: tid sent it, and at ns the driver had it
 *		KERNEL_RECORD_KIND_CNT + n	as the block's n-th OFF, STACK, REQUEST or PACKET that is told in full, from 0 on,
 *			but for the times, which follow instead of tid and all else: zigzag(ns - ...), ns - out_ns and, with
 *			OFF_WOKEN, zigzag(ns - woken_ns); of a request or packet ns - ns of its issue
 *	KERNEL_STACKS	texts, as trace/model.h has them; numbered from 0 over all such blocks
 *	KERNEL_SYSTEM	names of functions in stacks that are of system libraries
 *	KERNEL_PATHS	addresses of Unix sockets, numbered from 0: EXCHANGE_PATH + number is a port
 *	KERNEL_CALLS	the name of the intervals of port EXCHANGE_CALLS; the functions where they begin and end, if they are functions
 *	KERNEL_NAMES	{ enum kernel_waker, number, name }...
 *	KERNEL_END	start_ns, end_ns, lost records, sends on accepted sockets before anything was read, what
 *			recording an exchange takes, ends of intervals (EXCHANGE_CALLS) that had not begun, for how long exchanges were
 *			watched: the last block
 *
 * The first record of a block counts from 0.  Records come in the order in which they were made, about:
 * a thread's own are in order of time, those of two CPUs need not be.
 */
#ifndef TRACE_KERNEL_FORMAT_H
#define TRACE_KERNEL_FORMAT_H

#define KERNEL_MAGIC 0x316c6e726b7056ULL	/* "Vpkrnl1" */

enum { KERNEL_VERSION = 1 };		/* as TRACE_VERSION */

enum kernel_block_kind { KERNEL_RECORDS = 1, KERNEL_NAMES, KERNEL_END, KERNEL_BEGIN, KERNEL_STACKS, KERNEL_SYSTEM,
			 KERNEL_PATHS, KERNEL_CALLS };

enum kernel_record_kind {
	KERNEL_OFF = 1,			/* a time off the CPU */
	KERNEL_FORK,			/* tid is new; other: who made it */
	KERNEL_EXEC,			/* name: from here on */
	KERNEL_EXIT,
	KERNEL_SEEN,			/* tid was there before; other: 1 if its times are recorded, 0 if
					 * it does not belong to the run and woke one who does */
	KERNEL_STACK,			/* where tid was at that moment */
	KERNEL_REQUEST,			/* of a disk */
	KERNEL_PACKET,			/* that a network interface was given */
	KERNEL_EXCHANGE,		/* a request and its answer, on a socket that the run accepted */
	KERNEL_UPSTREAM,		/* a thread read from a server that it asks */
	KERNEL_RECORD_KIND_CNT
};

enum kernel_stack_reason {
	STACK_OUT,			/* it left the CPU */
	STACK_WAKER,			/* it woke somebody */
	STACK_SAMPLE,			/* it was on the CPU at a tick */
	STACK_REASON_CNT
};

enum kernel_off_flags {
	OFF_WOKEN = 1,			/* woken_ns is known */
	OFF_IOWAIT = 2,			/* in_iowait: a disk, or what the kernel counts as one */
	OFF_PREEMPTED = 4,		/* it did not want to go */
	OFF_NEW = 8,			/* its first time on the CPU */
	OFF_KERNEL_THREAD = 16,		/* a thread of the kernel itself */
	OFF_TASK_WAKER = 32,		/* the waker belongs to the run */
	OFF_ARGUMENTS = 64,
	OFF_OPEN = 128,			/* it was still away when the recording ended */
	OFF_FROM_IDLE = 256,		/* its CPU had nothing to do until it came back */
};

enum exchange_use {
	EXCHANGES_OFF,
	EXCHANGES_REQUESTS,		/* each is an interval */
	EXCHANGES_ARRIVALS,		/* they say when the requests arrived that the program's own intervals are about */
};

enum exchange_flags {
	EXCHANGE_ARRIVAL = 1,		/* when its first bytes arrived was seen; else it begins with the first read */
	EXCHANGE_READS = 2,		/* it took several */
	EXCHANGE_SENDERS = 4,		/* several threads sent the answer */
};

/* From here on ports are numbers of paths. */
enum { EXCHANGE_PATH = 65536 };
/* Longest name of an upstream, and how many different ones there can be; the last is for all others. */
enum { UPSTREAM_NAME_MAX = 64, UPSTREAMS_MAX = 256 };
/* No socket's at all: from one place of the program's code to another. */
enum { EXCHANGE_CALLS = 2 * EXCHANGE_PATH };

/* State bits of the kernel that mean something here. */
enum { KERNEL_STATE_INTERRUPTIBLE = 1, KERNEL_STATE_UNINTERRUPTIBLE = 2 };

enum kernel_waker {
	WAKER_TASK,			/* number: tid */
	WAKER_DISK,			/* major << 20 | minor */
	WAKER_NIC,			/* index of the interface */
	WAKER_TIMER,			/* 0 */
	WAKER_IRQ,			/* number of the interrupt */
	WAKER_SOFTIRQ,			/* its vector */
	WAKER_KIND_CNT
};

#endif
