/* SPDX-License-Identifier: GPL-3.0-or-later */
/* causal_targets.h - the targets of an experiment, and their predictions from the latest run.  Private to cmd/causal/. */
#ifndef CMD_CAUSAL_CAUSAL_TARGETS_H
#define CMD_CAUSAL_CAUSAL_TARGETS_H

#include "analysis/causal/predict.h"
#include "analysis/causal/schedule.h"
#include "cmd/causal/causal.h"
#include "project/causal/causal_target.h"

struct asked_targets {
	causal_targets list;		/* targets that may be asked */
	struct trace *trace;		/* of the latest run; NULL: there is none, so there are no predictions */
	struct predictor *predictor;
	struct run run;			/* the latest run */
	bool needs_kernel;		/* one of the list does (causal_target_needs_kernel()) */
	bool knows_locks;		/* it noted every taking of a lock (record --order) */
};

/* Takes the targets of the user, else chooses from the factors of the latest run: at most k, the largest predicted gain first.
 * e->refused gets the refusals. */
int asked_targets_find(struct asked_targets *a, const struct causal_request *q, struct store *s, struct experiments *e,
		       struct diag *reterr);

/* Fills in the predictions of e's experiments; leaves them out if the latest run's interval is not e's. */
void asked_targets_predict(struct asked_targets *a, struct experiments *e);
void asked_targets_release(struct asked_targets *a);

#endif
