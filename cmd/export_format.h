/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_format.h - a format of `vprof export` is a row in the file of its name: export_tuples.c defines export_tuples.
 *
 * EXPORT_FORMATS is that list of files in cmd/local.am, as X(tuples); the first is the default.
 */
#ifndef CMD_EXPORT_FORMAT_H
#define CMD_EXPORT_FORMAT_H

#include <stdio.h>
#include "trace/model.h"

struct export_format {
	const char *name;
	void (*announce)(const struct trace *t);	/* reports what of the trace the format cannot express; NULL:
							 * it can express all */
	int (*write)(FILE *out, const struct trace *t);	/* 0, or a negative errno */
};

#define X(name) extern const struct export_format export_##name;
EXPORT_FORMATS
#undef X

#endif
