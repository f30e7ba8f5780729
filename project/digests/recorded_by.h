/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recorded_by.h - the machine that recorded a run: a file beside its trace, written when the recording ends.
 *
 *	runs/003/recorded-by		machine, boot, host, container, build, clock: a line each, "host db-7"
 *	runs/005/part-003.recorded-by	of run 3, which 5 was merged from
 *
 * Imported runs have none: nobody knows.
 */
#ifndef PROJECT_DIGESTS_RECORDED_BY_H
#define PROJECT_DIGESTS_RECORDED_BY_H

#include "analysis/summed/summed.h"
#include "store/store.h"

#define RECORDED_BY_FILE "recorded-by"

/* This machine, now; program: what was run, a path or a name in $PATH, or NULL.  Warns where it cannot be written. */
void recorded_by_keep(const char *dir, const char *program);

/* Of a trace beside which the file may be; texts are the arena's. */
void recorded_by_read(const char *trace_path, struct arena *arena, struct summed_source *ret);

/* The path of that file, which the caller frees; there need not be one. */
char *recorded_by_path(const char *trace_path);

#endif
