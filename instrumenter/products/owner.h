/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * owner.h - the processes that a launcher works for, so that it can end when they do.
 *
 *	vprof build --- make --- sh -c --- launcher
 *	                ^ the driver: the nearest ancestor that is no shell
 *
 * A shell may end before its background jobs, and make and ninja, if killed, leave their shells running: so the
 * driver counts, and the `vprof build` around all of it.  Either's end ends the launcher.
 */
#ifndef INSTRUMENTER_PRODUCTS_OWNER_H
#define INSTRUMENTER_PRODUCTS_OWNER_H

#include <sys/types.h>

#define OWNER_VARIABLE "VPROF_BUILD"	/* what owner_name() says of the vprof build */
#define OWNERS_MAX 2

/* A name of this process that no other has, also in another namespace; the caller frees it. */
char *owner_name(void);

/* Descriptors that become readable when an owner has ended; returns how many.  Kernels before 5.3 have none. */
int owners_open(int ret_fds[OWNERS_MAX]);

#endif
