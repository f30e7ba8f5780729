/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record.h - what record.bpf.c hands over to recorder.c, through memory that both have mapped.
 *
 * One record for each time a thread was off the CPU, complete, when it comes back: an event less
 * to write, and nothing to match afterwards, than switched out, woken, switched in.  Times are
 * CLOCK_MONOTONIC; thread numbers are those that the thread itself sees.
 *
 *	thread 7 blocked in read() at 100, the disk let it go on at 180, running again at 195:
 *	{ RECORD_OFF, tid 7, ns 195, out_ns 100, woken_ns 180, waker.kind WAKER_DISK, ... }
 *
 * Where stacks are wanted there is one record for each, made at the moment it is about, with a piece of
 * the user's stack as it is: unwind.c makes functions of it, outside the kernel and the program.  One that has been
 * unwound before is recognised in the kernel (known_stack) and is a number in the record of the time off the CPU.
 */
#ifndef RECORDER_BPF_RECORD_H
#define RECORDER_BPF_RECORD_H

enum record_kind { RECORD_OFF = 1, RECORD_FORK, RECORD_EXEC, RECORD_EXIT, RECORD_SEEN, RECORD_STACK, RECORD_REQUEST };

struct record_off {
	unsigned int kind, tid, pid;
	unsigned int state;		/* of the task when it was switched out; 0: it could have run on */
	unsigned long long ns, out_ns;	/* back on the CPU; off it */
	unsigned long long woken_ns;	/* 0: nobody woke it; may be just before out_ns */
	unsigned long long argument[3];	/* of the system call, where it is a futex's or a poll */
	int syscall;			/* -1: none, a page fault or so */
	unsigned short flags;		/* OFF_... of trace/kernel_format.h */
	unsigned short waker_kind;	/* enum kernel_waker */
	unsigned int waker;		/* tid, device, interface, number of the interrupt */
	unsigned int lost;		/* records of this thread just before this one */
	unsigned int stack, waker_stack;	/* numbers plus one, as it left and as the waker woke it; 0: not known */
};

struct record_life {			/* fork, exec, exit; a thread that was there before us */
	unsigned int kind, tid, pid;
	unsigned int other;		/* fork: the parent's tid; seen: its times are recorded */
	unsigned long long ns;
	char name[16];
};

struct record_request {			/* of a disk; a packet that a network interface was given */
	unsigned int kind, tid;		/* who brought it; 0: nobody known */
	unsigned int device_kind, device;	/* enum kernel_waker, and its number */
	unsigned long long ns, issue_ns;	/* done; begun */
};

/* A place for one of those above, whose heads are alike as far as this goes. */
struct record_place {
	struct {
		unsigned int kind, tid, other[2];
		unsigned long long ns, rest[8];
	} record;
	unsigned long long committed;	/* the record's number of its CPU's, from 1 on, when it is complete */
};
_Static_assert(sizeof(struct record_off) <= sizeof(((struct record_place *)0)->record), "it has room");

struct record_segment {			/* of a CPU; a line of the cache each */
	unsigned long long reserved, not_shared[7];
	unsigned long long taken, not_shared_either[7];
};

/* How much of the user's stack: all where it is known to be no more than the last of these; else mostly the second, and the last
 * where it is known or likely to be deep; frames beyond that are `[deeper]`. */
enum { STACK_SHALLOW_BYTES = 1024, STACK_BYTES = 4096, STACK_DEEP_BYTES = 16384, STACK_PAGE_BYTES = 4096,
       STACK_KERNEL_MAX = 32 };

/* Of x86-64, in the kernel's order (struct pt_regs). */
enum stack_register {
	STACK_R15, STACK_R14, STACK_R13, STACK_R12, STACK_RBP, STACK_RBX, STACK_R11, STACK_R10,
	STACK_R9, STACK_R8, STACK_RAX, STACK_RCX, STACK_RDX, STACK_RSI, STACK_RDI, STACK_ORIG_RAX,
	STACK_RIP, STACK_CS, STACK_FLAGS, STACK_RSP, STACK_SS, STACK_REGISTER_CNT
};

struct record_stack {
	unsigned int kind, tid, pid;
	unsigned int reason;		/* enum kernel_stack_reason of trace/kernel_format.h */
	unsigned int image;		/* of the process since its last exec, told apart from all others; 0: not known */
	unsigned int driven;		/* from the CPU, in the middle of something */
	unsigned long long ns;
	unsigned int kernel_cnt;	/* return addresses in `kernel`, innermost first */
	unsigned int user_bytes;	/* from RSP on; 0: no user's stack, and no registers */
	unsigned long long kernel[STACK_KERNEL_MAX];
	unsigned long long registers[STACK_REGISTER_CNT];
	unsigned char user[STACK_DEEP_BYTES];	/* the end of it is missing where less is wanted */
};

/*
 * A stack that was unwound: where RIP and RSP are these, and all that decided how it was unwound is as it was, the
 * functions are the same (unwind.c).  In memory that the programs in the kernel and who unwinds share: one of the
 * KNOWN_ALIKE places that belong to image, RIP and RSP has it.
 */
enum { KNOWN_WORDS_MAX = 128, KNOWN_ALIKE = 4, KNOWN_BITS = 10, KNOWN_PLACES = KNOWN_ALIKE << KNOWN_BITS };

struct known_word {
	unsigned long long value;
	unsigned int index;		/* in words from RSP */
	int relative;			/* -1: it points into the stack, and the value is from RSP on; else 0 */
};

struct known_stack {
	unsigned int written;		/* how often, times two; odd: in the middle of it */
	unsigned int image;		/* 0: there is none here */
	unsigned long long rip, rsp;
	unsigned int number_plus_one;	/* 0: it goes on where copying ended */
	unsigned int bytes;		/* of the stack that have to be looked at */
	unsigned short word_cnt;
	unsigned short falls_short;	/* its number is, too: a page in the middle could not be read */
	int rbp_counts;			/* -1: it points into the stack; else 0 */
	unsigned long long rbp;		/* from RSP on */
	struct known_word words[KNOWN_WORDS_MAX];
};

/* The first of the places. */
static inline unsigned int known_place(unsigned int image, unsigned long long rip, unsigned long long rsp)
{
	unsigned long long h = (rip ^ rsp * 0x9e3779b97f4a7c15ULL ^ (unsigned long long)image << 32) * 0xff51afd7ed558ccdULL;

	return (unsigned int)(h >> (64 - KNOWN_BITS)) * KNOWN_ALIKE;
}

#endif
