/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pager.h - long output goes through a pager, as git's does.
 *
 *	pager_start();			what is printed from here on, on both outputs, goes to the pager
 *	...
 *	return pager_end(status);	once, before the process ends: waits until the reader has left it
 *
 * The pager is $VPROF_PAGER, else $PAGER, else less; an empty value, or cat, is none.  There is none either where stdout is
 * no terminal, or --no-pager was given.  LESS is FRX unless it is set: less ends by itself if all fits on the screen.
 * Colours and widths are the terminal's: ask for them (style_init) before the start.
 */
#ifndef CMD_PAGER_H
#define CMD_PAGER_H

#include <stdbool.h>

extern bool pager_off;		/* --no-pager */

/* A row for a command's table of options. */
#define PAGER_OPTION { 0, "no-pager", NULL, OPT_FLAG, &pager_off, "print on the terminal itself, not through $VPROF_PAGER, $PAGER or less" }

void pager_start(void);

/* stdout has been flushed.  Returns status; EXIT_ENVIRONMENT with a message if the shell found no such pager. */
int pager_end(int status);

#endif
