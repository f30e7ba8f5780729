/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_perf.h - scheduler events of perf as a run (trace/perf_script.h).
 */
#ifndef CMD_IMPORT_PERF_H
#define CMD_IMPORT_PERF_H

#include "base/diag.h"
#include "base/proc.h"
#include "store/store.h"
#include "trace/model.h"

/* comms and pids choose threads; both empty: all.  Says on stderr what the files do not tell. */
int import_perf(const char *const *paths, size_t cnt, const struct args *comms, const struct args *pids,
		struct trace **ret, struct diag *reterr);

/* There is no interval to say anything about: what was read, and which views show it. */
int import_perf_announce(const struct run *run, const struct trace *t);

#endif
