/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * golden.h - the questions of golden.c that stand in files of their own.
 */
#ifndef TESTS_GOLDEN_GOLDEN_H
#define TESTS_GOLDEN_GOLDEN_H

#include "base/str.h"
#include "trace/model.h"

/* golden_whole.c: the views that need no interval.  Options of waits, knots, trimmed, states and
 * stacks: none, threshold=F, prefilter=F, slow. */
void answer_waits(struct trace *t, const char *argument, struct str *out);
void answer_knots(struct trace *t, const char *argument, struct str *out);
void answer_trimmed(struct trace *t, const char *argument, struct str *out);
void answer_states(struct trace *t, const char *argument, struct str *out);
void answer_stacks(struct trace *t, const char *argument, struct str *out);
void answer_criticality(struct trace *t, const char *argument, struct str *out);
void answer_critical_paths(struct trace *t, const char *argument, struct str *out);
void answer_critical_functions(struct trace *t, const char *argument, struct str *out);
void answer_samples(struct trace *t, const char *argument, struct str *out);
void answer_sampled_stacks(struct trace *t, const char *argument, struct str *out);

#endif
