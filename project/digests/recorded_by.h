/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recorded_by.h - the machine that recorded a run, in a file beside the trace, written when the recording ends.
 *
 *	runs/003/recorded-by		machine, boot, host, container, build, clock: a line each, "host db-7"
 *	runs/005/part-003.recorded-by	of run 3, which 5 was merged from
 *
 * Imported runs have no such file, because their machine is not known.
 */
#ifndef PROJECT_DIGESTS_RECORDED_BY_H
#define PROJECT_DIGESTS_RECORDED_BY_H

#include "analysis/summed/summed.h"
#include "store/store.h"

#define RECORDED_BY_FILE "recorded-by"

/* Writes the file for this machine, now.  program: the command that ran, a path or a name in $PATH, or NULL.  Warns on failure. */
void recorded_by_keep(const char *dir, const char *program);

/* Reads the file of a trace, if there is one; the arena owns the texts. */
void recorded_by_read(const char *trace_path, struct arena *arena, struct summed_source *ret);

/* The path of that file, which need not exist; the caller frees it. */
char *recorded_by_path(const char *trace_path);

#endif
