/* SPDX-License-Identifier: GPL-3.0-or-later */
/* causal_targets.h - which targets an experiment asks, what a replay of the latest run says of them.  Private to cmd/causal/. */
#ifndef CMD_CAUSAL_CAUSAL_TARGETS_H
#define CMD_CAUSAL_CAUSAL_TARGETS_H

#include "analysis/causal/predict.h"
#include "analysis/causal/schedule.h"
#include "cmd/causal/causal.h"
#include "project/causal/causal_target.h"

struct asked_targets {
	causal_targets list;		/* that may be asked */
	struct trace *trace;		/* of the latest run; NULL: there is none, and so are no predictions */
	struct predictor *predictor;
	struct run run;			/* that one */
};

/* The user's, else from the factors of the latest run, those first of which a replay promises most, k at most.  What is refused
 * is in e->refused. */
int asked_targets_find(struct asked_targets *a, const struct causal_request *q, struct store *s, struct experiments *e,
		       struct diag *reterr);

/* Fills in the predictions of e's experiments; none where the replay is of another interval than e's. */
void asked_targets_predict(struct asked_targets *a, struct experiments *e);
void asked_targets_release(struct asked_targets *a);

#endif
