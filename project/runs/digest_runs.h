/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * digest_runs.h - runs that were made of digests: they have sums (digest.vpd) and neither a trace nor single intervals.
 */
#ifndef PROJECT_RUNS_DIGEST_RUNS_H
#define PROJECT_RUNS_DIGEST_RUNS_H

#include "base/diag.h"
#include "store/store.h"

#define DIGEST_FILE "digest.vpd"

/* Whether the run was made of digests, so that it has sums and no single intervals. */
bool run_is_digest(const struct store *s, const struct run *r);

/* EXIT_NO_EVIDENCE: says that such a run does not have `what` ("show intervals"), and what it has. */
int run_digest_refuse(const struct run *r, const char *what, struct diag *reterr);

/* The path of its sums, which need not exist; the caller frees it. */
char *run_digest_path(const struct store *s, uint32_t run);

#endif
