/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_call.h - a system call that the program makes itself: by syscall(), or by an instruction of its own.
 *
 *	struct own_call c = { SYS_futex, { word, FUTEX_WAIT, 7 } };
 *	r = own_call(&c, make_it);		a wait of class cond for word, if it blocks
 */
#ifndef RUNTIME_WRAPPERS_OWN_CALL_H
#define RUNTIME_WRAPPERS_OWN_CALL_H

#include <stdbool.h>
#include <stdint.h>

struct own_call {			/* its layout is known to own_stub.c */
	long number, a[6];
	long saved[2];			/* own_stub.c's */
	uint64_t caller;		/* where it is made; 0: not known */
};

/* Makes the call; the result, or a negative errno. */
typedef long (*own_maker)(const struct own_call *c);

/* Whether that call may wait, or end a wait of another thread. */
bool own_call_counts(long number);

/* Makes a call that counts; what make returns. */
long own_call(const struct own_call *c, own_maker make);

/* futex.c: the words of the futex calls.  In memory that processes share unless the call says otherwise. */
bool futex_counts(long number);
long futex_call(const struct own_call *c, own_maker make);

/* rules.c: prctl() and seccomp(). */
long rules_call(const struct own_call *c, own_maker make);

#endif
