/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * match.h - matches the functions of two versions of a program.
 *
 * Private to analysis/compare/.
 */
#ifndef ANALYSIS_COMPARE_MATCH_H
#define ANALYSIS_COMPARE_MATCH_H

#include "analysis/compare/compare.h"

/* A function of one side, or of both. */
struct matched {
	const char *name, *file;	/* of the head; if there is none, of the base */
	uint32_t line;
	enum match match;
	const char *was, *was_file;	/* as in struct change */
};

struct matching;

/* The findings own the names. */
struct matching *matching_of(const struct compared_side *base, const struct compared_side *head);
void matching_free(struct matching *m);
DEFINE_CLEANUP(struct matching *, matching_free);

const struct matched *matching_get(const struct matching *m, size_t id);
/* The number of that side's function. */
size_t matching_id(const struct matching *m, enum side side, const char *name, const char *file);

#endif
