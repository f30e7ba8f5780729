/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * digest_check.c - checks that the numbers of a window are possible.
 *
 * With n intervals, none longer than L, a sum of times is at most n L and a sum of products at most n L^2.  The latter must not
 * exceed 2^124, so nothing computed from it overflows.  Example: with n 2, L 10, x 21 is impossible and xx 200 is possible.
 */
#include "digest/digest.h"

#include "base/banned.h"

#define WAITED_MAX ((__int128)1 << 100)	/* the total over all windows of all digests then stays below 2^127 */

struct bounds {
	__int128 nl, nll;
	uint64_t n;
};

static bool sums_fit(const struct bounds *b, const struct summed_window *w)
{
	for (size_t i = 0; i < w->sums.cnt; i++) {
		const struct summed_sums *s = &w->sums.items[i];

		if (s->x > b->nl || s->xx > b->nll || s->xt > b->nll || s->presence > b->n)
			return false;
	}
	for (size_t i = 0; i < w->pairs.cnt; i++)
		if (w->pairs.items[i].xy > b->nll)
			return false;
	for (size_t i = 0; i < w->owns.cnt; i++)
		if (w->owns.items[i].xx > b->nll || w->owns.items[i].cnt > b->n || w->owns.items[i].t > b->nl)
			return false;
	return true;
}

/* Sums are in order of places. */
static uint64_t presence_of(const struct summed_window *w, uint32_t place)
{
	size_t from = 0, end = w->sums.cnt;

	while (from < end) {
		size_t middle = from + (end - from) / 2;

		if (w->sums.items[middle].place == place)
			return w->sums.items[middle].presence;
		if (w->sums.items[middle].place < place)
			from = middle + 1;
		else
			end = middle;
	}
	return 0;
}

/* If a place is present in an interval, so are the places above it. */
static bool presences_fit(const struct summed *s, const struct summed_window *w)
{
	for (size_t i = 0; i < w->sums.cnt; i++) {
		uint32_t parent = s->places.items[w->sums.items[i].place].parent;

		if (parent != NODE_NONE && w->sums.items[i].presence > presence_of(w, parent))
			return false;
	}
	return true;
}

static bool waits_fit(const struct summed_counts *c)
{
	return c->waited_ns <= WAITED_MAX && c->no_waker_ns <= WAITED_MAX && c->io_waited_ns <= WAITED_MAX &&
	       c->io_no_waker_ns <= WAITED_MAX;
}

static bool is_bucket_of(const struct summed_window *w, uint32_t bucket, unsigned bits)
{
	return bucket >= bucket_of(w->min_ns, bits) && bucket <= bucket_of(w->max_ns, bits);
}

/* The buckets hold each interval once. */
static bool buckets_fit(const struct bounds *b, const struct summed_window *w)
{
	__int128 n = 0, recorded = 0, t = 0;

	for (size_t i = 0; i < w->buckets.cnt; i++) {
		const struct summed_bucket *k = &w->buckets.items[i];

		n += k->n;
		recorded += k->recorded;
		if (k->t > b->nl || !is_bucket_of(w, k->bucket, BUCKET_BITS_FINE))
			return false;
		t += k->t;
	}
	for (size_t i = 0; i < w->cells.cnt; i++)
		if (w->cells.items[i].x > b->nl || !is_bucket_of(w, w->cells.items[i].bucket, BUCKET_BITS))
			return false;
	for (size_t i = 0; i < w->shares.cnt; i++)
		if (w->shares.items[i].n > b->n || !is_bucket_of(w, w->shares.items[i].bucket, BUCKET_BITS))
			return false;
	return n == w->n && recorded == w->recorded && (w->n == 0 || (w->sums.cnt && w->sums.items[0].place == w->root &&
								       w->sums.items[0].x == t));
}

const char *window_wrong(const struct summed *s, const struct summed_window *w)
{
	struct bounds b = { (__int128)w->n * w->max_ns, 0, w->n };

	if (w->min_ns < 0 || w->max_ns < w->min_ns || w->recorded > w->n || !squares_fit(w->n, w->max_ns) ||
	    !squares_fit(w->root_only.n, w->root_only.max_ns))
		return "they are too many, or too long";
	if (w->n ? w->unit == 0 || w->n % w->unit || !w->recorded : w->unit)
		return "their weights contradict their number";
	b.nll = b.nl * w->max_ns;
	if (!sums_fit(&b, w) || !buckets_fit(&b, w))
		return "a sum is larger than the number of intervals and the longest of them allow";
	if (!presences_fit(s, w))
		return "a place took time in more intervals than its parent";
	if (!waits_fit(&w->counts))
		return "the times waited are longer than any can be";
	if (w->root_only.t > (__int128)w->root_only.n * w->root_only.max_ns ||
	    w->root_only.tt > (__int128)w->root_only.n * w->root_only.max_ns * w->root_only.max_ns)
		return "a sum of root-only intervals is larger than they allow";
	return NULL;
}
