/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * names_archive.h - functions, calls, names, threads and losses of a trace, as trace_merger_names() takes them, without the trace.
 */
#ifndef TRACE_MERGE_NAMES_ARCHIVE_H
#define TRACE_MERGE_NAMES_ARCHIVE_H

#include "trace/archive.h"
#include "trace/model.h"

/* Writes t's, or reads them into a new trace; a->failed: they contradict each other.  Texts are in a->arena. */
void names_archive(struct archive *a, struct trace *t);

#endif
