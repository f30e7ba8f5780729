/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * uftrace_names.h - the functions of a uftrace.data directory: which program a thread ran, and the names of its addresses.
 *
 *	task.txt		SESS timestamp=1.5 pid=7 sid=ab12 exename="/bin/p"; TASK timestamp=1.6 tid=8 pid=7; FORK ... pid=9 ppid=7
 *	sid-ab12.map		55cf68042000-55cf68047000 r-xp 00000000 00:00 0  /bin/p build-id:d5c3
 *	p.sym			0000000000001217 T parse
 *
 * So the address 55cf68043217 of thread 8 is parse.
 */
#ifndef CMD_FORMATS_SPANS_UFTRACE_NAMES_H
#define CMD_FORMATS_SPANS_UFTRACE_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include "base/diag.h"

struct uftrace_names;

/* EXIT_DATA: task.txt is missing or damaged, with its line. */
int uftrace_names_read(const char *dir, struct uftrace_names **ret, struct diag *reterr);
void uftrace_names_free(struct uftrace_names *n);	/* NULL is fine */

/* The function at that address, for as long as n lives; of an unknown one its address.  *ret_is_library: a call of a library's
 * function, by the program's table of them. */
const char *uftrace_name(struct uftrace_names *n, uint64_t tid, int64_t ns, uint64_t address, bool *ret_is_library);

/* The process of a thread; the thread itself if that is unknown. */
uint64_t uftrace_pid(const struct uftrace_names *n, uint64_t tid);

#endif
