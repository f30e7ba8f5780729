/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_format.h - a format of `vprof export` is a row in the file of its name: export_tuples.c defines export_tuples.
 *
 * EXPORT_FORMATS is that list of files in cmd/local.am, as X(tuples); the first is the default.
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
	void (*announce)(const struct trace *t);	/* reports what of the trace the format cannot express; NULL:
							 * it can express all */
	int (*write)(FILE *out, const struct trace *t);	/* 0, or a negative errno */
	const struct export_writer *writer;	/* in its place: what export_given() writes with */
	/* In place of both, for what is no trace: reads what it needs of the run.  0, or as above with a message. */
	int (*write_run)(FILE *out, struct store *s, const struct run *r, struct diag *reterr);
	const struct option_desc *options;	/* its own; NULL: none */
	bool (*has_options)(void);		/* one of them was given */
	bool is_binary;				/* not for a terminal */
	bool takes_interval;			/* --interval */
};

#define X(name) extern const struct export_format export_##name;
EXPORT_FORMATS
#undef X

#endif
