/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_row_batches.c - rows that are summed up together give the findings that they give one by one, bit for bit.
 *
 * With no kinds at all every row is by itself; with one or two, kinds make room for each other.  Times are also made so
 * long that some latencies are beyond what a batch takes.
 */
#include "tests/unit/cmocka_all.h"

#include "analysis/analyze.h"
#include "analysis/tree/execution_table.h"
#include "analysis/tree/row_batches.h"
#include "tests/bench/shapes.h"
#include "tests/oracle/random_trace.h"
#include "tests/unit/same_findings.h"
#include "base/banned.h"

enum { TRACES = 600, TUPLES = 6000, ROWS = 5000, PLACES = 40 };

static void lengthen(struct trace *t, int64_t by)
{
	for (size_t i = 0; i < t->intervals.cnt; i++) {
		t->intervals.items[i].start_ns *= by;
		t->intervals.items[i].end_ns *= by;
	}
	for (size_t i = 0; i < t->segments.cnt; i++) {
		t->segments.items[i].start_ns *= by;
		t->segments.items[i].end_ns *= by;
	}
	for (size_t i = 0; i < t->invocations.cnt; i++) {
		t->invocations.items[i].start_ns *= by;
		t->invocations.items[i].end_ns *= by;
	}
	for (size_t i = 0; i < t->wakeups.cnt; i++)
		t->wakeups.items[i].time_ns *= by;
	for (size_t i = 0; i < t->creations.cnt; i++) {
		t->creations.items[i].time_ns *= by;
		t->creations.items[i].time2_ns *= by;
	}
}

static void compare(struct trace *t)
{
	_cleanup_(findings_freep) struct findings *alone = NULL;
	struct analyze_options o = { .quantile = .6 };

	row_batches_kinds = 0;
	assert_int_equal(analyze(t, &o, &alone), 0);
	for (size_t kinds = ROW_BATCHES_KINDS_MAX; kinds > 0; kinds = kinds > 2 ? 2 : kinds - 1) {
		_cleanup_(findings_freep) struct findings *together = NULL;

		row_batches_kinds = kinds;
		assert_int_equal(analyze(t, &o, &together), 0);
		same_findings(alone, together);
	}
	row_batches_kinds = ROW_BATCHES_KINDS_MAX;
}

static void test_random(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= TRACES; seed++) {
		_cleanup_(trace_freep) struct trace *t = random_trace(seed, seed % 2 ? RANDOM_PROGRAM : RANDOM_ANY);

		if (seed % 3 == 0)
			lengthen(t, 3000017);
		compare(t);
	}
}

/* Hundreds of intervals, weighted in one of three. */
static void test_shapes(void **state)
{
	struct random r = { 1 };

	(void)state;
	for (size_t i = 0; i < shape_cnt; i++)
		for (int64_t seed = 1; seed <= 3; seed++) {
			_cleanup_(trace_freep) struct trace *t = shape_new(&shapes[i], TUPLES);

			for (size_t k = 0; k < t->invocations.cnt; k++)
				t->invocations.items[k].function =
					(uint32_t)(t->invocations.items[k].start_ns * 7 / (1 + seed)) % 12;
			for (size_t k = 0; seed == 2 && k < t->intervals.cnt; k++)
				t->intervals.items[k].weight = 1 + random_below(&r, 3);
			if (seed == 3)
				lengthen(t, 20011);
			compare(t);
		}
}

struct tally {
	const struct vtree *v;
	__int128 place_t[PLACES + 1];	/* sum of place * T: differs if two are swapped */
	__int128 squares;
	size_t rows, batches;
	bool seen[ROWS];
};

static void count_batch(void *arg, const struct row_batch *b)
{
	struct tally *y = arg;

	y->batches++;
	y->rows += b->cnt;
	assert_int_equal(b->nodes.items[0].place, 0);
	for (size_t r = 0; r < b->cnt; r++) {
		assert_false(y->seen[b->rows[r]]);
		y->seen[b->rows[r]] = true;
		assert_int_equal(b->rows[r] / 1000, b->group);
	}
	for (uint32_t k = 0; k < b->nodes.cnt; k++) {
		const struct batch_node *n = &b->nodes.items[k];

		assert_int_equal(b->node_of_place[n->place], k);
		assert_true(k == 0 || y->v->places.items[n->place].parent == b->nodes.items[n->parent].place);
		assert_memory_equal(b->ns[k], b->ns[n->only_child], sizeof(b->ns[k]));
		for (size_t r = 0; r < BATCH_ROWS; r++)
			assert_int_equal(b->ns[k][r] != 0, b->rows_with[k] >> r & 1);
		y->place_t[n->place] += row_batch_product(b, k, 0);
		y->squares += row_batch_product(b, k, k);
	}
}

/* Place i > 0 is a body below function i, which is below the function before it, or below the interval. */
static void make_places(struct vtree *v)
{
	struct place p = { .kind = NODE_FUNCTION };

	for (uint32_t i = 1; i <= PLACES; i++) {
		p.kind = i % 2 ? NODE_FUNCTION : NODE_BODY;
		p.parent = i % 2 == 0 ? i - 1 : i % 5 && i > 2 ? i - 2 : 0;
		VEC_ADD(&v->places, p);
	}
}

/* Three sorts of rows by turns, and rows that are like no others; all are in one batch each, with all their time. */
static void test_rows(void **state)
{
	_cleanup_(vtree_freep) struct vtree *v = vtree_new(CHARGE_WAITER);
	struct tally y = { .v = v };
	_cleanup_(row_batches_freep) struct row_batches *b = row_batches_new(v, count_batch, &y);
	__int128 place_t[PLACES + 1] = { 0 }, squares = 0;
	struct random r = { 7 };
	cells row = { NULL, 0, 0 };
	size_t taken = 0;

	(void)state;
	make_places(v);
	for (size_t i = 0; i < ROWS; i++) {
		int64_t of_place[PLACES + 1] = { 0 };
		uint32_t sort = random_below(&r, 10);

		row.cnt = 0;
		for (uint32_t place = 2; place <= PLACES; place += 2)
			if (sort ? place % 3 == sort % 3 || random_below(&r, 16) == 0 : random_below(&r, 2))
				VEC_ADD(&row, (struct cell){ place, 1 + random_below(&r, i % 50 ? 1000 : 1 << 29) });
		if (!row_batches_add(b, &row, i, (uint32_t)i / 1000))
			continue;
		taken++;
		for (size_t c = 0; c < row.cnt; c++)
			for (uint32_t k = row.items[c].place; k != NODE_NONE; k = v->places.items[k].parent)
				of_place[k] += row.items[c].ns;
		for (uint32_t k = 0; k <= PLACES; k++) {
			place_t[k] += (__int128)of_place[k] * of_place[0];
			squares += (__int128)of_place[k] * of_place[k];
		}
	}
	row_batches_end(b);
	assert_int_equal(y.rows, taken);
	assert_true(taken > ROWS * 9 / 10 && y.batches < ROWS / 20);
	assert_true(y.squares == squares);
	for (uint32_t k = 0; k <= PLACES; k++)
		assert_true(y.place_t[k] == place_t[k]);
	VEC_RELEASE(&row);
}

/* A place in which a batch has no time is empty there, whatever it had in the batch before. */
static void test_absent(void **state)
{
	_cleanup_(vtree_freep) struct vtree *v = vtree_new(CHARGE_WAITER);
	struct tally y = { .v = v };
	_cleanup_(row_batches_freep) struct row_batches *b = row_batches_new(v, count_batch, &y);
	cells row = { NULL, 0, 0 };

	(void)state;
	make_places(v);
	for (size_t i = 0; i < 3 * BATCH_ROWS; i++) {
		row.cnt = 0;
		for (uint32_t place = 2; place <= (i / BATCH_ROWS == 1 ? 6 : 14); place += 2)
			VEC_ADD(&row, (struct cell){ place, 100 + place });
		assert_true(row_batches_add(b, &row, i, 0));
	}
	row_batches_end(b);
	assert_int_equal(y.rows, 3 * BATCH_ROWS);
	assert_int_equal(y.batches, 3);
	VEC_RELEASE(&row);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
