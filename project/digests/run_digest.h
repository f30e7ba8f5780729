/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run_digest.h - the digest of a run, and runs that are digests.
 *
 *	runs/006/digest.vpd		imported, or merged of digests: there is no trace
 */
#ifndef PROJECT_DIGESTS_RUN_DIGEST_H
#define PROJECT_DIGESTS_RUN_DIGEST_H

#include "analysis/summed/summed.h"
#include "base/proc.h"
#include "store/store.h"

#define DIGEST_FILE "digest.vpd"

/* The run was made of digests: it has sums and no intervals. */
bool run_is_digest(const struct store *s, const struct run *r);

/* EXIT_NO_EVIDENCE: why `what`, "show intervals" say, cannot be had of such a run, and what can. */
int run_digest_refuse(const struct run *r, const char *what, struct diag *reterr);

/*
 * What its intervals sum up to, each of its parts by itself, in order (digest/unite.h); of a run of digests what they hold.
 * window_ns 0: each recording is one window.
 */
int run_digest_read(struct store *s, const struct run *r, int64_t window_ns, struct summed **ret, struct diag *reterr);

/* A new run that holds that, with its results.  ret: what was found of the intervals of which there are most. */
int run_digest_keep(struct store *s, const struct summed *digest, const char *source, const struct args *words, const char *name,
		    struct run *run, struct findings **ret, struct diag *reterr);

/* Results of a run that is a digest; as run_analyze() and run_analyze_at(), which call these. */
int run_digest_analyze(struct store *s, struct run *r, struct findings **ret, struct diag *reterr);
int run_digest_analyze_at(const struct store *s, const struct run *r, const char *interval, double quantile, struct findings **ret,
			  struct diag *reterr);

#endif
