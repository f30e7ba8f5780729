/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unit_directives.h - the intervals of vprof.conf as a flat list of places.
 */
#ifndef INSTRUMENTER_INSERT_UNIT_DIRECTIVES_H
#define INSTRUMENTER_INSERT_UNIT_DIRECTIVES_H

#include "instrumenter/plan/compile_options.h"
#include "instrumenter/scan/scan.h"

enum directive_kind { DIRECTIVE_START, DIRECTIVE_RESUME, DIRECTIVE_END };

struct directive {
	enum directive_kind kind;
	enum place place;		/* ENTRY, RETURN or LINE: defaults are resolved */
	const struct interval_directive *interval;
	const struct location *location;
};

struct directives {
	VEC(struct directive) list;	/* without marks, which are in the source already */
};

void directives_collect(const struct launcher_options *o, struct directives *ret);
void directives_release(struct directives *d);		/* also a _cleanup_ function */

const char *directive_role(enum directive_kind kind);	/* "start", "resume", "end" */

/* Does the place name this function, or a line inside it? */
bool directive_concerns(const struct directive *d, const struct scan_function *f);

#endif
