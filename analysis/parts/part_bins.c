/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * part_bins.c - what each part took, by the latency of the intervals.
 *
 * Sums of times are doubles: exact up to 2^53 ns, a hundred days.
 */
#include "analysis/parts/part_bins.h"

#include "base/banned.h"
#include "base/search.h"

void fill_part_bins(const struct analysis *a, const int64_t *edges, size_t edge_cnt, const struct times *times)
{
	struct findings *f = a->f;
	_cleanup_(freep) double **ns = NULL;
	_cleanup_(freep) uint64_t **present = NULL;
	struct times_walk w;

	if (!edges || !edge_cnt)
		return;
	ns = xcalloc(f->parts.cnt + 1, sizeof(*ns));
	present = xcalloc(f->parts.cnt + 1, sizeof(*present));
	for (size_t i = 0; i < f->parts.cnt; i++) {
		f->parts.items[i].bin_ns = ns[i] = ARENA_NEW(f->arena, double, edge_cnt);
		f->parts.items[i].bin_present = present[i] = ARENA_NEW(f->arena, uint64_t, edge_cnt);
	}
	for (size_t b = 0; b < edge_cnt; b++)
		VEC_ADD(&f->bins, (struct latency_bin){ .from_ns = edges[b] });
	for (times_begin(&w, times); times_next(&w); ) {
		int64_t latency_ns = a->full->of_row[w.row];
		size_t bin = partition_point(i, edge_cnt - 1, edges[i + 1] <= latency_ns);

		f->bins.items[bin].cnt++;
		f->bins.items[bin].sum_ns += (double)latency_ns;
		for (size_t c = 0; c < w.times.cells.cnt; c++) {
			const struct time_cell *cell = &w.times.cells.items[c];

			ns[cell->column][bin] += (double)cell->ns;
			present[cell->column][bin] += cell->ns > 0;
		}
	}
	times_end(&w);
}
