/* SPDX-License-Identifier: Apache-2.0 */
/*
 * units.h - the probe sites of this process: those of each unit that was loaded and not unloaded.
 *
 * They are switched on when the process takes part in a recording, whether that is when they register or
 * later, and off when it is gone.
 */
#ifndef RUNTIME_UNITS_H
#define RUNTIME_UNITS_H

#include <stdbool.h>
struct vprof_site;

/* note: what the unit carries of its build (instrumenter/insert/unit_note.h); NULL: nothing. */
void units_add(struct vprof_site *sites, unsigned int cnt, const char *note);
void units_remove(struct vprof_site *sites, unsigned int cnt);

/* By the plan of process.arena, or off.  False: somebody else is at it just now; nothing is waited for. */
bool units_switch(bool on);

/* In the child of a fork: whoever was at it is not here. */
void units_forked(void);

/*
 * A process with one thread, of whose intervals few are recorded in full: while none is, its functions that are recorded
 * inside intervals only are dormant.  loud: they are not; before an interval in full goes on.  Nothing in a process with
 * more threads, where others may be inside: units_have_threads(), once a second one takes part.
 */
void units_quiet(void);
void units_loud(void);
void units_have_threads(void);

#endif
