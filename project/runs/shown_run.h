/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shown_run.h - the run that a command shows where the user named none.
 */
#ifndef PROJECT_RUNS_SHOWN_RUN_H
#define PROJECT_RUNS_SHOWN_RUN_H

#include "store/store.h"

/*
 * text: number or name, as run_find() takes it.  NULL: the latest that has results; with of_intervals rather one whose command
 * did not fail before an interval was complete.  A note says if that is not the latest run.
 */
int shown_run_find(struct store *s, const char *text, bool of_intervals, struct run *ret, struct diag *reterr);

/* The latest that has results, without a note: for what may not be about that run at all. */
int shown_run_latest(struct store *s, struct run *ret, struct diag *reterr);

#endif
