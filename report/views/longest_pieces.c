/* SPDX-License-Identifier: GPL-3.0-or-later */
/* longest_pieces.c - see longest_pieces.h. */
#include "report/views/longest_pieces.h"

#include <stdlib.h>

#include "base/banned.h"
#include "base/cleanup.h"

static int longest_first(const void *pa, const void *pb, void *arg)
{
	const struct path_piece *pieces = arg;
	size_t a = *(const size_t *)pa, b = *(const size_t *)pb;
	int64_t a_ns = pieces[a].end_ns - pieces[a].start_ns, b_ns = pieces[b].end_ns - pieces[b].start_ns;

	if (a_ns != b_ns)
		return a_ns > b_ns ? -1 : 1;
	return (a > b) - (a < b);
}

bool *longest_pieces(const path_pieces *pieces, size_t most)
{
	_cleanup_(freep) size_t *order = xcalloc(pieces->cnt + 1, sizeof(*order));
	bool *ret = xcalloc(pieces->cnt + 1, sizeof(*ret));

	for (size_t i = 0; i < pieces->cnt; i++)
		order[i] = i;
	if (pieces->cnt > 1)
		qsort_r(order, pieces->cnt, sizeof(*order), longest_first, pieces->items);
	for (size_t i = 0; i < pieces->cnt && i < most; i++)
		ret[order[i]] = true;
	return ret;
}
