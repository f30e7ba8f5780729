/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usdt.h - static tracepoints of programs (USDT, <sys/sdt.h>): notes of the file say where each one is and where its arguments are.
 *
 *	postgresql:query__start at 0x3f12a0, switched on by the counter at 0x8a2010, arguments "8@%rax -4@12(%rsp)"
 *
 * One tracepoint may be at several places.  Files may be hostile: what makes no sense is left out.
 */
#ifndef RECORDER_STACKS_USDT_H
#define RECORDER_STACKS_USDT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "recorder/bpf/record.h"

enum { USDT_SITES_MAX = CALL_PLACES_MAX / 2, USDT_ARGUMENTS_MAX = 256 };

struct usdt_site {
	uint64_t offset;		/* in the file */
	uint64_t semaphore;		/* offset in the file of the counter that switches it on; 0: it needs none */
	char arguments[USDT_ARGUMENTS_MAX];
};

/* How many places it has, at most USDT_SITES_MAX of them in ret; provider NULL: any.  -ENOENT: none; or as code_function_find(). */
int usdt_find(const char *path, const char *provider, const char *name, struct usdt_site ret[USDT_SITES_MAX]);

/* Where the n-th argument is, from 0 on.  False: there is none, or it is where no key is read (in a floating-point register, say). */
bool usdt_argument(const char *arguments, unsigned int n, struct call_key *ret);

#endif
