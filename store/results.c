/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * results.c - findings into vprof.db.
 *
 * A struct findings is one row of `finding` and the rows of 23 tables that name it; what is
 * read (results_read.c) equals what was written, doubles bit for bit (but -0 comes back as 0: SQLite's doing).
 * Analysing a run again replaces its finding under the same id, so that "the one first written"
 * stays the first.
 */
#include "base/banned.h"
#include "store/result_columns.h"

static int write_factor(struct store *s, int64_t finding, size_t id, const struct factor *f,
			struct diag *reterr)
{
	int r = INSERT(s, STMT_FACTOR_INSERT, KEYS2(finding, id), factor_columns, f, reterr);

	for (size_t i = 0; r == 0 && i < f->call_sites.cnt; i++)
		r = INSERT(s, STMT_FACTOR_CALL_SITE_INSERT, KEYS3(finding, id, i), text_columns,
			   &f->call_sites.items[i], reterr);
	for (size_t i = 0; r == 0 && i < f->because_of.cnt; i++)
		r = INSERT(s, STMT_BECAUSE_INSERT, KEYS3(finding, id, i), because_columns,
			   &f->because_of.items[i], reterr);
	return r;
}

static int write_cause(struct store *s, int64_t finding, size_t id, const struct common_cause *c,
		       struct diag *reterr)
{
	int r = INSERT(s, STMT_CAUSE_INSERT, KEYS2(finding, id), cause_columns, c, reterr);

	for (size_t i = 0; r == 0 && i < c->members.cnt; i++)
		r = INSERT(s, STMT_MEMBER_INSERT, KEYS3(finding, id, i), member_columns,
			   &c->members.items[i], reterr);
	return r;
}

static int write_summed_cause(struct store *s, int64_t finding, size_t position, const struct summed_cause *c, struct diag *reterr)
{
	int r = INSERT(s, STMT_SUMMED_CAUSE_INSERT, KEYS2(finding, position), summed_cause_columns, c, reterr);

	for (size_t i = 0; r == 0 && i < c->places.cnt; i++) {
		struct cause_place_row row = { c->places.items[i] };

		r = INSERT(s, STMT_CAUSE_PLACE_INSERT, KEYS3(finding, position, i), cause_place_columns, &row, reterr);
	}
	return r;
}

static int write_rows(struct store *s, int64_t id, const struct findings *f, struct diag *reterr)
{
	int r = 0;

	if (f->probing.root_only_cnt)
		r = INSERT(s, STMT_PROBING_INSERT, KEYS1(id), probing_columns, &f->probing, reterr);
	if (r == 0)
		r = INSERT(s, STMT_TAIL_INSERT, KEYS1(id), tail_columns, &f->tail, reterr);
	if (r == 0)
		r = INSERT(s, STMT_CPU_INSERT, KEYS1(id), cpu_columns, &f->cpu, reterr);
	for (size_t i = 0; r == 0 && i < f->cpu.others.cnt; i++)
		r = INSERT(s, STMT_CPU_OTHER_INSERT, KEYS2(id, i), cpu_other_columns, &f->cpu.others.items[i], reterr);
	if (r == 0 && (f->before.cnt || f->before.unknown_cnt))
		r = INSERT(s, STMT_BEFORE_INSERT, KEYS1(id), before_columns, &f->before, reterr);
	for (size_t i = 0; r == 0 && f->before.cnt && i < f->before.by.cnt; i++)
		r = INSERT(s, STMT_BEFORE_BY_INSERT, KEYS2(id, i), before_by_columns, &f->before.by.items[i], reterr);
	if (r == 0 && f->work.names)
		r = INSERT(s, STMT_WORK_INSERT, KEYS1(id), work_columns, &f->work, reterr);
	for (size_t i = 0; r == 0 && i < f->parts.cnt; i++)
		r = INSERT(s, STMT_PART_INSERT, KEYS2(id, i), part_columns, &f->parts.items[i], reterr);
	for (size_t i = 0; r == 0 && i < f->part_pairs.cnt; i++)
		r = INSERT(s, STMT_PART_PAIR_INSERT, KEYS2(id, i), part_pair_columns,
			   &f->part_pairs.items[i], reterr);
	for (size_t i = 0; r == 0 && i < f->common_causes.cnt; i++)
		r = write_cause(s, id, i, &f->common_causes.items[i], reterr);
	for (size_t i = 0; r == 0 && i < f->causes.cnt; i++)
		r = write_summed_cause(s, id, i, &f->causes.items[i], reterr);
	for (size_t i = 0; r == 0 && i < f->nodes.cnt; i++)
		r = INSERT(s, STMT_NODE_INSERT, KEYS1(id), node_columns, &f->nodes.items[i], reterr);
	for (size_t i = 0; r == 0 && i < f->covariances.cnt; i++)
		r = INSERT(s, STMT_COVARIANCE_INSERT, KEYS1(id), covariance_columns,
			   &f->covariances.items[i], reterr);
	for (size_t i = 0; r == 0 && i < f->factors.cnt; i++)
		r = write_factor(s, id, i, &f->factors.items[i], reterr);
	for (size_t i = 0; r == 0 && i < f->intervals.cnt; i++)
		r = INSERT(s, STMT_INTERVAL_INSERT, KEYS2(id, i), interval_columns,
			   &f->intervals.items[i], reterr);
	for (size_t i = 0; r == 0 && i < f->origins.cnt; i++)
		r = INSERT(s, STMT_ORIGIN_INSERT, KEYS2(id, i), origin_columns, &f->origins.items[i], reterr);
	for (size_t i = 0; r == 0 && i < f->waiters.cnt; i++)
		r = INSERT(s, STMT_WAITER_INSERT, KEYS2(id, i), waiter_columns, &f->waiters.items[i], reterr);
	for (size_t i = 0; r == 0 && i < f->warnings.cnt; i++)
		r = INSERT(s, STMT_WARNING_INSERT, KEYS2(id, i), warning_columns,
			   &f->warnings.items[i], reterr);
	for (size_t i = 0; r == 0 && i < f->interval_names.cnt; i++)
		r = INSERT(s, STMT_INTERVAL_NAME_INSERT, KEYS2(id, i), text_columns,
			   &f->interval_names.items[i], reterr);
	return r;
}

int find_finding(struct store *s, enum stmt id, uint32_t run, const char *interval, int64_t *ret, bool *ret_found,
		 struct diag *reterr)
{
	sqlite3_stmt *st = NULL;
	int r = db_prepare(s, id, &st, reterr);

	if (r < 0)
		return r;
	sqlite3_bind_int64(st, 1, run);
	if (id == STMT_FINDING_FIND)
		db_bind_text(st, 2, interval);
	return db_read_int(s, st, ret, ret_found, reterr);
}

/* The id to write under: that of the old finding, which is emptied, or the next free one. */
static int take_id(struct store *s, uint32_t run, const char *interval, int64_t *ret,
		   struct diag *reterr)
{
	static const enum stmt deletes[] = {
		STMT_NODES_DELETE, STMT_COVARIANCES_DELETE, STMT_FACTORS_DELETE,
		STMT_FACTOR_CALL_SITES_DELETE, STMT_BECAUSE_DELETE, STMT_INTERVALS_DELETE, STMT_ORIGINS_DELETE,
		STMT_WAITERS_DELETE, STMT_WARNINGS_DELETE, STMT_INTERVAL_NAMES_DELETE, STMT_PROBING_DELETE,
		STMT_CPU_DELETE, STMT_CPU_OTHERS_DELETE, STMT_TAIL_DELETE, STMT_WORK_DELETE, STMT_PARTS_DELETE, STMT_PART_PAIRS_DELETE,
		STMT_CAUSES_DELETE, STMT_MEMBERS_DELETE, STMT_SUMMED_CAUSES_DELETE, STMT_CAUSE_PLACES_DELETE,
		STMT_BEFORE_DELETE, STMT_BEFORE_BY_DELETE,
		STMT_FINDING_DELETE,
	};
	sqlite3_stmt *st = NULL;
	bool found;
	int r = find_finding(s, STMT_FINDING_FIND, run, interval, ret, &found, reterr);

	if (r < 0)
		return r;
	if (found) {
		for (size_t i = 0; r == 0 && i < ARRAY_SIZE(deletes); i++)
			r = db_run_key(s, deletes[i], *ret, reterr);
		return r;
	}
	r = db_prepare(s, STMT_FINDING_LAST_ID, &st, reterr);
	if (r == 0)
		r = db_read_int(s, st, ret, &found, reterr);
	*ret += 1;
	return r;
}

static int write_one(struct store *s, uint32_t run, const struct findings *f, struct diag *reterr)
{
	int64_t id = 0;
	int r = take_id(s, run, f->interval.name, &id, reterr);

	if (r == 0)
		r = INSERT(s, STMT_FINDING_INSERT, KEYS2(id, run), finding_columns, f, reterr);
	return r < 0 ? r : write_rows(s, id, f, reterr);
}

int findings_write(struct store *s, uint32_t run, struct findings *const *list, size_t cnt, struct diag *reterr)
{
	_cleanup_(transaction_release) struct transaction t = TRANSACTION_INIT;
	int r = transaction_begin(&t, s, true, reterr);

	for (size_t i = 0; r == 0 && i < cnt; i++)
		r = write_one(s, run, list[i], reterr);
	return r < 0 ? r : transaction_commit(&t, reterr);
}
