/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * origins.h - the recordings that the intervals of a run come from: trace.origins, one a part (run_parts.h).
 *
 *	run 7, merged from 3 and 4:	{ 3, host "db-1" }, { 4, host "db-2" }
 *	show VIEW 7 --origin db-1	the part of run 4 is left out
 */
#ifndef PROJECT_RUNS_ORIGINS_H
#define PROJECT_RUNS_ORIGINS_H

#include "project/digests/run_digest.h"
#include "project/runs/run_parts.h"

/* Replaces t's; r: the run that they are the parts of. */
void origins_note(struct store *s, const struct run *r, const run_parts *parts, struct trace *t);

/*
 * Leaves out the parts that r->origin does not name: a host, its machine-id, or the number of a run.  EXIT_USAGE, with those there are,
 * if none is left.  Numbers of threads and SIDs are those of all parts.
 */
int origins_choose(struct store *s, const struct run *r, run_parts *parts, struct diag *reterr);
/* The same of sums. */
int origins_choose_sums(const struct run *r, struct summed *digest, struct diag *reterr);

#endif
