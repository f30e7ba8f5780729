/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * build_steps.h - building a project with a plan: what `vprof build` and `vprof iterate` share.
 *
 *	build_command()		given, [build] command, or the remembered one
 *	build_scan()		runs it with the launcher in front of the compiler
 *	build_apply()		another plan: recompiles the units whose probes change, links
 */
#ifndef PROJECT_BUILD_BUILD_STEPS_H
#define PROJECT_BUILD_BUILD_STEPS_H

#include "project/runs/project.h"

struct build_options {
	unsigned jobs;			/* 0: one a core */
	bool verbose;
	bool quiet;			/* show the build's output only if it fails */
	bool (*leaves)(const struct unit *u, const void *arg);	/* build_apply() does not compile that unit; NULL: all */
	const void *leaves_arg;
};

/* command_name: the subcommand, for the message if there is no command. */
int build_command(struct store *s, const struct config *c, const char *command_name,
		  char *const *given, struct args *ret, struct diag *reterr);

/* data_lock(LOCK_BUILD); reads c again if it had to wait, because the holder may have changed it. */
int lock_to_build(struct config *c, struct diag *reterr);

/* Reads the scan records of the units and loads them into the store. */
int build_load_units(struct store *s, units *ret, struct diag *reterr);

/* Runs the command, loads the records, remembers the command. */
int build_scan(struct store *s, const struct args *command, const struct build_options *o,
	       units *ret, struct diag *reterr);

/* Refuses a plan that is too large, writes it, recompiles what it changes, links with the user's command.  scanned: what build_scan() or an
 * earlier call yielded; what resolvers of ifuncs call is added to the plan as early; if anything was compiled, read and loaded again. */
int build_apply(struct store *s, units *scanned, struct plan *plan, const struct args *command,
		const struct build_options *o, struct diag *reterr);

#endif
