/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_format.h - the row of a format of `vprof import`, in the file of its name: import_tuples.c defines import_tuples.
 *
 * IMPORT_FORMATS in cmd/local.am is the list of these files; the build turns it into X(tuples) X(perf) ....
 */
#ifndef CMD_IMPORT_FORMAT_H
#define CMD_IMPORT_FORMAT_H

#include "base/diag.h"
#include "base/option.h"
#include "base/proc.h"
#include "store/store.h"
#include "trace/model.h"

struct import_format {
	const char *name;
	const char *help;			/* describes its files, if the name does not; NULL */
	int (*read)(const char *const *paths, size_t cnt, struct trace **ret, struct diag *reterr);
	/* Instead of read, for a format without a trace: makes the run itself. */
	int (*keep)(const char *const *paths, size_t cnt, struct store *s, const struct args *words, const char *name, struct run *run,
		    struct findings **ret, struct diag *reterr);
	int (*announce)(const struct run *run, const struct trace *t);	/* reports what was read; NULL: as after a
									 * recording */
	const struct option_desc *options;	/* its own; NULL: none */
	bool (*has_options)(void);		/* whether one of them was given */
	const char *example;			/* a command with these options */
};

#define X(name) extern const struct import_format import_##name;
IMPORT_FORMATS
#undef X

#endif
