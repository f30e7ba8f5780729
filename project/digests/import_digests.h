/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_digests.h - a run of several digests, in whatever form they come.
 */
#ifndef PROJECT_DIGESTS_IMPORT_DIGESTS_H
#define PROJECT_DIGESTS_IMPORT_DIGESTS_H

#include "analysis/summed/summed.h"
#include "base/proc.h"
#include "store/store.h"

struct import_digests_input {
	const char *const *paths;
	size_t cnt;
	struct store *store;
	const struct args *words;
	const char *name;		/* of the new run; NULL: none */
};

int import_digests(int (*read)(const char *path, struct summed **ret, struct diag *reterr), const struct import_digests_input *in,
		struct run *run, struct findings **ret, struct diag *reterr);

#endif
