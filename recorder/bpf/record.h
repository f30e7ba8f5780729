/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record.h - the records that record.bpf.c passes to recorder.c, through memory that both have mapped.
 *
 * Each time off the CPU is one record, written complete when the thread comes back: that saves events compared with
 * switched out, woken, switched in, and nothing has to be matched afterwards.  Times are CLOCK_MONOTONIC; thread
 * numbers are those that the thread itself sees.
 *
 *	thread 7 blocked in read() at 100, the disk let it go on at 180, running again at 195:
 *	{ RECORD_OFF, tid 7, ns 195, out_ns 100, woken_ns 180, waker.kind WAKER_DISK, ... }
 *
 * Each requested stack is a record of its own, made at its moment, with a raw piece of the user's stack: unwind.c
 * turns it into functions, outside the kernel and the program.  One that has been unwound before is recognised in the
 * kernel (known_stack) and is a number in the record of the time off the CPU.
 */
#ifndef RECORDER_BPF_RECORD_H
#define RECORDER_BPF_RECORD_H

enum record_kind { RECORD_OFF = 1, RECORD_FORK, RECORD_EXEC, RECORD_EXIT, RECORD_SEEN, RECORD_STACK, RECORD_REQUEST,
		   RECORD_EXCHANGE, RECORD_UPSTREAM };

struct record_off {
	unsigned int kind, tid, pid;
	unsigned int state;		/* of the task when it was switched out; 0: it could have run on */
	unsigned long long ns, out_ns;	/* back on the CPU; off it */
	unsigned long long woken_ns;	/* 0: no waker; may be just before out_ns */
	unsigned long long argument[3];	/* of the system call, if it is a futex's or a poll */
	int syscall;			/* -1: none, a page fault or so */
	unsigned short flags;		/* OFF_... of trace/kernel_format.h */
	unsigned short waker_kind;	/* enum kernel_waker */
	unsigned int waker;		/* tid, device, interface, number of the interrupt */
	unsigned int lost;		/* records of this thread just before this one */
	unsigned int stack, waker_stack;	/* numbers plus one: when it left, and when the waker woke it; 0: unknown */
};

struct record_life {			/* fork, exec, exit; a thread that existed before the recording */
	unsigned int kind, tid, pid;
	unsigned int other;		/* fork: the parent's tid; seen: its times are recorded */
	unsigned long long ns;
	char name[16];
};

struct record_request {			/* of a disk; a packet that a network interface was given */
	unsigned int kind, tid;		/* the thread that caused it; 0: unknown */
	unsigned int device_kind, device;	/* enum kernel_waker, and its number */
	unsigned long long ns, issue_ns;	/* done; begun */
};

struct record_exchange {		/* a request and its answer (exchange.h) */
	unsigned int kind, sender, receiver;
	unsigned int connection;	/* counted from 1 */
	unsigned long long ns;		/* when its end was known */
	unsigned long long start_ns, first_read_ns, last_read_ns, first_send_ns, last_send_ns;
	unsigned int port, flags;	/* port: or EXCHANGE_PATH + the number of a path */
	unsigned int bytes_in, bytes_out;
	unsigned int unsolicited;	/* sends on this connection that answered nothing, until now */
	unsigned int unused;
};

struct record_upstream {		/* a thread took bytes of a server that its process asks */
	unsigned int kind, tid;
	unsigned int family, port;	/* AF_...; the server's, or EXCHANGE_PATH + the number of a path */
	unsigned long long ns;
	unsigned char address[16];	/* IPv4: the first four, as on the wire */
	unsigned int after_wait;	/* they are the first bytes since it waited */
	unsigned int connection;	/* on which the request came that the server was asked for; 0: unknown, and: */
	unsigned long long sent_ns, arrival_ns;	/* the server was asked, the bytes were in the queue */
};

/* Addresses of Unix sockets, as the kernel has them: one that begins with '\0' is abstract. */
enum { EXCHANGE_PATH_MAX = 112, EXCHANGE_PATHS_MAX = 16, EXCHANGES_LAST = 4096 };

struct exchange_path {
	unsigned long long words[EXCHANGE_PATH_MAX / 8];
};

enum exchange_path_state { PATH_FREE, PATH_WRITTEN, PATH_READY };

struct exchange_paths {
	unsigned int states[EXCHANGE_PATHS_MAX];	/* free ones come last */
	struct exchange_path items[EXCHANGE_PATHS_MAX];
};

/* Intervals from one place of the program's code to another (calls.bpf.h).  A place is a uprobe, and its number is its cookie. */
enum call_role {
	CALL_START = 1,			/* an interval begins */
	CALL_END,			/* ... ends */
	CALL_ENTRY,			/* of the function whose return ends it: keeps its argument */
};

enum call_key_kind {
	KEY_THREAD,			/* what begins and ends in one thread */
	KEY_REGISTER,			/* the value of a register */
	KEY_MEMORY,			/* ... of what lies at its value + offset */
	KEY_CONSTANT,			/* offset */
	KEY_KEPT,			/* what the entry kept */
};

struct call_key {
	unsigned int kind;		/* enum call_key_kind */
	unsigned int place;		/* enum stack_register */
	int bytes;			/* 1, 2, 4, 8; negative: it has a sign */
	int unused;
	long long offset;
};

struct call_place {
	unsigned int role, is_return;
	struct call_key key;
};

enum { CALL_PLACES_MAX = 64, CALLS_OPEN = 65536, CALL_ENTRIES = 8 };

/* A place for any of the records above, whose first fields are the same. */
struct record_place {
	struct {
		unsigned int kind, tid, other[2];
		unsigned long long ns, rest[8];
	} record;
	unsigned long long committed;	/* the record's number of its CPU's, from 1 on, when it is complete */
};
_Static_assert(sizeof(struct record_off) <= sizeof(((struct record_place *)0)->record) &&
	       sizeof(struct record_exchange) <= sizeof(((struct record_place *)0)->record), "they have room");

struct record_segment {			/* of a CPU; a line of the cache each */
	unsigned long long reserved, not_shared[7];
	unsigned long long taken, not_shared_either[7];
};

/* How much of the user's stack is copied: all if its size is known and at most the last of these; else mostly the
 * second, and the last if the stack is known or likely to be deep.  Frames beyond that are `[deeper]`. */
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
	unsigned int image;		/* of the process since its last exec, distinct from all others; 0: unknown */
	unsigned int driven;		/* preempted, in the middle of something */
	unsigned long long ns;
	unsigned int kernel_cnt;	/* return addresses in `kernel`, innermost first */
	unsigned int user_bytes;	/* from RSP on; 0: no user stack and no registers */
	unsigned long long kernel[STACK_KERNEL_MAX];
	unsigned long long registers[STACK_REGISTER_CNT];
	unsigned char user[STACK_DEEP_BYTES];	/* a shorter copy omits the end of it */
};

/*
 * A stack that was unwound: if RIP and RSP are the same, and all words that decided how it was unwound, the functions
 * are the same (unwind.c).  It is in memory shared by the kernel programs and the unwinder, in one of the KNOWN_ALIKE
 * places that belong to image, RIP and RSP.
 */
enum { KNOWN_WORDS_MAX = 128, KNOWN_ALIKE = 4, KNOWN_BITS = 10, KNOWN_PLACES = KNOWN_ALIKE << KNOWN_BITS };

struct known_word {
	unsigned long long value;
	unsigned int index;		/* in words from RSP */
	int relative;			/* -1: the word points into the stack, and the value is relative to RSP; else 0 */
};

struct known_stack {
	unsigned int written;		/* number of writes, times two; odd: one is under way */
	unsigned int image;		/* 0: the place is free */
	unsigned long long rip, rsp;
	unsigned int number_plus_one;	/* 0: continue where copying ended */
	unsigned int bytes;		/* bytes of the stack that have to be compared */
	unsigned short word_cnt;
	unsigned short falls_short;	/* its number is incomplete: a page in the middle could not be read */
	int rbp_counts;			/* -1: RBP points into the stack; else 0 */
	unsigned long long rbp;		/* relative to RSP */
	struct known_word words[KNOWN_WORDS_MAX];
};

/* The first of the places. */
static inline unsigned int known_place(unsigned int image, unsigned long long rip, unsigned long long rsp)
{
	unsigned long long h = (rip ^ rsp * 0x9e3779b97f4a7c15ULL ^ (unsigned long long)image << 32) * 0xff51afd7ed558ccdULL;

	return (unsigned int)(h >> (64 - KNOWN_BITS)) * KNOWN_ALIKE;
}

#endif
