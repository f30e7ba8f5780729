/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run_digest.h - the digest of a run, and runs that consist of digests.
 *
 *	runs/006/digest.vpd		imported, or merged from digests: the run has no trace
 */
#ifndef PROJECT_DIGESTS_RUN_DIGEST_H
#define PROJECT_DIGESTS_RUN_DIGEST_H

#include "analysis/summed/summed.h"
#include "base/proc.h"
#include "store/store.h"

/*
 * Sums up the run's intervals, each part as a recording of its own, in order (digest/unite.h); of a run of digests it returns their
 * sums.  window_ns 0: each recording is one window.
 */
int run_digest_read(struct store *s, const struct run *r, int64_t window_ns, struct summed **ret, struct diag *reterr);

/* The recording that a part of the run is; the arena owns the texts. */
struct run_part;
void run_part_source(struct store *s, const struct run *r, const struct run_part *part, struct arena *arena, struct summed_source *source);

/* Makes a new run from the digest, with its results.  ret: the findings about the most frequent kind of interval. */
int run_digest_keep(struct store *s, const struct summed *digest, const char *source, const struct args *words, const char *name,
		    struct run *run, struct findings **ret, struct diag *reterr);

/* The results of a run that is a digest; run_analyze() and run_analyze_at() call these. */
int run_digest_analyze(struct store *s, struct run *r, struct findings **ret, struct diag *reterr);
int run_digest_analyze_at(const struct store *s, const struct run *r, const char *interval, double quantile, struct findings **ret,
			  struct diag *reterr);

#endif
