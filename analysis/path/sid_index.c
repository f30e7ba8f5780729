/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sid_index.c - the segments of each thread ordered by interval.
 *
 *	segments of a thread, by sid	0: 7   1: 8   2: 9   3: 8   4: 7   5: 8
 *	ordered by (sid, index)		7: 0, 4   8: 1, 3, 5   9: 2
 *
 * The last for 7 before 4 is 0, by binary search.  For each segment the beginning of its stretch without a hole is
 * stored, too.
 */
#include "analysis/path/sid_index.h"

#include "base/banned.h"
#include "base/search.h"

struct sid_index {
	size_t *ordered;		/* indexes of segments; each thread's in its range */
	size_t *stretch;		/* by segment: the first of its stretch without a hole */
};

struct sid_index *sid_index_new(void)
{
	return xcalloc(1, sizeof(struct sid_index));
}

void sid_index_free(struct sid_index *x)
{
	if (!x)
		return;
	free(x->ordered);
	free(x->stretch);
	free(x);
}

static int compare(const void *pa, const void *pb, void *arg)
{
	const struct segment *segments = arg;
	size_t a = *(const size_t *)pa, b = *(const size_t *)pb;

	if (segments[a].sid != segments[b].sid)
		return segments[a].sid < segments[b].sid ? -1 : 1;
	return (a > b) - (a < b);
}

static void fill(struct sid_index *x, const struct timeline *tl)
{
	size_t cnt = 0;

	for (size_t n = 0; n < tl->threads.cnt; n++)
		cnt += tl->threads.items[n].segments.cnt;
	x->ordered = xcalloc(cnt + 1, sizeof(*x->ordered));
	x->stretch = xcalloc(cnt + 1, sizeof(*x->stretch));
	for (size_t n = 0; n < tl->threads.cnt; n++) {
		const struct index_range *r = &tl->threads.items[n].segments;

		for (size_t i = r->first; i < r->first + r->cnt; i++) {
			bool touches = i > r->first &&
				       tl->segments[i - 1].end_ns == tl->segments[i].start_ns;

			x->ordered[i] = i;
			x->stretch[i] = touches ? x->stretch[i - 1] : i;
		}
		if (r->cnt > 1)
			qsort_r(x->ordered + r->first, r->cnt, sizeof(*x->ordered), compare,
				tl->segments);
	}
}

/* Whether it is for a lower sid, or for this one and earlier. */
static bool is_before(const struct timeline *tl, size_t i, uint64_t sid, size_t segment)
{
	return tl->segments[i].sid < sid || (tl->segments[i].sid == sid && i < segment);
}

size_t sid_index_others_first(const struct timeline *tl, uint32_t thread, size_t segment,
			      uint64_t sid)
{
	const struct index_range *r = &tl->threads.items[thread].segments;
	struct sid_index *x = tl->sid_index;
	size_t before, own;

	if (!x->ordered)
		fill(x, tl);
	before = partition_point(i, r->cnt, is_before(tl, x->ordered[r->first + i], sid, segment));
	if (before == 0)
		return x->stretch[segment];
	own = x->ordered[r->first + before - 1];
	if (tl->segments[own].sid != sid || own < x->stretch[segment])
		return x->stretch[segment];
	return own + 1;
}
