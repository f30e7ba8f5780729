/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source_marks.h - `vprof annotate --write`: VPROF_ macros into the user's sources.
 *
 * For users who want the interval in the code instead of in vprof.conf.  The places come from the
 * scan records of a build and from parsing the unit again; the edits are made to the text as the
 * user wrote it.  A place that only a macro's expansion contains is refused, with its line.
 */
#ifndef INSTRUMENTER_MARKS_SOURCE_MARKS_H
#define INSTRUMENTER_MARKS_SOURCE_MARKS_H

#include <stdbool.h>
#include "base/diag.h"
#include "base/str.h"
#include "instrumenter/plan/location.h"

struct source_marks_options {
	const char *build_dir;		/* scan records */
	const char *include_dir;	/* of vprof.h */
	bool write;			/* else only the patch is made */
};

/*
 * Appends a unified diff to patch.  Either every mark is placed or no file is changed.  The diff names files from the
 * current directory on, or, where one is not below it, *ret_from_root, without the '/' that they begin with: patch(1)
 * takes no absolute name.
 */
int source_marks_insert(const struct source_marks_options *o, const struct interval_directive *d,
			struct str *patch, bool *ret_from_root, struct diag *reterr);

#endif
