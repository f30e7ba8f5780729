/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tsv_names.c - see tsv_names.h.
 *
 * The rows of places are kept until all are there, because a child may come before its parent.
 */
#include "digest/tsv_names.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "base/banned.h"
#include "base/map.h"
#include "digest/tsv.h"

struct place_row {
	uint64_t id, parent, function;
	const char *kind, *call_site;
	uint8_t node_kind, wait, device, is_wait;
	size_t line;
	uint32_t place;			/* NODE_NONE: not in the tree yet */
	bool is_entered;
};

struct tsv_names {
	struct summed *to;
	struct map *functions, *rows;	/* id -> index + 1; rows: of places */
	struct names *call_sites, *kinds;
	VEC(struct place_row) places;
	VEC(uint32_t) roots;		/* by kind; NODE_NONE: none */
};

struct tsv_names *tsv_names_new(struct summed *to)
{
	struct tsv_names *n = xcalloc(1, sizeof(*n));

	n->to = to;
	n->functions = map_new();
	n->rows = map_new();
	n->call_sites = names_new();
	n->kinds = names_new();
	return n;
}

void tsv_names_free(struct tsv_names *n)
{
	map_free(n->functions);
	map_free(n->rows);
	names_free(n->call_sites);
	names_free(n->kinds);
	VEC_RELEASE(&n->places);
	VEC_RELEASE(&n->roots);
	free(n);
}

static const char *node_name(unsigned number)
{
	return node_kind_name((enum node_kind)number);
}

static const char *state_name(unsigned number)
{
	return trace_state_name((enum trace_state)number);
}

static const char *device_name(unsigned number)
{
	return thread_kind_name((enum thread_kind)number);
}

static void is_wrong(struct tsv_row *row, const char *wanted)
{
	if (!row->wrong)
		row->wrong = wanted;
}

/* ---- functions, calls ---- */

static bool is_same(const struct summed_function *a, const struct summed_function *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->file ? a->file : "", b->file ? b->file : "") == 0 && a->line == b->line;
}

/* As digest/unite.c unites them. */
static void unite(struct summed_function *to, const struct summed_function *f)
{
	if (to->key == 0 || (f->key && f->key < to->key))
		to->key = f->key;
	if (f->height > to->height)
		to->height = f->height;
	to->open &= f->open;
	to->registered |= f->registered;
	to->left_out |= f->left_out;
}

void tsv_names_add_function(struct tsv_names *n, struct tsv_row *row)
{
	uint64_t id = row_number(row, UINT64_MAX), *slot;
	struct summed_function f = { .name = row_text(row) };

	f.file = row_text(row);
	f.file = *f.file ? f.file : NULL;
	f.line = (uint32_t)row_number(row, INT32_MAX);
	f.key = row_number(row, UINT64_MAX);
	f.height = (uint32_t)row_number(row, 1U << 20);
	f.open = row_number(row, 1);
	f.registered = row_number(row, 1);
	f.left_out = row_number(row, 1);
	row_end(row);
	if (id < TSV_FUNCTION_IDS)
		is_wrong(row, "a function's number: those below 16 are not of functions");
	if (row->wrong)
		return;
	slot = map_slot(n->functions, id);
	if (!*slot) {
		VEC_ADD(&n->to->functions, f);
		*slot = n->to->functions.cnt;
	} else if (is_same(&n->to->functions.items[*slot - 1], &f)) {
		unite(&n->to->functions.items[*slot - 1], &f);
	} else {
		is_wrong(row, "the same function as before with that number");
	}
}

uint32_t tsv_names_function(const struct tsv_names *n, uint64_t id)
{
	uint64_t at;

	if (id < SUMMED_DEVICES)
		return SUMMED_DEVICE(id);
	return map_get(n->functions, id, &at) ? (uint32_t)at - 1 : TSV_NO_SUCH_FUNCTION;
}

static uint32_t call_site_of(struct tsv_names *n, const char *text)
{
	uint32_t number;

	if (!*text)
		return CALL_SITE_NONE;
	number = names_add(n->call_sites, text);
	if (number == n->to->call_sites.cnt)
		VEC_ADD(&n->to->call_sites, text);
	return number;
}

void tsv_names_add_call(struct tsv_names *n, struct tsv_row *row)
{
	uint32_t caller = tsv_names_function(n, row_number(row, UINT64_MAX));
	uint32_t callee = tsv_names_function(n, row_number(row, UINT64_MAX));
	const char *call_site = row_text(row);
	bool through_others = row_number(row, 1);

	row_end(row);
	if (caller >= n->to->functions.cnt || callee >= n->to->functions.cnt)
		is_wrong(row, "a call between functions that have rows in vprof_function");
	if (!row->wrong)
		VEC_ADD(&n->to->calls, (struct summed_call){ caller, callee,
							     through_others ? SUMMED_THROUGH_OTHERS : call_site_of(n, call_site) });
}

/* ---- places ---- */

static bool is_same_place(const struct place_row *a, const struct place_row *b)
{
	return a->parent == b->parent && a->function == b->function && a->node_kind == b->node_kind && a->wait == b->wait &&
	       a->device == b->device && a->is_wait == b->is_wait && strcmp(a->kind, b->kind) == 0 &&
	       strcmp(a->call_site, b->call_site) == 0;
}

void tsv_names_add_place(struct tsv_names *n, struct tsv_row *row)
{
	struct place_row p = { .id = row_number(row, UINT64_MAX), .place = NODE_NONE, .line = row->line };
	uint64_t *slot;

	p.parent = row_number(row, UINT64_MAX);
	p.kind = row_text(row);
	p.node_kind = (uint8_t)row_name(row, node_name, NODE_BLAME + 1);
	p.wait = (uint8_t)row_name(row, state_name, STATE_CNT);
	p.is_wait = (uint8_t)row_number(row, 1);
	p.device = (uint8_t)row_name(row, device_name, KIND_CNT);
	p.function = row_number(row, UINT64_MAX);
	row_skip(row, 1);		/* its name is for queries */
	p.call_site = row_text(row);
	row_end(row);
	if (row->wrong)
		return;
	slot = map_slot(n->rows, p.id);
	if (!*slot) {
		VEC_ADD(&n->places, p);
		*slot = n->places.cnt;
	} else if (!is_same_place(&n->places.items[*slot - 1], &p)) {
		is_wrong(row, "the same place as before with that number");
	}
}

static int place_is_wrong(const struct place_row *p, const char *what, const char *name, struct diag *reterr)
{
	return diag_set(reterr, EXIT_DATA, -EBADMSG, "%s:%zu: the %s of node %" PRIu64, name, p->line, what, p->id);
}

static void add_root(struct tsv_names *n, const struct place_row *p, struct summed_place *place)
{
	place->name = names_add(n->kinds, p->kind);
	if (place->name == n->to->interval_names.cnt) {
		VEC_ADD(&n->to->interval_names, p->kind);
		VEC_ADD(&n->roots, NODE_NONE);
	}
	n->roots.items[place->name] = (uint32_t)n->to->places.cnt;
}

/* Its parent is in the tree. */
static int add_place(struct tsv_names *n, struct place_row *p, uint32_t parent, const char *name, struct diag *reterr)
{
	struct summed_place place = { .parent = parent, .kind = p->node_kind, .wait = p->wait, .device = p->device,
				      .is_wait = p->is_wait };

	place.function = tsv_names_function(n, p->function);
	if (place.function == TSV_NO_SUCH_FUNCTION)
		return place_is_wrong(p, "function has no row in vprof_function, which is that", name, reterr);
	if ((parent == NODE_NONE) != (p->node_kind == NODE_INTERVAL))
		return place_is_wrong(p, "kind is not one that may be there, which is that", name, reterr);
	place.call_site = call_site_of(n, p->call_site);
	if (parent == NODE_NONE)
		add_root(n, p, &place);
	p->place = (uint32_t)n->to->places.cnt;
	VEC_ADD(&n->to->places, place);
	return 0;
}

/* Adds the places above it, from the root on, and then itself. */
static int enter(struct tsv_names *n, uint32_t at, const char *name, struct diag *reterr)
{
	VEC(uint32_t) way = { NULL, 0, 0 };
	uint32_t parent = NODE_NONE;
	int r = 0;

	for (;;) {
		struct place_row *p = &n->places.items[at];
		uint64_t above = 0;

		parent = p->place;
		if (parent != NODE_NONE)
			break;
		if (p->is_entered)
			r = place_is_wrong(p, "parents form a circle, one of which is that", name, reterr);
		p->is_entered = true;
		VEC_ADD(&way, at);
		if (r < 0 || p->parent == 0)
			break;
		if (!map_get(n->rows, p->parent, &above)) {
			r = place_is_wrong(p, "parent has no row in vprof_name, which is that", name, reterr);
			break;
		}
		at = (uint32_t)above - 1;
	}
	while (r == 0 && way.cnt) {
		struct place_row *p = &n->places.items[way.items[--way.cnt]];

		r = add_place(n, p, parent, name, reterr);
		parent = p->place;
	}
	VEC_RELEASE(&way);
	return r;
}

int tsv_names_settle(struct tsv_names *n, const char *name, struct diag *reterr)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < n->places.cnt; i++)
		r = enter(n, i, name, reterr);
	return r;
}

uint32_t tsv_names_place(const struct tsv_names *n, uint64_t id)
{
	uint64_t at;

	return map_get(n->rows, id, &at) && at ? n->places.items[at - 1].place : NODE_NONE;
}

uint32_t tsv_names_root(const struct tsv_names *n, const char *kind)
{
	uint32_t number = names_find(n->kinds, kind);

	return number == NAMES_NONE ? NODE_NONE : n->roots.items[number];
}
