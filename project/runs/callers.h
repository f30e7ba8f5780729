/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * callers.h - the callers of primitives that blocked, by name: written beside a run's trace when it ends, read with it.
 */
#ifndef PROJECT_RUNS_CALLERS_H
#define PROJECT_RUNS_CALLERS_H

#include "store/store.h"

struct drainer;

/* Writes the file (trace/callers.h) into the run's directory, while the programs are still the ones that ran; warns
 * if it cannot. */
void callers_keep(const struct drainer *d, const char *dir);

/* Reads the one beside that trace into t->callers, with the keys of the project's functions. */
void callers_add(const char *trace_path, const struct project *p, struct trace *t);

#endif
