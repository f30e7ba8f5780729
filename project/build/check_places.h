/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check_places.h - is every place that vprof.conf names somewhere in what was built?
 */
#ifndef PROJECT_BUILD_CHECK_PLACES_H
#define PROJECT_BUILD_CHECK_PLACES_H

#include "project/config/config.h"
#include "base/str.h"
#include "instrumenter/scan/scan.h"
#include "store/store.h"

/* What of [sync] records nothing: lists for a message. */
struct primitives_unused {
	struct str nowhere;		/* no unit defines or calls it: a library may simply not be there */
	struct str refused;		/* "acquire = NAME: REASON": nothing could be inserted in any unit that has it */
};

#define PRIMITIVES_UNUSED_INIT { STR_INIT, STR_INIT }
void primitives_unused_release(struct primitives_unused *u);

/*
 * A start, end or resume that no unit has, or at which nothing could be inserted, is EXIT_USAGE with
 * the nearest function or the reason.
 */
int check_places(struct store *s, const struct config *c, const units *scanned, struct primitives_unused *ret, struct diag *reterr);

/* The result of the last check_places(), if it left no interval that can begin and end: EXIT_USAGE. */
int check_places_of_last_build(struct store *s, struct diag *reterr);

/* The function of the build with the most similar name; NULL. */
const char *nearest_function(const units *scanned, const char *name);

#endif
