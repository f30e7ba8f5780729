/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * planned.c - the plan of each run, and how often each of its functions was recorded.
 *
 *	run  function  level     calls
 *	4    parse     interval  1000		recorded 1000 times
 *	4    flush     always    0		in the program, never called
 *	4    tool      interval  -		in no program that ran
 */
#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/banned.h"
#include "base/map.h"
#include "store/columns.h"
#include "store/db.h"
#include "store/store.h"

static const char *const level_names[] = {
	[PLANNED_IN_INTERVALS] = "interval", [PLANNED_ALWAYS] = "always",
	[PLANNED_DORMANT] = "dormant",
};

const char *planned_level_name(enum planned_level level)
{
	return level_names[level];
}

static const char *level_name(unsigned value)
{
	return level_names[value];
}

static const struct named levels = { level_name, ARRAY_SIZE(level_names) };

static const struct column planned_columns[] = {
	COL_64(struct planned_function, key),
	COL_NAMED(struct planned_function, level, &levels),
	COL_U32_OR_NULL(struct planned_function, calls),
};

static int write_all(struct store *s, enum stmt id, uint32_t run, const struct planned_function *list,
		     size_t cnt, struct diag *reterr)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < cnt; i++) {
		sqlite3_stmt *st = NULL;

		r = db_prepare(s, id, &st, reterr);
		if (r < 0)
			return r;
		sqlite3_bind_int64(st, 1, run);
		columns_bind(st, 2, planned_columns, ARRAY_SIZE(planned_columns), &list[i]);
		r = db_step(s, st, reterr);
	}
	return r;
}

int planned_write(struct store *s, uint32_t run, const struct planned_function *list, size_t cnt,
		  struct diag *reterr)
{
	_cleanup_(transaction_release) struct transaction t = TRANSACTION_INIT;
	int r = transaction_begin(&t, s, true, reterr);

	if (r == 0)
		r = db_run_key(s, STMT_PLANNED_DELETE, run, reterr);
	if (r == 0)
		r = write_all(s, STMT_PLANNED_INSERT, run, list, cnt, reterr);
	return r < 0 ? r : transaction_commit(&t, reterr);
}

int planned_count(struct store *s, uint32_t run, const struct trace *t, const uint32_t *calls,
		  struct diag *reterr)
{
	_cleanup_(transaction_release) struct transaction transaction = TRANSACTION_INIT;
	VEC(struct planned_function) list = { NULL, 0, 0 };
	int r;

	for (size_t i = 0; i < t->functions.cnt; i++)
		if (t->functions.items[i].registered && t->functions.items[i].probed)
			VEC_ADD(&list, (struct planned_function){ t->functions.items[i].key,
								  PLANNED_ALWAYS, calls[i] });
	r = transaction_begin(&transaction, s, true, reterr);
	if (r == 0)
		r = write_all(s, STMT_PLANNED_COUNT, run, list.items, list.cnt, reterr);
	VEC_RELEASE(&list);
	return r < 0 ? r : transaction_commit(&transaction, reterr);
}

int planned_read(struct store *s, uint32_t run, planned_functions *ret, struct diag *reterr)
{
	planned_functions list = { NULL, 0, 0 };
	sqlite3_stmt *st = NULL;
	int r;

	*ret = list;
	r = db_prepare(s, STMT_PLANNED_READ, &st, reterr);
	if (r < 0)
		return r;
	sqlite3_bind_int64(st, 1, run);
	while ((r = db_step(s, st, reterr)) > 0)
		if (columns_read(st, 0, planned_columns, ARRAY_SIZE(planned_columns), NULL,
				 VEC_EXTEND(&list)) < 0) {
			sqlite3_reset(st);
			r = diag_set(reterr, EXIT_DATA, -EBADMSG,
				     "'%s' is damaged: the plan of run %u cannot be read", s->path,
				     run);
			break;
		}
	if (r < 0) {
		VEC_RELEASE(&list);
		return r;
	}
	*ret = list;
	return 0;
}
