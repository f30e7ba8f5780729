/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compile_options.h - the input for compiling a unit besides its own command: the plan, vprof.conf, and where vprof's files are.
 */
#ifndef INSTRUMENTER_PLAN_COMPILE_OPTIONS_H
#define INSTRUMENTER_PLAN_COMPILE_OPTIONS_H

#include <stdbool.h>
#include "annotations/primitives.h"
#include "instrumenter/plan/location.h"
#include "instrumenter/plan/plan.h"

struct launcher_options {
	const char *build_dir;		/* vprof.data/build; NULL: no project, pass through */
	const struct plan *plan;
	const struct interval_directive *intervals;
	size_t interval_cnt;
	const primitives *sync;		/* the user's [sync] first, then the tables */
	const char *include_dir;	/* where vprof.h is */
	const char *runtime_dir;	/* where libvprof.a and libvprof.list are */
	const char *masquerade_dir;	/* directory of our own cc, gcc ... on PATH, skipped when looking
					 * for the real compiler; may be NULL */
	bool verbose;
	bool again;			/* the same compile was done before: its messages were printed, and the build
					 * may have removed its dependency file */
};

#endif
