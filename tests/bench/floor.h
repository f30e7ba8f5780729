/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * floor.h - what every recorder of waits pays that is called at each switch and waking, whatever it does there: the same
 * tracepoints have programs that do next to nothing.
 *
 *	FLOOR_EMPTY	each returns at once: two instructions
 *	FLOOR_CLOCK	those of switches and wakings ask for the time first, which an event cannot be without
 *	FLOOR_OWN	only where one of the threads is of the server's process, or of a child's
 */
#ifndef TESTS_BENCH_FLOOR_H
#define TESTS_BENCH_FLOOR_H

enum floor_kind { FLOOR_EMPTY, FLOOR_CLOCK, FLOOR_OWN };

/* Loads the programs; server: its process.  0 or a negative errno. */
int floor_load(enum floor_kind kind, int server);

/* To the tracepoints that this kernel has.  0 or a negative errno. */
int floor_attach(enum floor_kind kind);
void floor_detach(enum floor_kind kind);

#endif
