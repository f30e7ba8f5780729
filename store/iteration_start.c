/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * iteration_start.c - the options of an iteration, and the user's answers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "store/columns.h"
#include "store/db.h"
#include "store/iteration_start.h"

static const struct column start_columns[] = {
	COL_U32(struct iteration_start, first_run),
	COL_TEXT(struct iteration_start, command),
	COL_TEXT(struct iteration_start, policy),
	COL_U32(struct iteration_start, k),
	COL_U32(struct iteration_start, max_runs),
	COL_REAL(struct iteration_start, threshold),
	COL_REAL(struct iteration_start, overhead),
	COL_64(struct iteration_start, sources),
	COL_64(struct iteration_start, configuration),
};

static const struct column answer_columns[] = {
	COL_64(struct iteration_answer, function),
	COL_BOOL(struct iteration_answer, deeper),
};

static int damaged(struct store *s, sqlite3_stmt *st, struct diag *reterr)
{
	sqlite3_reset(st);
	return diag_set(reterr, EXIT_DATA, -EBADMSG,
			"'%s' is damaged: its iterations cannot be read", s->path);
}

int iteration_start_write(struct store *s, const struct iteration_start *i, struct diag *reterr)
{
	sqlite3_stmt *st = NULL;
	int r = db_prepare(s, STMT_ITERATION_START_WRITE, &st, reterr);

	if (r < 0)
		return r;
	columns_bind(st, 1, start_columns, ARRAY_SIZE(start_columns), i);
	return db_step(s, st, reterr);
}

int iteration_start_read(struct store *s, uint32_t first_run, struct iteration_start *ret,
			 struct diag *reterr)
{
	_cleanup_(iteration_start_release) struct iteration_start i = { 0 };
	sqlite3_stmt *st = NULL;
	int r = db_prepare(s, STMT_ITERATION_START_READ, &st, reterr);

	if (r < 0)
		return r;
	sqlite3_bind_int64(st, 1, first_run);
	r = db_step(s, st, reterr);
	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	if (columns_read(st, 0, start_columns, ARRAY_SIZE(start_columns), NULL, &i) < 0)
		return damaged(s, st, reterr);
	sqlite3_reset(st);
	*ret = i;
	memset(&i, 0, sizeof(i));
	return 0;
}

void iteration_start_release(struct iteration_start *i)
{
	free(i->command);
	free(i->policy);
	memset(i, 0, sizeof(*i));
}

int iteration_answer_write(struct store *s, uint32_t first_run, const struct iteration_answer *a,
			   struct diag *reterr)
{
	sqlite3_stmt *st = NULL;
	int r = db_prepare(s, STMT_ANSWER_WRITE, &st, reterr);

	if (r < 0)
		return r;
	sqlite3_bind_int64(st, 1, first_run);
	columns_bind(st, 2, answer_columns, ARRAY_SIZE(answer_columns), a);
	return db_step(s, st, reterr);
}

int iteration_answers_read(struct store *s, uint32_t first_run, iteration_answers *ret,
			   struct diag *reterr)
{
	iteration_answers list = { NULL, 0, 0 };
	sqlite3_stmt *st = NULL;
	int r = db_prepare(s, STMT_ANSWERS_READ, &st, reterr);

	*ret = list;
	if (r < 0)
		return r;
	sqlite3_bind_int64(st, 1, first_run);
	while ((r = db_step(s, st, reterr)) > 0)
		if (columns_read(st, 0, answer_columns, ARRAY_SIZE(answer_columns), NULL,
				 VEC_EXTEND(&list)) < 0) {
			r = damaged(s, st, reterr);
			break;
		}
	if (r < 0) {
		VEC_RELEASE(&list);
		return r;
	}
	*ret = list;
	return 0;
}
