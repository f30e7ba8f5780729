/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reader.h - the binary trace of a recorded run -> the model.  The only code that reads the
 * bytes of a trace: everything in the file is checked, nothing is believed.
 *
 * A trace that was cut off is read up to its last whole block; losses.cut_bytes says how much
 * was behind it.  Around damage what is whole is read; losses.holes says what is missing.  What is not a trace, or has
 * nothing that is whole, or makes no sense though its checksums are right, is EXIT_DATA with a message that names the file.
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
	bool kernel_knows;		/* when threads were off the CPU is recorded: accounts of them say nothing new */
	const char *const *inner;	/* intervals of which the innermost counts, where they nest */
	size_t inner_cnt;
};

/* Calls of the model (static call graph) are left empty: the caller adds them from the store,
 * matching functions by key. */
int trace_read(const char *path, const struct reader_options *o, struct trace **ret,
	       struct diag *reterr);

#endif
