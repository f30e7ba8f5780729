/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * results.c - findings in and out of vprof.db.
 *
 * A struct findings is one row of `finding` and the rows of thirteen tables that name it; what is
 * read equals what was written, doubles bit for bit (but -0 comes back as 0: SQLite's doing).
 * Analysing a run again replaces its finding under the same id, so that "the one first written"
 * stays the first.
 *
 * The file may have been edited by hand: node and factor numbers are checked on reading, so
 * that nobody above has to ask whether a parent exists.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/banned.h"
#include "store/columns.h"
#include "store/db.h"
#include "store/store.h"

static const char *wait_name(unsigned value)
{
	return trace_state_name((enum trace_state)value);
}

static const char *node_name(unsigned value)
{
	return node_kind_name((enum node_kind)value);
}

static const char *factor_name(unsigned value)
{
	return factor_kind_name((enum factor_kind)value);
}

static const struct named waits = { wait_name, STATE_CNT };
static const struct named node_kinds = { node_name, NODE_BLAME + 1 };
static const struct named factor_kinds = { factor_name, FACTOR_PAIR + 1 };

static const struct column finding_columns[] = {
	COL_TEXT_OR_NULL(struct findings, interval.name),
	COL_64(struct findings, interval.cnt),
	COL_64(struct findings, interval.dropped_open),
	COL_64(struct findings, interval.dropped_aborted),
	COL_64(struct findings, interval.dropped_bad_path),
	COL_64(struct findings, interval.dropped_lost),
	COL_REAL(struct findings, interval.mean_ns),
	COL_REAL(struct findings, interval.variance_ns2),
	COL_REAL(struct findings, interval.stddev_ns),
	COL_64(struct findings, interval.p50_ns),
	COL_64(struct findings, interval.p90_ns),
	COL_64(struct findings, interval.p99_ns),
	COL_64(struct findings, interval.min_ns),
	COL_64(struct findings, interval.max_ns),
	COL_U32(struct findings, root_height),
	COL_64(struct findings, clamped),
};

static const struct column probing_columns[] = {
	COL_64(struct probing, root_only_cnt),
	COL_REAL(struct probing, root_only_mean_ns),
	COL_REAL(struct probing, root_only_variance_ns2),
	COL_64(struct probing, root_only_p50_ns),
	COL_64(struct probing, root_only_p99_ns),
	COL_64(struct probing, root_only_max_ns),
	COL_REAL_IF(struct probing, mean, measured),
	COL_REAL_IF(struct probing, mean_low, measured),
	COL_REAL_IF(struct probing, mean_high, measured),
	COL_REAL_IF(struct probing, variance, has_variance),
	COL_REAL_IF(struct probing, variance_low, has_variance),
	COL_REAL_IF(struct probing, variance_high, has_variance),
};

static const struct column tail_columns[] = {
	COL_REAL(struct tail, quantile),
	COL_64(struct tail, from_ns),
	COL_64(struct tail, cnt),
	COL_REAL(struct tail, mean_ns),
	COL_64(struct tail, fast_to_ns),
	COL_64(struct tail, fast_cnt),
	COL_REAL(struct tail, fast_mean_ns),
};

static const struct column work_columns[] = {
	COL_TEXT_OR_NULL(struct inherent_work, names),
	COL_64(struct inherent_work, interval_cnt),
	COL_REAL(struct inherent_work, explained),
};

static const struct column part_columns[] = {
	COL_TEXT_OR_NULL(struct part, function),
	COL_TEXT_OR_NULL(struct part, file),
	COL_NAMED_IF(struct part, wait, is_wait, &waits),
	COL_REAL(struct part, mean_ns),
	COL_REAL(struct part, share),
	COL_REAL_IF(struct part, tail_share, has_tail),
	COL_REAL_IF(struct part, tail_ci95[0], has_tail_ci95),
	COL_REAL_IF(struct part, tail_ci95[1], has_tail_ci95),
	COL_REAL(struct part, slow_mean_ns),
	COL_REAL(struct part, fast_mean_ns),
	COL_REAL(struct part, slow_presence),
	COL_REAL(struct part, fast_presence),
};

static const struct column cause_columns[] = {
	COL_REAL(struct common_cause, explained),
	COL_REAL(struct common_cause, own),
	COL_REAL_IF(struct common_cause, ci95[0], has_ci95),
	COL_REAL_IF(struct common_cause, ci95[1], has_ci95),
};

static const struct column member_columns[] = {
	COL_U32(struct common_member, part),
	COL_REAL(struct common_member, contribution),
};

static const struct column node_columns[] = {
	COL_U32(struct node, id),
	COL_U32_OR_NULL(struct node, parent),
	COL_NAMED(struct node, kind, &node_kinds),
	COL_TEXT_OR_NULL(struct node, function),
	COL_TEXT_OR_NULL(struct node, file),
	COL_U32(struct node, line),
	COL_TEXT_OR_NULL(struct node, call_site),
	COL_NAMED_IF(struct node, wait, is_wait, &waits),
	COL_REAL(struct node, mean_ns),
	COL_REAL(struct node, variance_ns2),
	COL_REAL(struct node, share),
	COL_REAL(struct node, variance_share),
	COL_REAL(struct node, calls_per_interval),
	COL_REAL(struct node, presence),
	COL_BOOL(struct node, open),
	COL_REAL_IF(struct node, ci95[0], has_ci95),
	COL_REAL_IF(struct node, ci95[1], has_ci95),
};

static const struct column covariance_columns[] = {
	COL_U32(struct covariance, parent),
	COL_U32(struct covariance, a),
	COL_U32(struct covariance, b),
	COL_REAL(struct covariance, covariance_ns2),
	COL_REAL(struct covariance, share),
};

static const struct column factor_columns[] = {
	COL_NAMED(struct factor, kind, &factor_kinds),
	COL_TEXT_OR_NULL(struct factor, function),
	COL_TEXT_OR_NULL(struct factor, file),
	COL_U32(struct factor, line),
	COL_TEXT_OR_NULL(struct factor, functions[0]),
	COL_TEXT_OR_NULL(struct factor, functions[1]),
	COL_NAMED_IF(struct factor, wait, is_wait, &waits),
	COL_REAL(struct factor, share),
	COL_REAL(struct factor, variance_share),
	COL_REAL(struct factor, paper_contribution),
	COL_U32(struct factor, height),
	COL_REAL(struct factor, specificity),
	COL_REAL(struct factor, score),
	COL_REAL(struct factor, paper_score),
	COL_REAL_IF(struct factor, tail_share, has_tail),
	COL_REAL(struct factor, mean_ns),
	COL_BOOL(struct factor, open),
	COL_REAL_IF(struct factor, ci95[0], has_ci95),
	COL_REAL_IF(struct factor, ci95[1], has_ci95),
	COL_BOOL_IF(struct factor, resolved, has_resolved),
	COL_REAL_IF(struct factor, presence, has_presence),
	COL_U32(struct factor, rank_low),
	COL_U32(struct factor, rank_high),
	COL_64(struct factor, rank_needed),
	COL_REAL_IF(struct factor, paper_ci95[0], has_paper_ci95),
	COL_REAL_IF(struct factor, paper_ci95[1], has_paper_ci95),
	COL_BOOL_IF(struct factor, paper_resolved, has_paper_resolved),
	COL_REAL_IF(struct factor, work_share, has_work_share),
	COL_REAL_IF(struct factor, work_ci95[0], has_work_ci95),
	COL_REAL_IF(struct factor, work_ci95[1], has_work_ci95),
	COL_REAL_IF(struct factor, trimmed_share, has_trimmed),
};

static const struct column because_columns[] = {
	COL_TEXT_OR_NULL(struct because, function),
	COL_TEXT_OR_NULL(struct because, file),
	COL_NAMED_IF(struct because, wait, is_wait, &waits),
	COL_REAL(struct because, share),
};

static const struct column interval_columns[] = {
	COL_64(struct interval_row, sid),
	COL_64(struct interval_row, start_ns),
	COL_64(struct interval_row, end_ns),
	COL_64(struct interval_row, start_tid),
	COL_64(struct interval_row, end_tid),
	COL_BOOL(struct interval_row, root_only),
};

static const struct column warning_columns[] = {
	COL_TEXT(struct warning, code),
	COL_TEXT(struct warning, text),
};

struct text_row {
	const char *text;
};

static const struct column text_columns[] = {
	COL_TEXT(struct text_row, text),
};

/* ---- writing ---- */

/* Key columns first, then the struct's. */
struct keys {
	int64_t values[3];
	int cnt;
};

static int insert(struct store *s, enum stmt id, struct keys keys, const struct column *columns,
		  size_t cnt, const void *row, struct diag *reterr)
{
	sqlite3_stmt *st = NULL;
	int r = db_prepare(s, id, &st, reterr);

	if (r < 0)
		return r;
	for (int i = 0; i < keys.cnt; i++)
		sqlite3_bind_int64(st, i + 1, keys.values[i]);
	columns_bind(st, keys.cnt + 1, columns, cnt, row);
	return db_step(s, st, reterr);
}

#define INSERT(s, id, keys, columns, row, reterr) \
	insert(s, id, keys, columns, ARRAY_SIZE(columns), row, reterr)
#define KEYS1(a) ((struct keys){ { (a) }, 1 })
#define KEYS2(a, b) ((struct keys){ { (a), (int64_t)(b) }, 2 })
#define KEYS3(a, b, c) ((struct keys){ { (a), (int64_t)(b), (int64_t)(c) }, 3 })

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

static int write_rows(struct store *s, int64_t id, const struct findings *f, struct diag *reterr)
{
	int r = 0;

	if (f->probing.root_only_cnt)
		r = INSERT(s, STMT_PROBING_INSERT, KEYS1(id), probing_columns, &f->probing, reterr);
	if (r == 0)
		r = INSERT(s, STMT_TAIL_INSERT, KEYS1(id), tail_columns, &f->tail, reterr);
	if (r == 0 && f->work.names)
		r = INSERT(s, STMT_WORK_INSERT, KEYS1(id), work_columns, &f->work, reterr);
	for (size_t i = 0; r == 0 && i < f->parts.cnt; i++)
		r = INSERT(s, STMT_PART_INSERT, KEYS2(id, i), part_columns, &f->parts.items[i], reterr);
	for (size_t i = 0; r == 0 && i < f->common_causes.cnt; i++)
		r = write_cause(s, id, i, &f->common_causes.items[i], reterr);
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
	for (size_t i = 0; r == 0 && i < f->warnings.cnt; i++)
		r = INSERT(s, STMT_WARNING_INSERT, KEYS2(id, i), warning_columns,
			   &f->warnings.items[i], reterr);
	for (size_t i = 0; r == 0 && i < f->interval_names.cnt; i++)
		r = INSERT(s, STMT_INTERVAL_NAME_INSERT, KEYS2(id, i), text_columns,
			   &f->interval_names.items[i], reterr);
	return r;
}

static int find_finding(struct store *s, enum stmt id, uint32_t run, const char *interval,
			int64_t *ret, bool *ret_found, struct diag *reterr)
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

/* The id to write under: the old finding's, emptied, or the next free one. */
static int take_id(struct store *s, uint32_t run, const char *interval, int64_t *ret,
		   struct diag *reterr)
{
	static const enum stmt deletes[] = {
		STMT_NODES_DELETE, STMT_COVARIANCES_DELETE, STMT_FACTORS_DELETE,
		STMT_FACTOR_CALL_SITES_DELETE, STMT_BECAUSE_DELETE, STMT_INTERVALS_DELETE,
		STMT_WARNINGS_DELETE, STMT_INTERVAL_NAMES_DELETE, STMT_PROBING_DELETE,
		STMT_TAIL_DELETE, STMT_WORK_DELETE, STMT_PARTS_DELETE,
		STMT_CAUSES_DELETE, STMT_MEMBERS_DELETE,
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

int findings_write(struct store *s, uint32_t run, const struct findings *f, struct diag *reterr)
{
	_cleanup_(transaction_release) struct transaction t = TRANSACTION_INIT;
	int64_t id = 0;
	int r = transaction_begin(&t, s, true, reterr);

	if (r == 0)
		r = take_id(s, run, f->interval.name, &id, reterr);
	if (r == 0)
		r = INSERT(s, STMT_FINDING_INSERT, KEYS2(id, run), finding_columns, f, reterr);
	if (r == 0)
		r = write_rows(s, id, f, reterr);
	return r < 0 ? r : transaction_commit(&t, reterr);
}

/* ---- reading ---- */

/* One reading of a finding: everything lands in f, texts in its arena. */
struct reading {
	struct store *s;
	int64_t id;
	struct findings *f;
};

/* Adds the row that st stands on; -EBADMSG if it does not fit. */
typedef int (*add_row)(struct reading *x, sqlite3_stmt *st);

#define READ(x, st, first, columns, row) \
	columns_read(st, first, columns, ARRAY_SIZE(columns), (x)->f->arena, row)

static int read_summary(struct reading *x, sqlite3_stmt *st)
{
	return READ(x, st, 0, finding_columns, x->f);
}

static int read_probing(struct reading *x, sqlite3_stmt *st)
{
	return READ(x, st, 0, probing_columns, &x->f->probing);
}

static int read_tail(struct reading *x, sqlite3_stmt *st)
{
	return READ(x, st, 0, tail_columns, &x->f->tail);
}

static int read_work(struct reading *x, sqlite3_stmt *st)
{
	return READ(x, st, 0, work_columns, &x->f->work);
}

static int read_part(struct reading *x, sqlite3_stmt *st)
{
	return READ(x, st, 0, part_columns, VEC_EXTEND(&x->f->parts));
}

/* Arrays within rows live in the arena: grown by doubling, the old copy is left to it. */
static void *arena_grown(struct arena *a, const void *items, size_t cnt, size_t *cap, size_t size)
{
	void *bigger;

	if (cnt < *cap)
		return (void *)items;
	*cap = *cap ? *cap * 2 : 4;
	bigger = arena_alloc(a, *cap * size);
	if (cnt)
		memcpy(bigger, items, cnt * size);
	return bigger;
}

static int read_cause(struct reading *x, sqlite3_stmt *st)
{
	return READ(x, st, 0, cause_columns, VEC_EXTEND(&x->f->common_causes));
}

static int read_member(struct reading *x, sqlite3_stmt *st)
{
	int64_t id = sqlite3_column_int64(st, 0);
	struct common_cause *c;
	struct common_member *m;
	int r;

	if (id < 0 || id >= (int64_t)x->f->common_causes.cnt)
		return -EBADMSG;
	c = &x->f->common_causes.items[id];
	c->members.items = arena_grown(x->f->arena, c->members.items, c->members.cnt, &c->members.cap,
				       sizeof(*c->members.items));
	m = &c->members.items[c->members.cnt++];
	r = READ(x, st, 1, member_columns, m);
	return r == 0 && m->part >= x->f->parts.cnt ? -EBADMSG : r;
}

static int read_node(struct reading *x, sqlite3_stmt *st)
{
	struct node *n = VEC_EXTEND(&x->f->nodes);
	uint32_t id = (uint32_t)x->f->nodes.cnt - 1;
	int r = READ(x, st, 0, node_columns, n);

	if (r == 0 && (n->id != id || (id == 0 ? n->parent != NODE_NONE : n->parent >= id)))
		r = -EBADMSG;
	return r;
}

static int read_covariance(struct reading *x, sqlite3_stmt *st)
{
	struct covariance *c = VEC_EXTEND(&x->f->covariances);
	size_t nodes = x->f->nodes.cnt;
	int r = READ(x, st, 0, covariance_columns, c);

	if (r == 0 && (c->parent >= nodes || c->a >= nodes || c->b >= nodes))
		r = -EBADMSG;
	return r;
}

static int read_factor(struct reading *x, sqlite3_stmt *st)
{
	struct factor *f = VEC_EXTEND(&x->f->factors);

	if (sqlite3_column_int64(st, 0) != (int64_t)x->f->factors.cnt - 1)
		return -EBADMSG;
	return READ(x, st, 1, factor_columns, f);
}

/* The factor that a row of a child table names in its first column. */
static struct factor *parent_factor(struct reading *x, sqlite3_stmt *st)
{
	int64_t id = sqlite3_column_int64(st, 0);

	return id >= 0 && id < (int64_t)x->f->factors.cnt ? &x->f->factors.items[id] : NULL;
}

static int read_call_site(struct reading *x, sqlite3_stmt *st)
{
	struct factor *f = parent_factor(x, st);
	strings *list;

	if (!f)
		return -EBADMSG;
	list = &f->call_sites;
	list->items = arena_grown(x->f->arena, list->items, list->cnt, &list->cap,
				  sizeof(*list->items));
	return READ(x, st, 1, text_columns, &list->items[list->cnt++]);
}

static int read_because(struct reading *x, sqlite3_stmt *st)
{
	struct factor *f = parent_factor(x, st);

	if (!f)
		return -EBADMSG;
	f->because_of.items = arena_grown(x->f->arena, f->because_of.items, f->because_of.cnt,
					  &f->because_of.cap, sizeof(*f->because_of.items));
	return READ(x, st, 1, because_columns, &f->because_of.items[f->because_of.cnt++]);
}

static int read_interval(struct reading *x, sqlite3_stmt *st)
{
	struct interval_row *row = VEC_EXTEND(&x->f->intervals);
	int64_t latency_ns;
	int r = READ(x, st, 0, interval_columns, row);

	if (r == 0 && (row->end_ns < row->start_ns ||
		       __builtin_sub_overflow(row->end_ns, row->start_ns, &latency_ns)))
		r = -EBADMSG;
	return r;
}

static int read_warning(struct reading *x, sqlite3_stmt *st)
{
	return READ(x, st, 0, warning_columns, VEC_EXTEND(&x->f->warnings));
}

static int read_interval_name(struct reading *x, sqlite3_stmt *st)
{
	return READ(x, st, 0, text_columns, VEC_EXTEND(&x->f->interval_names));
}

static const struct {
	enum stmt id;
	add_row add;
	const char *what;
} tables[] = {
	{ STMT_FINDING_READ, read_summary, "finding" },
	{ STMT_PROBING_READ, read_probing, "probing" },
	{ STMT_TAIL_READ, read_tail, "tail" },
	{ STMT_WORK_READ, read_work, "inherent_work" },
	{ STMT_PARTS_READ, read_part, "part" },
	{ STMT_CAUSES_READ, read_cause, "common_cause" },
	{ STMT_MEMBERS_READ, read_member, "common_member" },
	{ STMT_NODES_READ, read_node, "node" },
	{ STMT_COVARIANCES_READ, read_covariance, "covariance" },
	{ STMT_FACTORS_READ, read_factor, "factor" },
	{ STMT_FACTOR_CALL_SITES_READ, read_call_site, "factor_call_site" },
	{ STMT_BECAUSE_READ, read_because, "because_of" },
	{ STMT_INTERVALS_READ, read_interval, "interval" },
	{ STMT_WARNINGS_READ, read_warning, "warning" },
	{ STMT_INTERVAL_NAMES_READ, read_interval_name, "interval_name" },
};

static int read_table(struct reading *x, size_t table, struct diag *reterr)
{
	sqlite3_stmt *st = NULL;
	int r = db_prepare(x->s, tables[table].id, &st, reterr);

	if (r < 0)
		return r;
	sqlite3_bind_int64(st, 1, x->id);
	while ((r = db_step(x->s, st, reterr)) > 0) {
		if (tables[table].add(x, st) == 0)
			continue;
		sqlite3_reset(st);
		diag_set(reterr, EXIT_DATA, -EBADMSG, "'%s' is damaged: table %s does not fit"
			 " together", x->s->path, tables[table].what);
		return diag_remedy(reterr, -EBADMSG, "vprof analyze computes the run's results anew");
	}
	return r;
}

static int no_finding(uint32_t run, const char *interval, struct diag *reterr)
{
	if (interval) {
		diag_set(reterr, EXIT_USAGE, -ENOENT, "run %" PRIu32 " has no results for an"
			 " interval '%s'", run, interval);
		return diag_remedy(reterr, -ENOENT, "vprof show summary %" PRIu32 " says which"
				   " intervals there are", run);
	}
	diag_set(reterr, EXIT_NO_EVIDENCE, -ENOENT, "run %" PRIu32 " has no results yet", run);
	return diag_remedy(reterr, -ENOENT, "vprof analyze %" PRIu32, run);
}

int findings_read(struct store *s, uint32_t run, const char *interval, struct findings **ret,
		  struct diag *reterr)
{
	_cleanup_(transaction_release) struct transaction t = TRANSACTION_INIT;
	_cleanup_(findings_freep) struct findings *f = NULL;
	struct reading x = { .s = s };
	bool found = false;
	int r = transaction_begin(&t, s, false, reterr);

	if (r == 0)
		r = find_finding(s, interval ? STMT_FINDING_FIND : STMT_FINDING_FIRST, run,
				 interval, &x.id, &found, reterr);
	if (r < 0)
		return r;
	if (!found)
		return no_finding(run, interval, reterr);
	f = x.f = findings_new();
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(tables); i++)
		r = read_table(&x, i, reterr);
	if (r == 0)
		r = transaction_commit(&t, reterr);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(f);
	return 0;
}
