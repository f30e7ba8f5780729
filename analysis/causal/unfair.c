/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unfair.c - see unfair.h. */
#include "analysis/causal/unfair.h"

#include <stdlib.h>

#include "base/banned.h"

enum { RELEASES_MIN = 20, HELD_MAX = 16 };

#define NONE SIZE_MAX

struct taking {
	uint32_t object;
	uint64_t tid;
	int64_t since_ns, ns, released_ns;	/* INT64_MAX: never */
};

typedef VEC(struct taking) takings;

static int by_object(const void *pa, const void *pb)
{
	const struct taking *a = pa, *b = pb;

	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (a->tid > b->tid) - (a->tid < b->tid);
}

/* Takings alone, each with its release. */
static void find_takings(const struct trace *t, takings *ret)
{
	size_t held[HELD_MAX], held_cnt = 0;

	for (size_t i = 0; i < t->sync_ops.cnt; i++) {
		const struct sync_op *op = &t->sync_ops.items[i];

		if (i && op->tid != op[-1].tid)
			held_cnt = 0;
		if (op->kind == SYNC_TAKE && held_cnt < HELD_MAX) {
			held[held_cnt++] = ret->cnt;
			VEC_ADD(ret, (struct taking){ op->object, op->tid, op->since_ns, op->ns, INT64_MAX });
		}
		for (size_t k = held_cnt; op->kind == SYNC_GIVE && k-- > 0; ) {
			if (ret->items[held[k]].object != op->object)
				continue;
			ret->items[held[k]].released_ns = op->ns;
			held[k] = held[--held_cnt];
			break;
		}
	}
	if (ret->cnt > 1)
		qsort(ret->items, ret->cnt, sizeof(*ret->items), by_object);
}

/* For each taking the next one of that lock by another thread. */
static void find_others(const takings *all, size_t *ret)
{
	for (size_t i = all->cnt; i-- > 0; ) {
		const struct taking *x = &all->items[i];

		if (i + 1 == all->cnt || x[1].object != x->object)
			ret[i] = NONE;
		else
			ret[i] = x[1].tid != x->tid ? i + 1 : ret[i + 1];
	}
}

double unfair_lock(const struct trace *t, const char **ret_lock)
{
	takings all = { NULL, 0, 0 };
	_cleanup_(freep) size_t *others = NULL;
	uint64_t releases = 0, again = 0;
	double most = 0;

	find_takings(t, &all);
	others = xcalloc(all.cnt + 1, sizeof(*others));
	find_others(&all, others);
	for (size_t i = 0; i < all.cnt; i++) {
		const struct taking *x = &all.items[i];

		if (i == 0 || x[-1].object != x->object)
			releases = again = 0;
		if (others[i] != NONE && all.items[others[i]].since_ns < x->released_ns) {	/* it waited when x let go */
			releases++;
			again += others[i] != i + 1;
		}
		if (releases >= RELEASES_MIN && (i + 1 == all.cnt || x[1].object != x->object) && (double)again / (double)releases > most) {
			most = (double)again / (double)releases;
			*ret_lock = t->sync_objects.items[x->object];
		}
	}
	VEC_RELEASE(&all);
	return most;
}
