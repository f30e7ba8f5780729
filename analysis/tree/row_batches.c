/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * row_batches.c - finds the kind of a row, and its batch.
 *
 * A kind has columns, the terminal places of its rows.  A row is of a kind if it has a quarter of the columns, and at
 * most as many new ones as it has old.  New ones join the kind, up to twice as many as its rows have on average: so
 * batches are at least half full, whatever columns some rows have in addition (the holder of a lock differs from wait
 * to wait).  Most rows are of the kind that the row before was of; else the kinds are tried in order of their last
 * use.  Example: a kind of columns a, b, c, two rows of 3; row a, b, d: one new column, and 4 are less than 2 * 3, so
 * d joins them.
 *
 * Rows are written one after the other and transposed when there are 64: so each row touches little memory.
 *
 * There are few kinds, so that memory does not grow with rows that are unlike all others; a kind that was not seen
 * for long is replaced.
 */
#include "analysis/tree/row_batches.h"

#include <string.h>
#include "base/wide.h"
#include "base/banned.h"

#define COLUMNS_MAX 2048		/* per row; a column of a batch takes 256 bytes, those above it as much */
#define UNSEEN_ROWS 1024		/* then another one may take its place */
#define BATCH_NS ((uint64_t)1 << 29)
#define FEW_ROWS 8			/* with fewer rows, products are computed one by one */
#define COLUMNS_TURNED 4		/* transposed at once */

struct kind {
	struct row_batch batch;
	size_t node_cap, place_cnt;	/* room in the batch's arrays */
	VEC(uint32_t) columns;		/* terminal places: their nodes */
	uint32_t *column_of_place;	/* NODE_NONE: none */
	uint32_t *staged;		/* [row * column_cap + column] */
	uint64_t *staged_rows;		/* per column, as rows_with */
	size_t column_cap;
	uint64_t row_cnt, cell_cnt;	/* of all its rows */
	bool is_new;			/* it has nodes since the last batch */
	uint64_t last_row;
};

struct row_batches {
	const struct vtree *v;
	batch_taker take;
	void *arg;
	struct kind *kinds[ROW_BATCHES_KINDS_MAX];	/* latest first */
	size_t kind_cnt;
	uint64_t row_cnt;
	VEC(uint32_t) above;		/* scratch */
	uint32_t *columns;		/* of the row being added */
};

size_t row_batches_kinds = ROW_BATCHES_KINDS_MAX;

struct row_batches *row_batches_new(const struct vtree *v, batch_taker take, void *arg)
{
	struct row_batches *b = xcalloc(1, sizeof(*b));

	b->v = v;
	b->take = take;
	b->arg = arg;
	b->columns = xcalloc(COLUMNS_MAX, sizeof(*b->columns));
	return b;
}

static void kind_free(struct kind *k)
{
	VEC_RELEASE(&k->batch.nodes);
	free(k->batch.ns);
	free(k->batch.rows_with);
	free(k->batch.node_of_place);
	VEC_RELEASE(&k->columns);
	free(k->column_of_place);
	free(k->staged);
	free(k->staged_rows);
	free(k);
}

void row_batches_free(struct row_batches *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->kind_cnt; i++)
		kind_free(b->kinds[i]);
	VEC_RELEASE(&b->above);
	free(b->columns);
	free(b);
}

/* ---- sums ---- */

WIDE static uint64_t sum_of_all(const uint32_t *x)
{
	uint64_t sum = 0;

	for (size_t r = 0; r < BATCH_ROWS; r++)
		sum += x[r];
	return sum;
}

WIDE static uint64_t sum_of_marked(const uint32_t *x, const uint32_t *where)
{
	uint64_t sum = 0;

	for (size_t r = 0; r < BATCH_ROWS; r++)
		sum += x[r] & where[r];
	return sum;
}

WIDE static uint64_t product_of_all(const uint32_t *x, const uint32_t *y)
{
	uint64_t sum = 0;

	for (size_t r = 0; r < BATCH_ROWS; r++)
		sum += (uint64_t)x[r] * y[r];
	return sum;
}

uint64_t batch_sum(const batch_column x)
{
	return sum_of_all(x);
}

/* Most columns are in all rows, or in few. */
uint64_t batch_sum_of_rows(const batch_column x, uint64_t rows)
{
	uint64_t sum = 0;

	if (rows == UINT64_MAX)
		return batch_sum(x);
	for (; rows; rows &= rows - 1)
		sum += x[__builtin_ctzll(rows)];
	return sum;
}

uint64_t batch_sum_where(const batch_column x, const batch_column where)
{
	return sum_of_marked(x, where);
}

static uint64_t mark_rows(const struct row_batch *b, int64_t low_ns, int64_t high_ns, batch_column ret_where)
{
	uint64_t rows = 0;

	memset(ret_where, 0, sizeof(batch_column));
	for (size_t r = 0; r < b->cnt; r++)
		if (b->ns[0][r] >= low_ns && b->ns[0][r] <= high_ns) {
			rows |= (uint64_t)1 << r;
			ret_where[r] = UINT32_MAX;
		}
	return rows;
}

uint64_t batch_rows_from(const struct row_batch *b, int64_t latency_ns, batch_column ret_where)
{
	return mark_rows(b, latency_ns, INT64_MAX, ret_where);
}

uint64_t batch_rows_to(const struct row_batch *b, int64_t latency_ns, batch_column ret_where)
{
	return mark_rows(b, INT64_MIN, latency_ns, ret_where);
}

/* Most columns are in all rows, or nearly all. */
static bool are_few(uint64_t rows)
{
	return rows != UINT64_MAX && __builtin_popcountll(rows) <= FEW_ROWS;
}

static uint64_t product_of_few(const uint32_t *x, const uint32_t *y, uint64_t rows)
{
	uint64_t sum = 0;

	for (; rows; rows &= rows - 1) {
		int r = __builtin_ctzll(rows);

		sum += (uint64_t)x[r] * y[r];
	}
	return sum;
}

uint64_t batch_product(const batch_column x, const batch_column y, uint64_t rows_with)
{
	return are_few(rows_with) ? product_of_few(x, y, rows_with) : product_of_all(x, y);
}

/* ---- nodes of a kind ---- */

static void make_room(struct kind *k, size_t place_cnt)
{
	struct row_batch *b = &k->batch;
	size_t cap = place_cnt + place_cnt / 2;

	if (k->place_cnt >= place_cnt)
		return;
	b->node_of_place = xrealloc(b->node_of_place, cap, sizeof(*b->node_of_place));
	memset(b->node_of_place + k->place_cnt, 0xff, (cap - k->place_cnt) * sizeof(*b->node_of_place));
	k->column_of_place = xrealloc(k->column_of_place, cap, sizeof(*k->column_of_place));
	memset(k->column_of_place + k->place_cnt, 0xff, (cap - k->place_cnt) * sizeof(*k->column_of_place));
	k->place_cnt = cap;
}

static void add_node(struct kind *k, uint32_t place, uint32_t parent)
{
	struct row_batch *b = &k->batch;
	size_t at = b->nodes.cnt;

	if (at == k->node_cap) {
		k->node_cap = at ? 2 * at : 32;
		b->ns = xrealloc(b->ns, k->node_cap, sizeof(*b->ns));
		b->rows_with = xrealloc(b->rows_with, k->node_cap, sizeof(*b->rows_with));
	}
	memset(b->ns[at], 0, sizeof(b->ns[at]));
	b->rows_with[at] = 0;
	b->node_of_place[place] = (uint32_t)at;
	VEC_ADD(&b->nodes, (struct batch_node){ place, parent == NODE_NONE ? 0 : b->node_of_place[parent], (uint32_t)at });
	k->is_new = true;
}

/* Adds a column with the missing nodes above it.  Returns its number. */
static uint32_t add_column(struct row_batches *s, struct kind *k, uint32_t place)
{
	const struct place *places = s->v->places.items;

	s->above.cnt = 0;
	for (uint32_t i = place; i != NODE_NONE && k->batch.node_of_place[i] == NODE_NONE; i = places[i].parent)
		VEC_ADD(&s->above, i);
	while (s->above.cnt) {
		uint32_t i = s->above.items[--s->above.cnt];

		add_node(k, i, places[i].parent);
	}
	k->column_of_place[place] = (uint32_t)k->columns.cnt;
	VEC_ADD(&k->columns, k->batch.node_of_place[place]);
	return k->column_of_place[place];
}

/* Bodies, and blames with none below them, have time of their own, all others that of their children. */
static void find_only_children(const struct vtree *v, struct row_batch *b)
{
	struct batch_node *nodes = b->nodes.items;

	for (uint32_t i = 0; i < b->nodes.cnt; i++)
		nodes[i].only_child = i;
	for (uint32_t i = (uint32_t)b->nodes.cnt; i-- > 1; ) {
		struct batch_node *above = &nodes[nodes[i].parent];

		above->only_child = above->only_child == nodes[i].parent ? i : UINT32_MAX;
	}
	for (uint32_t i = 0; i < b->nodes.cnt; i++) {
		enum node_kind kind = v->places.items[nodes[i].place].kind;

		if (nodes[i].only_child == UINT32_MAX || kind == NODE_BODY)
			nodes[i].only_child = i;
	}
}

/* ---- rows ---- */

typedef uint32_t four __attribute__((vector_size(16), aligned(4)));

/* Transposes four columns of four rows: rows ret[0], ret[1] ... */
static inline void turn_four(const uint32_t *rows, size_t row_len, four ret[4])
{
	const four a = *(const four *)rows, b = *(const four *)(rows + row_len);
	const four c = *(const four *)(rows + 2 * row_len), d = *(const four *)(rows + 3 * row_len);
	const four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
	const four cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);

	ret[0] = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
	ret[1] = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
	ret[2] = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
	ret[3] = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

/* Transposes the rows, four by four. */
static void turn_round(struct kind *k)
{
	struct row_batch *b = &k->batch;
	size_t cnt = k->columns.cnt;

	for (size_t c = 0; c < cnt; c += COLUMNS_TURNED) {
		for (size_t r = 0; r < BATCH_ROWS; r += 4) {
			four turned[COLUMNS_TURNED];

			turn_four(k->staged + r * k->column_cap + c, k->column_cap, turned);
			for (size_t i = 0; i < COLUMNS_TURNED && c + i < cnt; i++)
				*(four *)&b->ns[k->columns.items[c + i]][r] = turned[i];
		}
	}
	for (size_t c = 0; c < cnt; c++)
		b->rows_with[k->columns.items[c]] = k->staged_rows[c];
	memset(k->staged, 0, b->cnt * k->column_cap * sizeof(*k->staged));
	memset(k->staged_rows, 0, cnt * sizeof(*k->staged_rows));
}

WIDE static void add_column_to(uint32_t *restrict to, const uint32_t *restrict from)
{
	for (size_t r = 0; r < BATCH_ROWS; r++)
		to[r] += from[r];
}

/* From the last to the first, so children come before their parents.  A node without additions still has the values
 * of the batch before, and is overwritten. */
static void add_up(struct row_batch *b)
{
	for (size_t i = b->nodes.cnt; i-- > 1; ) {
		uint32_t parent = b->nodes.items[i].parent;

		if (b->rows_with[parent] == 0)
			memcpy(b->ns[parent], b->ns[i], sizeof(b->ns[i]));
		else
			add_column_to(b->ns[parent], b->ns[i]);
		b->rows_with[parent] |= b->rows_with[i];
	}
}

static void yield(struct row_batches *s, struct kind *k)
{
	struct row_batch *b = &k->batch;

	if (b->cnt == 0)
		return;
	if (k->is_new)
		find_only_children(s->v, b);
	k->is_new = false;
	turn_round(k);
	add_up(b);
	s->take(s->arg, b);
	memset(b->rows_with, 0, b->nodes.cnt * sizeof(*b->rows_with));
	b->cnt = 0;
}

/* Fills s->columns; returns how many are missing. */
static size_t find_columns(struct row_batches *s, const struct kind *k, const cells *row)
{
	const struct cell *cells = row->items;
	uint32_t *columns = s->columns, any = 0;
	size_t cnt = row->cnt, missing = 0;

	for (size_t c = 0; c < cnt; c++) {
		columns[c] = k->column_of_place[cells[c].place];
		any |= columns[c];
	}
	if (any != NODE_NONE)		/* columns are small numbers */
		return 0;
	for (size_t c = 0; c < cnt; c++)
		missing += columns[c] == NODE_NONE;
	return missing;
}

static bool is_of_kind(struct row_batches *s, const struct kind *k, const cells *row, size_t *ret_missing)
{
	size_t missing = find_columns(s, k, row), columns = k->columns.cnt + missing;

	*ret_missing = missing;
	if (2 * missing > row->cnt || 4 * row->cnt < columns)
		return false;
	return missing == 0 || columns * k->row_cnt <= 2 * k->cell_cnt;
}

/* NULL: there is no room for a kind. */
static struct kind *make_kind(struct row_batches *s)
{
	struct kind *last;

	if (s->kind_cnt < row_batches_kinds)
		return s->kinds[s->kind_cnt++] = xcalloc(1, sizeof(struct kind));
	if (s->kind_cnt == 0)
		return NULL;
	last = s->kinds[s->kind_cnt - 1];
	if (s->row_cnt - last->last_row <= UNSEEN_ROWS)
		return NULL;
	yield(s, last);
	memset(last->batch.node_of_place, 0xff, last->place_cnt * sizeof(*last->batch.node_of_place));
	memset(last->column_of_place, 0xff, last->place_cnt * sizeof(*last->column_of_place));
	last->batch.nodes.cnt = last->columns.cnt = 0;
	last->row_cnt = last->cell_cnt = 0;
	return last;
}

/* Or a new one; missing: the number of columns that it lacks. */
static struct kind *find_kind(struct row_batches *s, const cells *row, size_t *ret_missing)
{
	struct kind *k;

	for (size_t i = 0; i < s->kind_cnt; i++) {
		make_room(s->kinds[i], s->v->places.cnt);
		if (is_of_kind(s, s->kinds[i], row, ret_missing))
			return s->kinds[i];
	}
	k = make_kind(s);
	if (!k)
		return NULL;
	make_room(k, s->v->places.cnt);
	memset(s->columns, 0xff, row->cnt * sizeof(*s->columns));
	*ret_missing = row->cnt;
	return k;
}

static void put_first(struct row_batches *s, struct kind *k)
{
	size_t at = 0;

	while (s->kinds[at] != k)
		at++;
	memmove(&s->kinds[1], &s->kinds[0], at * sizeof(s->kinds[0]));
	s->kinds[0] = k;
}

/* Room for more columns; nothing is staged then. */
static void widen(struct row_batches *s, struct kind *k, size_t column_cnt)
{
	if (column_cnt <= k->column_cap)
		return;
	yield(s, k);
	k->column_cap = (column_cnt + column_cnt / 2 + COLUMNS_TURNED - 1) / COLUMNS_TURNED * COLUMNS_TURNED;
	free(k->staged);
	k->staged = xcalloc(BATCH_ROWS * k->column_cap, sizeof(*k->staged));
	free(k->staged_rows);
	k->staged_rows = xcalloc(k->column_cap, sizeof(*k->staged_rows));
}

/* s->columns: what find_columns() found. */
static void put(struct row_batches *s, struct kind *k, const cells *row, size_t missing)
{
	const struct cell *cells = row->items;
	const uint32_t *columns = s->columns;
	size_t cnt = row->cnt;
	uint32_t *staged;
	uint64_t bit, *staged_rows;

	widen(s, k, k->columns.cnt + missing);
	for (size_t c = 0; missing && c < cnt; c++)
		if (columns[c] == NODE_NONE)
			s->columns[c] = add_column(s, k, cells[c].place);
	bit = (uint64_t)1 << k->batch.cnt;
	staged = k->staged + k->batch.cnt * k->column_cap;
	staged_rows = k->staged_rows;
	for (size_t c = 0; c < cnt; c++) {
		staged[columns[c]] = (uint32_t)cells[c].ns;
		staged_rows[columns[c]] |= bit;
	}
}

static bool is_short(const cells *row)
{
	uint64_t latency_ns = 0, all = 0;

	for (size_t c = 0; c < row->cnt; c++) {
		latency_ns += (uint64_t)row->items[c].ns;
		all |= (uint64_t)row->items[c].ns;
	}
	return all < BATCH_NS && latency_ns < BATCH_NS;
}

bool row_batches_add(struct row_batches *s, const cells *row, size_t number, uint32_t group)
{
	struct kind *k;
	size_t missing;

	s->row_cnt++;
	if (row->cnt == 0 || row->cnt > COLUMNS_MAX || !is_short(row))
		return false;
	k = find_kind(s, row, &missing);
	if (!k)
		return false;
	if (k->batch.group != group)
		yield(s, k);
	put(s, k, row, missing);
	put_first(s, k);
	k->last_row = s->row_cnt;
	k->row_cnt++;
	k->cell_cnt += row->cnt;
	k->batch.group = group;
	k->batch.rows[k->batch.cnt++] = number;
	if (k->batch.cnt == BATCH_ROWS)
		yield(s, k);
	return true;
}

void row_batches_end(struct row_batches *s)
{
	for (size_t i = 0; i < s->kind_cnt; i++)
		yield(s, s->kinds[i]);
}
