/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_format.h - the row of a format of `vprof export`, in the file of its name: export_tuples.c defines export_tuples.
 *
 * EXPORT_FORMATS in cmd/local.am is the list of these files; the build turns it into X(tuples) ....  The first one is the default.
 */
#ifndef CMD_EXPORT_FORMAT_H
#define CMD_EXPORT_FORMAT_H

#include <stdio.h>
#include "base/diag.h"
#include "base/option.h"
#include "store/store.h"
#include "trace/model.h"

struct export_format {
	const char *name;
	void (*announce)(const struct trace *t);	/* reports what in the trace the format cannot express; NULL:
							 * it can express everything */
	int (*write)(FILE *out, const struct trace *t);	/* 0, or a negative errno */
	const struct export_writer *writer;	/* instead of write: export_given() calls it */
	const struct export_sums_writer *sums;	/* instead of both: export_sums_read() reads a digest for it */
	const struct option_desc *options;	/* its own; NULL: none */
	bool (*has_options)(void);		/* whether one of them was given */
	bool is_binary;				/* must not go to a terminal */
	bool takes_interval;			/* --interval */
};

#define X(name) extern const struct export_format export_##name;
EXPORT_FORMATS
#undef X

#endif
