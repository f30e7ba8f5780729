/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * releases.c - when each lock was let go while somebody waited for it.
 *
 * One sorted array; a wait looks its object's stretch of it up by halving.  A wait that saw more
 * than RELEASES_MOST of them (a lock that is passed around a thousand times while one thread
 * starves) keeps the first ones: what is left is explained by who let go at last, who mostly
 * waited as well.  The first ones are known whenever the wait is looked at, the last ones only
 * when it is over (stream.h).
 */
#include "base/banned.h"
#include "base/search.h"
#include "trace/releases.h"

static int compare_releases(const void *a, const void *b)
{
	const struct release *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

void releases_collect(const struct raw *r, struct releases *ret)
{
	for (size_t i = 0; i < r->events.cnt; i++) {
		const struct raw_event *e = &r->events.items[i];

		if (e->kind == EVENT_RELEASE)
			VEC_ADD(&ret->list, (struct release){ e->words[0], e->ns, e->thread });
	}
	if (ret->list.cnt)
		qsort(ret->list.items, ret->list.cnt, sizeof(ret->list.items[0]), compare_releases);
}

/* Index of the first release of object later than ns (or of a later object). */
static size_t first_after(const struct releases *list, uint64_t object, int64_t ns)
{
	const struct release *r = list->list.items;

	return partition_point(i, list->list.cnt, r[i].object < object || (r[i].object == object && r[i].ns <= ns));
}

const struct release *releases_between(const struct releases *list, uint64_t object,
				       int64_t start_ns, int64_t end_ns, size_t *ret_cnt)
{
	size_t first = first_after(list, object, start_ns);
	size_t end = first_after(list, object, end_ns - 1);

	*ret_cnt = end > first ? end - first : 0;
	if (*ret_cnt > RELEASES_MOST)
		*ret_cnt = RELEASES_MOST;
	return *ret_cnt ? &list->list.items[first] : NULL;
}
