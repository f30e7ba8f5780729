/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tsv_names.h - functions, calls and places of rows: from numbers that are hashes to indexes.  Private to digest/.
 *
 *	tsv_names_add_function(), _add_place()		of all rows, in any order
 *	tsv_names_settle()				then the tree is there
 *	tsv_names_add_call(), _place(), _root() ...
 *
 * Names may be there several times, once for each digest that had them: functions are united as digests are, the rest has to be equal.
 */
#ifndef DIGEST_TSV_NAMES_H
#define DIGEST_TSV_NAMES_H

#include "analysis/summed/summed.h"
#include "base/diag.h"
#include "digest/tsv_fields.h"

struct tsv_names;

struct tsv_names *tsv_names_new(struct summed *to);
void tsv_names_free(struct tsv_names *n);

/* Errors are in row->wrong. */
void tsv_names_add_function(struct tsv_names *n, struct tsv_row *row);
void tsv_names_add_place(struct tsv_names *n, struct tsv_row *row);
void tsv_names_add_call(struct tsv_names *n, struct tsv_row *row);

int tsv_names_settle(struct tsv_names *n, const char *name, struct diag *reterr);

uint32_t tsv_names_place(const struct tsv_names *n, uint64_t id);		/* NODE_NONE: there is none */
uint32_t tsv_names_root(const struct tsv_names *n, const char *kind);	/* NODE_NONE: there is none */
/* Like a place's; TSV_NO_SUCH_FUNCTION: there is none. */
#define TSV_NO_SUCH_FUNCTION (UINT32_MAX - 64)
uint32_t tsv_names_function(const struct tsv_names *n, uint64_t id);

#endif
