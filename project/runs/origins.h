/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * origins.h - the recordings that the intervals of a run come from: trace.origins, one a part (run_parts.h).
 *
 *	run 7, merged from 3 and 4:	{ 3, host "db-1" }, { 4, host "db-2" }
 */
#ifndef PROJECT_RUNS_ORIGINS_H
#define PROJECT_RUNS_ORIGINS_H

#include "project/runs/run_parts.h"

/* Replaces t's; r: the run that they are the parts of. */
void origins_note(struct store *s, const struct run *r, const run_parts *parts, struct trace *t);

#endif
