/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * guard.h - no compiler outlives its launcher.
 *
 * A compiler is several processes (g++, cc1plus, as), and a signal for the launcher reaches none of them:
 *
 *	make --- launcher --- worker --- g++ --- cc1plus
 *	                      `------ a process group ---'
 *
 * The launcher passes its work to a worker, the leader of a process group, and waits.  TERM, INT, HUP and QUIT end
 * the group, and then the launcher by the same signal; TSTP stops it.  If the launcher is killed, the kernel tells
 * the worker, and it ends the group.  Either way half-written files are removed.  The same happens when a process
 * that the launcher works for ends (owner.h): make, ninja, `vprof build`.
 *
 * A worker that crashes costs the user nothing: the launcher has his own command run.
 */
#ifndef INSTRUMENTER_PRODUCTS_GUARD_H
#define INSTRUMENTER_PRODUCTS_GUARD_H

#include <stdbool.h>

/* Returns true in the worker; the launcher ends in here with the worker.  If no worker can be started, returns true in the
 * launcher; false if the worker crashed, by a fault of ours or of libclang's. */
bool guard_begin(void);

/* Registers a file to remove if a signal ends the worker. */
void guard_temporary(const char *path);

#endif
