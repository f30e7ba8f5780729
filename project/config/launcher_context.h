/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * launcher_context.h - what a compile under vprof needs to know of its project: its configuration, the tables of
 * primitives, the plan.
 *
 * The launcher needs only this, without the store, the traces and the analysis.
 */
#ifndef PROJECT_CONFIG_LAUNCHER_CONTEXT_H
#define PROJECT_CONFIG_LAUNCHER_CONTEXT_H

#include "instrumenter/launcher/launcher.h"
#include "project/config/config.h"

/* config_read() of the project's own; EXIT_ENVIRONMENT if another user may have put it there. */
int project_config(struct config *ret, struct diag *reterr);

/* The user's [sync] first, then every *.sync table that ships with vprof. */
int read_primitives(const struct config *c, primitives *ret, struct diag *reterr);

char *build_dir(void);			/* DATA_DIR/build; the caller frees it */
char *plan_path(void);			/* DATA_DIR/build/plan; the caller frees it */

/* Everything a compile under vprof needs to know, read once.  release frees it. */
struct launcher_context {
	struct config config;
	primitives sync;
	struct plan *plan;
	char *build_dir, *masquerade_dir;
	struct launcher_options options;	/* points into the above */
};
int launcher_context_read(struct launcher_context *ret, struct diag *reterr);
void launcher_context_release(struct launcher_context *c);

#endif
