/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apart.h - why a process takes part in a recording only partly, no longer, or not at all; it tells the
 * recorder.
 */
#ifndef RUNTIME_SHARED_APART_H
#define RUNTIME_SHARED_APART_H

enum apart {
	APART_NOT,
	APART_NO_ROOM,			/* no address space under its limit; the first three never took part */
	APART_NO_STACK,
	APART_NO_CLOCK,			/* its time stamp counter is switched off */
	APART_LEFT_NO_ROOM,		/* it set such a limit, or locks its memory under one; these two took
					 * part until then */
	APART_LEFT_NO_CLOCK,
	APART_FILTERED,			/* some of our system calls are not permitted; the process takes part */
	APART_NO_PROC,			/* ... or may not be: without /proc this is unknown */
	APART_CNT
};

#endif
