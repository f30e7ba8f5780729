/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * waits.h - waits with a known truth: the waiter, its waker, the length, the class.
 *
 * One round of a case, which the waiter's own clock times from before wait() to after it:
 *
 *	waker	take()				HOLD_USEC		wake()
 *	waiter		wait() blocks ...........................	after()
 *
 * A case with no take and no wake makes its waker itself, in prepare(), and stores its tid in waker_tid.
 */
#ifndef TESTS_WAITS_WAITS_H
#define TESTS_WAITS_WAITS_H

#ifdef __cplusplus
extern "C" {
#endif

enum { HOLD_USEC = 2000 };

enum {
	CASE_PROCESS = 1,		/* the waker is another process */
	CASE_ALONE = 2,			/* nobody of the run wakes */
	CASE_EXEC = 4,			/* the waker is another program, which maps what they share elsewhere */
	CASE_TIME_OUT = 8,		/* nobody wakes: its own time is over */
};

struct wait_case {
	const char *name, *wait_class;
	void (*setup)(void);		/* once, before the waker exists; not by one of CASE_EXEC */
	void (*take)(void);		/* waker */
	void (*prepare)(void);		/* waiter, not timed */
	void (*wait)(void);		/* waiter, timed */
	void (*wake)(void);		/* waker */
	void (*after)(void);		/* waiter */
	unsigned int flags;
};

/* Each file's cases end with a nameless one. */
extern const struct wait_case lock_cases[], cond_cases[], c11_cases[], file_cases[], special_cases[],
	system_cases[], cxx_cases[], own_cases[], process_cases[];

struct waits_shared {			/* by waker and waiter, also as processes */
	volatile int step, waker_tid;
	void *at;			/* where the waiter has it */
	char memory[8192] __attribute__((aligned(64)));
};

extern struct waits_shared *shared;

void must(int ok, const char *what);	/* ends the program */
#define MUST(condition) must(!!(condition), #condition)

int own_tid(void);
int memory_file(void);			/* the file that *shared is mapped from */
void hold(void);			/* HOLD_USEC by the clock, without any primitive of the table */
struct timespec;
struct timespec in_ms(int clock, long ms);

#ifdef __cplusplus
}
#endif
#endif
