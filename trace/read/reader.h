/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reader.h - the binary trace of a recorded run -> the model.  The only code that reads the bytes of a trace;
 * it checks every field.
 *
 * A trace that was cut off is read up to its last whole block; losses.cut_bytes is the number of bytes after
 * it.  Whole blocks around damage are read; losses.holes says what is missing.  EXIT_DATA with a message that
 * names the file: it is not a trace, no block is whole, or its contents make no sense although the checksums
 * are right.
 */
#ifndef TRACE_READ_READER_H
#define TRACE_READ_READER_H

#include "base/diag.h"
#include "trace/model.h"

/* Another name under which events of a mark belong to an interval (conf: start = mark:NAME). */
struct name_alias {
	const char *mark, *interval;
};

struct reader_options {
	const struct name_alias *aliases;
	size_t alias_cnt;
	bool kernel_knows;		/* times off the CPU are recorded, so accounts say nothing new of these */
	bool knows_no_wakes;		/* ... but not when a thread could run again (recorder/reduced.h) */
	const char *const *inner;	/* intervals whose innermost counts, where they nest */
	size_t inner_cnt;
};

/* Leaves the model's calls (static call graph) empty: the caller adds them from the store, matching functions
 * by key. */
int trace_read(const char *path, const struct reader_options *o, struct trace **ret,
	       struct diag *reterr);

#endif
