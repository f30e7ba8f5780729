/* SPDX-License-Identifier: Apache-2.0 */
/*
 * units.h - the probe sites of this process: those of each loaded unit.
 *
 * They are switched on when the process takes part in a recording, whether that is when they register or
 * later, and off when the recording is gone.
 */
#ifndef RUNTIME_UNITS_H
#define RUNTIME_UNITS_H

#include <stdbool.h>
struct vprof_site;

/* note: the unit's note about its build (instrumenter/insert/unit_note.h); NULL: none. */
void units_add(struct vprof_site *sites, unsigned int cnt, const char *note);
void units_remove(struct vprof_site *sites, unsigned int cnt);

/* On: by the plan of process.arena.  False: another thread is switching them; does not wait for it. */
bool units_switch(bool on);

/* In the child of a fork: a thread that was switching them does not exist here. */
void units_forked(void);

/* All sites of units that have a place.  False: another thread is at them; does not wait for it. */
bool units_each(void (*take)(struct vprof_site *site));

/*
 * For a process with one thread that records few intervals in full: quiet makes the functions that are recorded only
 * inside intervals dormant between these; loud switches them on before an interval in full.  Neither does anything once a second
 * thread takes part (units_have_threads()), because that one may be inside such an interval.
 */
void units_quiet(void);
void units_loud(void);
void units_have_threads(void);

#endif
