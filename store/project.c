/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * project.c - the functions and the static call graph of the last build, in and out of vprof.db.
 *
 * resolve.c decides which function a call means before anything is written, so the tables contain plain edges between
 * keys.  A load replaces everything in one transaction, except observed calls whose functions still exist.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/banned.h"
#include "base/map.h"
#include "store/columns.h"
#include "store/db.h"
#include "store/resolve.h"
#include "store/store.h"

static const struct column unit_columns[] = {
	COL_TEXT(struct unit, object),
	COL_TEXT(struct unit, source),
	COL_TEXT_OR_NULL(struct unit, directory),
	COL_TEXT_OR_NULL(struct unit, untouched),
	COL_TEXT_OR_NULL(struct unit, misread),
};

static const struct column function_columns[] = {
	COL_64(struct scan_function, key),
	COL_TEXT(struct scan_function, name),
	COL_TEXT_OR_NULL(struct scan_function, file),
	COL_U32(struct scan_function, line),
	COL_U32(struct scan_function, end_line),
	COL_BOOL(struct scan_function, is_static),
	COL_BOOL(struct scan_function, is_inline),
	COL_BOOL(struct scan_function, address_taken),
	COL_BOOL(struct scan_function, releases),
	COL_BOOL(struct scan_function, probed),
	COL_TEXT_OR_NULL(struct scan_function, skipped),
	COL_TEXT_OR_NULL(struct scan_function, type),
	COL_BOOL(struct scan_function, no_return),
};

static const struct column call_columns[] = {
	COL_64(struct resolved_call, caller),
	COL_64(struct resolved_call, callee),
	COL_TEXT(struct resolved_call, call_site),
	COL_BOOL(struct resolved_call, may),
	COL_BOOL(struct resolved_call, is_tail),
};

static const struct column observed_columns[] = {
	COL_64(struct observed_call, caller),
	COL_64(struct observed_call, callee),
};

/* ---- writing ---- */

static int insert(struct store *s, enum stmt id, const struct column *columns, size_t cnt,
		  const void *row, struct diag *reterr)
{
	sqlite3_stmt *st = NULL;
	int r = db_prepare(s, id, &st, reterr);

	if (r < 0)
		return r;
	columns_bind(st, 1, columns, cnt, row);
	return db_step(s, st, reterr);
}

static int write_project(struct store *s, const units *list, const struct resolved *p,
			 struct diag *reterr)
{
	int r = db_run(s, STMT_CALLS_DELETE, reterr);

	if (r == 0)
		r = db_run(s, STMT_FUNCTIONS_DELETE, reterr);
	if (r == 0)
		r = db_run(s, STMT_UNITS_DELETE, reterr);
	for (size_t i = 0; r == 0 && i < list->cnt; i++)
		r = insert(s, STMT_UNIT_INSERT, unit_columns, ARRAY_SIZE(unit_columns),
			   list->items[i], reterr);
	for (size_t i = 0; r == 0 && i < p->functions.cnt; i++)
		r = insert(s, STMT_FUNCTION_INSERT, function_columns,
			   ARRAY_SIZE(function_columns), &p->functions.items[i], reterr);
	for (size_t i = 0; r == 0 && i < p->calls.cnt; i++)
		r = insert(s, STMT_CALL_INSERT, call_columns, ARRAY_SIZE(call_columns),
			   &p->calls.items[i], reterr);
	return r < 0 ? r : db_run(s, STMT_OBSERVED_FORGET, reterr);
}

int project_load(struct store *s, const units *list, struct diag *reterr)
{
	_cleanup_(transaction_release) struct transaction t = TRANSACTION_INIT;
	_cleanup_(resolved_release) struct resolved p = { 0 };
	int r;

	resolve_units(list, &p);
	r = transaction_begin(&t, s, true, reterr);
	if (r == 0)
		r = write_project(s, list, &p, reterr);
	return r < 0 ? r : transaction_commit(&t, reterr);
}

int project_add_observed(struct store *s, uint32_t run, const struct findings *f,
			 struct diag *reterr)
{
	_cleanup_(transaction_release) struct transaction t = TRANSACTION_INIT;
	sqlite3_stmt *st = NULL;
	int r = f->observed.cnt ? transaction_begin(&t, s, true, reterr) : 0;

	for (size_t i = 0; r == 0 && i < f->observed.cnt; i++) {
		r = db_prepare(s, STMT_OBSERVED_INSERT, &st, reterr);
		if (r < 0)
			break;
		sqlite3_bind_int64(st, 1, run);
		columns_bind(st, 2, observed_columns, ARRAY_SIZE(observed_columns),
			     &f->observed.items[i]);
		r = db_step(s, st, reterr);
	}
	return r < 0 || f->observed.cnt == 0 ? r : transaction_commit(&t, reterr);
}

/* ---- reading ---- */

/* One row after the other of a statement without parameters; add keeps it or says -EBADMSG. */
static int read_rows(struct store *s, enum stmt id, const struct column *columns, size_t cnt,
		     int (*add)(struct project *p, const void *row, void *arg),
		     struct project *p, void *arg, struct diag *reterr)
{
	union {
		struct unit unit;
		struct scan_function function;
		struct resolved_call call;
		struct observed_call observed;
	} row;
	sqlite3_stmt *st = NULL;
	int r = db_prepare(s, id, &st, reterr);

	while (r >= 0 && (r = db_step(s, st, reterr)) > 0) {
		memset(&row, 0, sizeof(row));
		r = columns_read(st, 0, columns, cnt, p->arena, &row);
		if (r == 0)
			r = add(p, &row, arg);
		if (r < 0) {
			sqlite3_reset(st);
			diag_set(reterr, EXIT_DATA, r, "'%s' is damaged: its call graph cannot be"
				 " read", s->path);
			return diag_remedy(reterr, r, "vprof build -- COMMAND writes it anew");
		}
	}
	return r;
}

static int add_unit(struct project *p, const void *row, void *arg)
{
	const struct unit *u = row;

	(void)arg;
	VEC_ADD(&p->units, (struct project_unit){ u->object, u->source, u->untouched, u->misread });
	return 0;
}

static int add_function(struct project *p, const void *row, void *indexes)
{
	const struct scan_function *f = row;

	VEC_ADD(&p->functions, (struct project_function){
		.key = f->key, .name = f->name, .file = f->file, .line = f->line,
		.end_line = f->end_line, .releases = f->releases, .probed = f->probed,
		.is_static = f->is_static, .skipped = f->skipped, .no_return = f->no_return,
		.address_taken = f->address_taken, .type = f->type,
	});
	map_set(indexes, f->key, p->functions.cnt - 1);
	return 0;
}

static int add_call(struct project *p, const void *row, void *indexes)
{
	const struct resolved_call *c = row;
	uint64_t caller, callee;

	if (!map_get(indexes, c->caller, &caller) || !map_get(indexes, c->callee, &callee))
		return -EBADMSG;
	VEC_ADD(&p->calls, (struct project_call){ (uint32_t)caller, (uint32_t)callee, c->call_site, c->may, false, c->is_tail });
	return 0;
}

static int add_observed(struct project *p, const void *row, void *indexes)
{
	const struct observed_call *c = row;
	uint64_t caller, callee;

	if (!map_get(indexes, c->caller, &caller) || !map_get(indexes, c->callee, &callee))
		return -EBADMSG;
	VEC_ADD(&p->calls, (struct project_call){ (uint32_t)caller, (uint32_t)callee, NULL, false, true, false });
	return 0;
}

/* Keys are hashes, so calls are sorted by the order of the file, which readers know. */
static int compare_calls(const void *a, const void *b)
{
	const struct project_call *x = a, *y = b;

	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	if (x->callee != y->callee)
		return x->callee < y->callee ? -1 : 1;
	return strcmp(x->call_site ? x->call_site : "", y->call_site ? y->call_site : "");
}

void project_sort_calls(struct project *p)
{
	if (p->calls.cnt)
		qsort(p->calls.items, p->calls.cnt, sizeof(*p->calls.items), compare_calls);
}

int project_read(struct store *s, struct project **ret, struct diag *reterr)
{
	_cleanup_(transaction_release) struct transaction t = TRANSACTION_INIT;
	_cleanup_(project_freep) struct project *p = xcalloc(1, sizeof(*p));
	_cleanup_(map_freep) struct map *indexes = map_new();
	int r = transaction_begin(&t, s, false, reterr);

	p->arena = arena_new();
	if (r == 0)
		r = read_rows(s, STMT_UNITS_READ, unit_columns, ARRAY_SIZE(unit_columns), add_unit,
			      p, NULL, reterr);
	if (r == 0)
		r = read_rows(s, STMT_FUNCTIONS_READ, function_columns,
			      ARRAY_SIZE(function_columns), add_function, p, indexes, reterr);
	if (r == 0)
		r = read_rows(s, STMT_CALLS_READ, call_columns, ARRAY_SIZE(call_columns), add_call,
			      p, indexes, reterr);
	if (r == 0)
		r = read_rows(s, STMT_OBSERVED_READ, observed_columns,
			      ARRAY_SIZE(observed_columns), add_observed, p, indexes, reterr);
	if (r < 0)
		return r;
	project_sort_calls(p);
	*ret = TAKE_PTR(p);
	return transaction_commit(&t, reterr);
}

void project_free(struct project *p)
{
	if (!p)
		return;
	arena_free(p->arena);
	VEC_RELEASE(&p->units);
	VEC_RELEASE(&p->functions);
	VEC_RELEASE(&p->calls);
	free(p);
}

int units_uncounted(struct store *s, int64_t *ret_cnt, struct diag *reterr)
{
	sqlite3_stmt *st = NULL;
	bool found;
	int r = db_prepare(s, STMT_UNITS_UNCOUNTED, &st, reterr);

	*ret_cnt = 0;
	return r < 0 ? r : db_read_int(s, st, ret_cnt, &found, reterr);
}

/* ---- into a trace ---- */

/* Numbers of the project's functions and call sites in the trace. */
struct translation {
	struct trace *t;
	const struct project *p;
	struct map *by_key;		/* key -> index in t->functions */
	struct names *sites;
	VEC(uint32_t) site_indexes;	/* number in sites -> index in t->call_sites */
};

/* A function that the run lacks is in another program of the project, or carries no probe. */
static uint32_t translate_function(struct translation *x, uint32_t function)
{
	const struct project_function *f = &x->p->functions.items[function];
	uint64_t index;

	if (map_get(x->by_key, f->key, &index))
		return (uint32_t)index;
	VEC_ADD(&x->t->functions, (struct function){
		.name = arena_strdup(x->t->arena, f->name),
		.file = f->file ? arena_strdup(x->t->arena, f->file) : NULL,
		.line = f->line, .key = f->key, .probed = f->probed, .left_out = f->left_out,
	});
	map_set(x->by_key, f->key, x->t->functions.cnt - 1);
	return (uint32_t)(x->t->functions.cnt - 1);
}

static uint32_t translate_site(struct translation *x, const char *site)
{
	uint32_t id;

	if (!site)
		return CALL_SITE_NONE;
	id = names_add(x->sites, site);
	if (id == x->site_indexes.cnt) {
		VEC_ADD(&x->t->call_sites, arena_strdup(x->t->arena, site));
		VEC_ADD(&x->site_indexes, (uint32_t)(x->t->call_sites.cnt - 1));
	}
	return x->site_indexes.items[id];
}

static void start_translation(struct translation *x)
{
	for (uint32_t i = 0; i < x->t->functions.cnt; i++)
		if (x->t->functions.items[i].key)
			map_set(x->by_key, x->t->functions.items[i].key, i);
	for (uint32_t i = 0; i < x->t->call_sites.cnt; i++)
		if (names_add(x->sites, x->t->call_sites.items[i]) == x->site_indexes.cnt)
			VEC_ADD(&x->site_indexes, i);
}

static void complete_functions(struct translation *x)
{
	for (size_t i = 0; i < x->p->functions.cnt; i++) {
		const struct project_function *f = &x->p->functions.items[i];
		struct function *known;
		uint64_t index;

		if (!map_get(x->by_key, f->key, &index))
			continue;
		known = &x->t->functions.items[index];
		known->left_out = f->left_out;
		if (strcmp(known->name, f->name) != 0)	/* it has overloads */
			known->name = arena_strdup(x->t->arena, f->name);
		if (!known->file && f->file)
			known->file = arena_strdup(x->t->arena, f->file);
		if (!known->line)
			known->line = f->line;
	}
}

void project_add_to_trace(const struct project *p, struct trace *t)
{
	struct translation x = { .t = t, .p = p, .by_key = map_new(), .sites = names_new() };

	start_translation(&x);
	complete_functions(&x);
	for (size_t i = 0; i < p->calls.cnt; i++) {
		const struct project_call *c = &p->calls.items[i];
		uint32_t caller = translate_function(&x, c->caller);
		uint32_t callee = translate_function(&x, c->callee);

		VEC_ADD(&t->calls, (struct call){ caller, callee, translate_site(&x, c->call_site),
						  c->observed });
	}
	VEC_RELEASE(&x.site_indexes);
	names_free(x.sites);
	map_free(x.by_key);
}
