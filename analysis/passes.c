/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * passes.c - what passes do alike: name a function in the findings, reckon a share, and read the rows.
 *
 * The rows are read once for all that want them next.  Example: factors and parts both ask for rows; one reading hands each
 * full batch to both, and what is not worth a batch row by row.  Who takes no batches gets every row by itself.
 */
#include "analysis/passes.h"

#include "base/banned.h"

/* Only a thread has functions. */
static bool is_function(uint32_t function)
{
	return function != FUNCTION_NONE && DEVICE_OF_FUNCTION(function) == KIND_THREAD;
}

const char *analysis_function_name(struct analysis *a, uint32_t function)
{
	if (function == FUNCTION_NONE)
		return NULL;
	if (!is_function(function))
		return arena_printf(a->f->arena, "(%s)", thread_kind_name(DEVICE_OF_FUNCTION(function)));
	if (!a->function_names[function])
		a->function_names[function] = arena_strdup(a->f->arena,
							   a->t->functions.items[function].name);
	return a->function_names[function];
}

const char *analysis_function_file(struct analysis *a, uint32_t function)
{
	if (!is_function(function) || !a->t->functions.items[function].file)
		return NULL;
	if (!a->function_files[function])
		a->function_files[function] = arena_strdup(a->f->arena,
							   a->t->functions.items[function].file);
	return a->function_files[function];
}

uint32_t analysis_function_line(const struct analysis *a, uint32_t function)
{
	return is_function(function) ? a->t->functions.items[function].line : 0;
}

double analysis_share(const struct analysis *a, double covariance)
{
	return a->variance_ns2 > 0 ? covariance / a->variance_ns2 : 0;
}

void visit_rows(struct analysis *a, row_visitor visit, batch_taker take, void *arg)
{
	VEC_ADD(&a->visitors, (struct visitor){ visit, take, arg });
}

static void take_batch(void *arg, const struct row_batch *b)
{
	struct analysis *a = arg;

	for (size_t i = 0; i < a->visitors.cnt; i++)
		if (a->visitors.items[i].take)
			a->visitors.items[i].take(a->visitors.items[i].arg, b);
}

void read_rows(struct analysis *a)
{
	_cleanup_(row_batches_freep) struct row_batches *batches = row_batches_new(a->v, take_batch, a);
	struct rows_walk w;

	if (a->visitors.cnt == 0)
		return;
	for (rows_begin(&w, a->rows); rows_next(&w); ) {
		bool taken = row_batches_add(batches, &w.cells, w.row, a->block_of_row[w.row]);

		for (size_t i = 0; i < a->visitors.cnt; i++)
			if (!taken || !a->visitors.items[i].take)
				a->visitors.items[i].visit(a->visitors.items[i].arg, w.row, &w.cells);
	}
	rows_end(&w);
	row_batches_end(batches);
	a->visitors.cnt = 0;
}
