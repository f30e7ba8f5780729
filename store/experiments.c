/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * experiments.c - causal experiments into vprof.db and out of it.
 *
 * A struct experiments is one row of `causal` and the rows of five tables that name its run.  Every value read is checked: the
 * file may have been edited by hand.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "base/banned.h"
#include "store/columns.h"
#include "store/db.h"
#include "store/store.h"

static const char *metric_label(unsigned value)
{
	return gain_metric_name((enum gain_metric)value);
}

static const char *kind_label(unsigned value)
{
	return asked_kind_name((enum asked_kind)value);
}

static const char *end_label(unsigned value)
{
	return value == ENDED_NARROW ? "narrow" : "time";
}

static const struct named metrics = { metric_label, GAIN_CNT };
static const struct named kinds = { kind_label, ASKED_KIND_CNT };
static const struct named ends = { end_label, ENDED_TIME + 1 };

static const struct column causal_columns[] = {
	COL_TEXT_OR_NULL(struct experiments, interval),
	COL_64(struct experiments, baseline_cnt),
	COL_NAMED(struct experiments, metric, &metrics),
	COL_REAL(struct experiments, floor),
	COL_BOOL(struct experiments, replayed),
	COL_NAMED(struct experiments, ended, &ends),
};

struct baseline_row {
	enum gain_metric metric;
	double value;
};

static const struct column baseline_columns[] = {
	COL_NAMED(struct baseline_row, metric, &metrics),
	COL_REAL(struct baseline_row, value),
};

static const struct column experiment_columns[] = {
	COL_TEXT(struct experiment, target),
	COL_NAMED(struct experiment, kind, &kinds),
	COL_TEXT_OR_NULL(struct experiment, function),
	COL_TEXT_OR_NULL(struct experiment, file),
	COL_REAL(struct experiment, speedup),
	COL_64(struct experiment, rounds),
	COL_64(struct experiment, set_aside),
	COL_64(struct experiment, interval_cnt),
	COL_REAL(struct experiment, delay_ns),
	COL_TEXT_OR_NULL(struct experiment, limit),
};

struct gain_row {
	enum gain_metric metric;
	struct gain gain;
};

static const struct column gain_columns[] = {
	COL_NAMED(struct gain_row, metric, &metrics),
	COL_REAL_IF(struct gain_row, gain.value, gain.known),
	COL_REAL_IF(struct gain_row, gain.gain, gain.known),
	COL_REAL_IF(struct gain_row, gain.ci95[0], gain.has_ci95),
	COL_REAL_IF(struct gain_row, gain.ci95[1], gain.has_ci95),
	COL_REAL_IF(struct gain_row, gain.p_value, gain.has_ci95),
	COL_REAL_IF(struct gain_row, gain.predicted, gain.has_predicted),
};

static const struct column refusal_columns[] = {
	COL_TEXT(struct refusal, target),
	COL_TEXT(struct refusal, why),
	COL_TEXT_OR_NULL(struct refusal, instead),
};

static const struct column warning_columns[] = {
	COL_TEXT(struct warning, code),
	COL_TEXT(struct warning, text),
};

/* ---- writing ---- */

static int write_experiment(struct store *s, uint32_t run, size_t position, const struct experiment *x, struct diag *reterr)
{
	int r = INSERT(s, STMT_EXPERIMENT_INSERT, KEYS2(run, position), experiment_columns, x, reterr);

	for (unsigned m = 0; r == 0 && m < GAIN_CNT; m++) {
		struct gain_row row = { m, x->metrics[m] };

		if (row.gain.known || row.gain.has_predicted)
			r = INSERT(s, STMT_EXPERIMENT_METRIC_INSERT, KEYS2(run, position), gain_columns, &row, reterr);
	}
	return r;
}

static int write_rows(struct store *s, uint32_t run, const struct experiments *e, struct diag *reterr)
{
	int r = INSERT(s, STMT_CAUSAL_INSERT, KEYS1(run), causal_columns, e, reterr);

	for (unsigned m = 0; r == 0 && e->baseline_cnt && m < GAIN_CNT; m++) {
		struct baseline_row row = { m, e->baseline[m] };

		r = INSERT(s, STMT_CAUSAL_BASELINE_INSERT, KEYS1(run), baseline_columns, &row, reterr);
	}
	for (size_t i = 0; r == 0 && i < e->list.cnt; i++)
		r = write_experiment(s, run, i, &e->list.items[i], reterr);
	for (size_t i = 0; r == 0 && i < e->refused.cnt; i++)
		r = INSERT(s, STMT_CAUSAL_REFUSAL_INSERT, KEYS2(run, i), refusal_columns, &e->refused.items[i], reterr);
	for (size_t i = 0; r == 0 && i < e->warnings.cnt; i++)
		r = INSERT(s, STMT_CAUSAL_WARNING_INSERT, KEYS2(run, i), warning_columns, &e->warnings.items[i], reterr);
	return r;
}

int experiments_write(struct store *s, uint32_t run, const struct experiments *e, struct diag *reterr)
{
	static const enum stmt deletes[] = {
		STMT_CAUSAL_DELETE, STMT_CAUSAL_BASELINES_DELETE, STMT_EXPERIMENTS_DELETE, STMT_EXPERIMENT_METRICS_DELETE,
		STMT_CAUSAL_REFUSALS_DELETE, STMT_CAUSAL_WARNINGS_DELETE,
	};
	_cleanup_(transaction_release) struct transaction t = TRANSACTION_INIT;
	int r = transaction_begin(&t, s, true, reterr);

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(deletes); i++)
		r = db_run_key(s, deletes[i], run, reterr);
	if (r == 0)
		r = write_rows(s, run, e, reterr);
	return r < 0 ? r : transaction_commit(&t, reterr);
}

/* ---- reading ---- */

typedef int (*add_row)(struct experiments *e, sqlite3_stmt *st);

#define READ(e, st, first, columns, row) columns_read(st, first, columns, ARRAY_SIZE(columns), (e)->arena, row)

static int read_causal(struct experiments *e, sqlite3_stmt *st)
{
	int r = READ(e, st, 0, causal_columns, e);

	return r == 0 && !isfinite(e->floor) ? -EBADMSG : r;
}

static int read_baseline(struct experiments *e, sqlite3_stmt *st)
{
	struct baseline_row row;
	int r = READ(e, st, 0, baseline_columns, &row);

	if (r < 0 || !isfinite(row.value))
		return -EBADMSG;
	e->baseline[row.metric] = row.value;
	return 0;
}

static int read_experiment(struct experiments *e, sqlite3_stmt *st)
{
	struct experiment *x = VEC_EXTEND(&e->list);
	int r;

	if (sqlite3_column_int64(st, 0) != (int64_t)e->list.cnt - 1)
		return -EBADMSG;
	r = READ(e, st, 1, experiment_columns, x);
	return r == 0 && !(x->speedup > 0 && x->speedup <= 1 && isfinite(x->delay_ns)) ? -EBADMSG : r;
}

static bool is_finite(const struct gain *g)
{
	return isfinite(g->value) && isfinite(g->gain) && isfinite(g->ci95[0]) && isfinite(g->ci95[1]) && isfinite(g->p_value) &&
	       isfinite(g->predicted);
}

static int read_gain(struct experiments *e, sqlite3_stmt *st)
{
	int64_t position = sqlite3_column_int64(st, 0);
	struct gain_row row = { .metric = 0 };
	int r = READ(e, st, 1, gain_columns, &row);

	if (r < 0 || position < 0 || position >= (int64_t)e->list.cnt || !is_finite(&row.gain))
		return -EBADMSG;
	e->list.items[position].metrics[row.metric] = row.gain;
	return 0;
}

static int read_refusal(struct experiments *e, sqlite3_stmt *st)
{
	return READ(e, st, 0, refusal_columns, VEC_EXTEND(&e->refused));
}

static int read_warning(struct experiments *e, sqlite3_stmt *st)
{
	return READ(e, st, 0, warning_columns, VEC_EXTEND(&e->warnings));
}

static const struct {
	enum stmt id;
	add_row add;
	const char *what;
} tables[] = {
	{ STMT_CAUSAL_READ, read_causal, "causal" },
	{ STMT_CAUSAL_BASELINES_READ, read_baseline, "causal_baseline" },
	{ STMT_EXPERIMENTS_READ, read_experiment, "experiment" },
	{ STMT_EXPERIMENT_METRICS_READ, read_gain, "experiment_metric" },
	{ STMT_CAUSAL_REFUSALS_READ, read_refusal, "causal_refusal" },
	{ STMT_CAUSAL_WARNINGS_READ, read_warning, "causal_warning" },
};

/* *ret_cnt: rows of it. */
static int read_table(struct store *s, size_t table, uint32_t run, struct experiments *e, size_t *ret_cnt, struct diag *reterr)
{
	sqlite3_stmt *st = NULL;
	int r = db_prepare(s, tables[table].id, &st, reterr);

	*ret_cnt = 0;
	if (r < 0)
		return r;
	sqlite3_bind_int64(st, 1, run);
	while ((r = db_step(s, st, reterr)) > 0) {
		++*ret_cnt;
		if (tables[table].add(e, st) == 0)
			continue;
		sqlite3_reset(st);
		diag_set(reterr, EXIT_DATA, -EBADMSG, "'%s' is damaged: table %s does not fit together", s->path,
			 tables[table].what);
		return diag_remedy(reterr, -EBADMSG, "vprof causal measures anew");
	}
	return r;
}

int experiments_read(struct store *s, uint32_t run, struct experiments **ret, struct diag *reterr)
{
	_cleanup_(transaction_release) struct transaction t = TRANSACTION_INIT;
	_cleanup_(experiments_freep) struct experiments *e = experiments_new();
	int r = transaction_begin(&t, s, false, reterr);
	size_t cnt;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(tables); i++) {
		r = read_table(s, i, run, e, &cnt, reterr);
		if (r == 0 && i == 0 && cnt == 0) {
			diag_set(reterr, EXIT_NO_EVIDENCE, -ENOENT, "run %" PRIu32 " has no causal experiments", run);
			return diag_remedy(reterr, -ENOENT, "vprof causal -- COMMAND; vprof causal --predict %" PRIu32
					   " predicts from its trace", run);
		}
	}
	if (r == 0)
		r = transaction_commit(&t, reterr);
	if (r < 0)
		return r;
	experiments_choose_best(e);
	*ret = TAKE_PTR(e);
	return 0;
}

int experiments_latest(struct store *s, uint32_t *ret_run, struct diag *reterr)
{
	sqlite3_stmt *st = NULL;
	int64_t run = 0;
	bool found = false;
	int r = db_prepare(s, STMT_CAUSAL_LATEST, &st, reterr);

	if (r == 0)
		r = db_read_int(s, st, &run, &found, reterr);
	*ret_run = r == 0 && found && run > 0 && run <= UINT32_MAX ? (uint32_t)run : 0;
	return r;
}
