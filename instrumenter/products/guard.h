/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * guard.h - no compiler outlives its launcher.
 *
 * A compiler is several processes (g++, cc1plus, as), and a signal for the launcher reaches none of them:
 *
 *	make --- launcher --- worker --- g++ --- cc1plus
 *	                      `------ a process group ---'
 *
 * The launcher hands what it has to do to a worker, which is the leader of a group, and waits.  TERM, INT, HUP and QUIT
 * end the group, and then the launcher by the same signal; TSTP stops it.  If the launcher is killed, the kernel
 * tells the worker, and it ends the group.  Either way what is half done is removed.  So does the end of whom the launcher
 * works for (owner.h): make, ninja, `vprof build`.
 */
#ifndef INSTRUMENTER_PRODUCTS_GUARD_H
#define INSTRUMENTER_PRODUCTS_GUARD_H

/* Returns in the worker; the launcher ends in here as the worker does.  Where a worker cannot be had, goes on without. */
void guard_begin(void);

/* To be removed if the worker is ended by a signal. */
void guard_temporary(const char *path);

#endif
