/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * results_read.c - findings out of vprof.db.
 *
 * The file may have been edited by hand: node, part and factor numbers are checked on reading, so that callers need
 * not check whether a parent exists.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/banned.h"
#include "store/result_columns.h"

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

static int read_cpu(struct reading *x, sqlite3_stmt *st)
{
	return READ(x, st, 0, cpu_columns, &x->f->cpu);
}

static int read_cpu_other(struct reading *x, sqlite3_stmt *st)
{
	struct cpu_found *c = &x->f->cpu;

	c->others.items = arena_grown(x->f->arena, c->others.items, c->others.cnt, &c->others.cap, sizeof(*c->others.items));
	return READ(x, st, 0, cpu_other_columns, &c->others.items[c->others.cnt++]);
}

static int read_work(struct reading *x, sqlite3_stmt *st)
{
	return READ(x, st, 0, work_columns, &x->f->work);
}

static int read_part(struct reading *x, sqlite3_stmt *st)
{
	return READ(x, st, 0, part_columns, VEC_EXTEND(&x->f->parts));
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

static int read_before(struct reading *x, sqlite3_stmt *st)
{
	return READ(x, st, 0, before_columns, &x->f->before);
}

static int read_before_by(struct reading *x, sqlite3_stmt *st)
{
	struct before_start *b = &x->f->before;

	b->by.items = arena_grown(x->f->arena, b->by.items, b->by.cnt, &b->by.cap, sizeof(*b->by.items));
	return READ(x, st, 0, before_by_columns, &b->by.items[b->by.cnt++]);
}

static int read_summed_cause(struct reading *x, sqlite3_stmt *st)
{
	return READ(x, st, 0, summed_cause_columns, VEC_EXTEND(&x->f->causes));
}

static int read_cause_place(struct reading *x, sqlite3_stmt *st)
{
	int64_t position = sqlite3_column_int64(st, 0);
	struct cause_place_row row;
	struct summed_cause *c;
	int r;

	if (position < 0 || position >= (int64_t)x->f->causes.cnt)
		return -EBADMSG;
	c = &x->f->causes.items[position];
	r = READ(x, st, 1, cause_place_columns, &row);
	if (r < 0 || row.node >= x->f->nodes.cnt)
		return -EBADMSG;
	c->places.items = arena_grown(x->f->arena, c->places.items, c->places.cnt, &c->places.cap, sizeof(*c->places.items));
	c->places.items[c->places.cnt++] = row.node;
	return 0;
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

static int read_part_pair(struct reading *x, sqlite3_stmt *st)
{
	struct part_pair *p = VEC_EXTEND(&x->f->part_pairs);
	int r = READ(x, st, 0, part_pair_columns, p);

	if (r == 0 && (p->a >= x->f->parts.cnt || p->b >= x->f->parts.cnt))
		r = -EBADMSG;
	if (r == 0 && p->within != NODE_NONE &&
	    (p->within >= x->f->factors.cnt || x->f->factors.items[p->within].kind != FACTOR_PAIR))
		r = -EBADMSG;
	return r;
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

static int read_origin(struct reading *x, sqlite3_stmt *st)
{
	return READ(x, st, 0, origin_columns, VEC_EXTEND(&x->f->origins));
}

static int read_interval(struct reading *x, sqlite3_stmt *st)
{
	struct interval_row *row = VEC_EXTEND(&x->f->intervals);
	int64_t latency_ns;
	int r = READ(x, st, 0, interval_columns, row);

	if (r == 0 && (row->end_ns < row->start_ns ||
		       __builtin_sub_overflow(row->end_ns, row->start_ns, &latency_ns) ||
		       (row->origin && row->origin >= x->f->origins.cnt)))
		r = -EBADMSG;
	return r;
}

static int read_warning(struct reading *x, sqlite3_stmt *st)
{
	return READ(x, st, 0, warning_columns, VEC_EXTEND(&x->f->warnings));
}

static int read_waiter(struct reading *x, sqlite3_stmt *st)
{
	return READ(x, st, 0, waiter_columns, VEC_EXTEND(&x->f->waiters));
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
	{ STMT_CPU_READ, read_cpu, "cpu" },
	{ STMT_CPU_OTHERS_READ, read_cpu_other, "cpu_other" },
	{ STMT_WORK_READ, read_work, "inherent_work" },
	{ STMT_PARTS_READ, read_part, "part" },
	{ STMT_CAUSES_READ, read_cause, "common_cause" },
	{ STMT_MEMBERS_READ, read_member, "common_member" },
	{ STMT_NODES_READ, read_node, "node" },
	{ STMT_BEFORE_READ, read_before, "before_start" },
	{ STMT_BEFORE_BY_READ, read_before_by, "before_by" },
	{ STMT_SUMMED_CAUSES_READ, read_summed_cause, "cause" },
	{ STMT_CAUSE_PLACES_READ, read_cause_place, "cause_place" },
	{ STMT_COVARIANCES_READ, read_covariance, "covariance" },
	{ STMT_FACTORS_READ, read_factor, "factor" },
	{ STMT_PART_PAIRS_READ, read_part_pair, "part_pair" },
	{ STMT_FACTOR_CALL_SITES_READ, read_call_site, "factor_call_site" },
	{ STMT_BECAUSE_READ, read_because, "because_of" },
	{ STMT_ORIGINS_READ, read_origin, "origin" },
	{ STMT_INTERVALS_READ, read_interval, "interval" },
	{ STMT_WAITERS_READ, read_waiter, "waiter" },
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
		diag_set(reterr, EXIT_DATA, -EBADMSG, "'%s' is damaged: table %s contradicts itself", x->s->path, tables[table].what);
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

static int read_tables(struct store *s, uint32_t run, const char *interval, bool with_intervals, struct findings **ret,
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
		if (with_intervals || tables[i].id != STMT_INTERVALS_READ)
			r = read_table(&x, i, reterr);
	if (r == 0)
		r = transaction_commit(&t, reterr);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(f);
	return 0;
}

int findings_read(struct store *s, uint32_t run, const char *interval, struct findings **ret, struct diag *reterr)
{
	return read_tables(s, run, interval, true, ret, reterr);
}

int findings_read_sums(struct store *s, uint32_t run, const char *interval, struct findings **ret, struct diag *reterr)
{
	return read_tables(s, run, interval, false, ret, reterr);
}
