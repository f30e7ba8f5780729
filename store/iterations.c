/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * iterations.c - which runs `vprof iterate` made, with what plan, and why it stopped.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/banned.h"
#include "store/columns.h"
#include "store/db.h"
#include "store/store.h"

static const struct column iteration_columns[] = {
	COL_U32(struct iteration, run),
	COL_U32(struct iteration, first_run),
	COL_TEXT(struct iteration, policy),
	COL_U32(struct iteration, recorded_cnt),
	COL_U32(struct iteration, dormant_cnt),
	COL_U32(struct iteration, added_cnt),
	COL_REAL(struct iteration, probe_cost),
	COL_TEXT(struct iteration, selected),
	COL_TEXT_OR_NULL(struct iteration, stop),
};

int iteration_write(struct store *s, const struct iteration *i, struct diag *reterr)
{
	sqlite3_stmt *st = NULL;
	int r = db_prepare(s, STMT_ITERATION_WRITE, &st, reterr);

	if (r < 0)
		return r;
	columns_bind(st, 1, iteration_columns, ARRAY_SIZE(iteration_columns), i);
	return db_step(s, st, reterr);
}

int iterations_read(struct store *s, iterations *ret, struct diag *reterr)
{
	_cleanup_(iterations_release) iterations list = { NULL, 0, 0 };
	sqlite3_stmt *st = NULL;
	int r;

	*ret = list;
	r = db_prepare(s, STMT_ITERATIONS_READ, &st, reterr);

	while (r >= 0 && (r = db_step(s, st, reterr)) > 0) {
		struct iteration *i = VEC_EXTEND(&list);

		if (columns_read(st, 0, iteration_columns, ARRAY_SIZE(iteration_columns), NULL, i) <
		    0) {
			sqlite3_reset(st);
			return diag_set(reterr, EXIT_DATA, -EBADMSG,
					"'%s' is damaged: its iterations cannot be read", s->path);
		}
	}
	if (r < 0)
		return r;
	*ret = list;
	list = (iterations){ NULL, 0, 0 };
	return 0;
}

void iterations_release(iterations *list)
{
	for (size_t i = 0; i < list->cnt; i++) {
		free(list->items[i].policy);
		free(list->items[i].selected);
		free(list->items[i].stop);
	}
	VEC_RELEASE(list);
}
