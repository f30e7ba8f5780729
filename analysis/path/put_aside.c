/* SPDX-License-Identifier: GPL-3.0-or-later */
/* put_aside.c - see put_aside.h. */
#include "analysis/path/put_aside.h"

#include "analysis/path/timeline.h"
#include "base/banned.h"
#include "base/map.h"

#define NEAR_NS 10000			/* a function that was left so shortly before, or entered so shortly after, still counts */

struct pair {
	uint32_t before, after;
	__int128 ns;
};

struct put_aside {
	struct map *index_of;		/* before << 32 | after -> index in pairs + 1 */
	VEC(struct pair) pairs;
	size_t before_hint, after_hint;	/* for timeline_last_begun() */
};

struct put_aside *put_aside_new(void)
{
	struct put_aside *s = xcalloc(1, sizeof(*s));

	s->index_of = map_new();
	return s;
}

void put_aside_free(struct put_aside *s)
{
	if (!s)
		return;
	map_free(s->index_of);
	VEC_RELEASE(&s->pairs);
	free(s);
}

/* The innermost function of the first call that it has in [from, to). */
static uint32_t first_function(struct put_aside *s, const struct timeline *tl, uint64_t tid, int64_t from_ns, int64_t to_ns)
{
	uint32_t i = timeline_last_begun(tl, tid, from_ns + 1, &s->after_hint);
	struct stack_walk w;

	while (i != INVOCATION_NONE && tl->ends_ns[i] <= from_ns)
		i = tl->parents[i];
	if (i != INVOCATION_NONE)
		return tl->trace->invocations.items[i].function;
	for (stack_walk_init(&w, tl, tid, from_ns, to_ns); stack_walk_next(&w); )
		if (w.innermost != INVOCATION_NONE)
			return tl->trace->invocations.items[w.innermost].function;
	return FUNCTION_NONE;
}

/* The innermost at the last moment; if there is none, at the one before the latest call ended. */
static uint32_t last_function(struct put_aside *s, const struct timeline *tl, uint64_t tid, int64_t from_ns, int64_t to_ns)
{
	while (to_ns > from_ns) {
		uint32_t i = timeline_last_begun(tl, tid, to_ns, &s->before_hint);
		int64_t left_ns = from_ns;

		for (; i != INVOCATION_NONE && tl->ends_ns[i] < to_ns; i = tl->parents[i])
			left_ns = tl->ends_ns[i];
		if (i != INVOCATION_NONE)
			return tl->trace->invocations.items[i].function;
		to_ns = left_ns;
	}
	return FUNCTION_NONE;
}

static uint32_t function_before(struct put_aside *s, const struct timeline *tl, const struct piece *p)
{
	int64_t near_ns = p->end_ns - p->start_ns > NEAR_NS ? p->end_ns - NEAR_NS : p->start_ns;

	return last_function(s, tl, p->owner_tid, near_ns, p->end_ns);
}

static uint32_t function_after(struct put_aside *s, const struct timeline *tl, const struct piece *p)
{
	int64_t near_ns = p->end_ns - p->start_ns > NEAR_NS ? p->start_ns + NEAR_NS : p->end_ns;

	return first_function(s, tl, p->owner_tid, p->start_ns, near_ns);
}

static void add_pair(struct put_aside *s, uint32_t before, uint32_t after, __int128 ns)
{
	uint64_t *slot = map_slot(s->index_of, (uint64_t)before << 32 | after);

	if (!*slot) {
		VEC_ADD(&s->pairs, (struct pair){ before, after, 0 });
		*slot = s->pairs.cnt;
	}
	s->pairs.items[*slot - 1].ns += ns;
}

void put_aside_archive(struct put_aside *s, struct archive *a, uint32_t function_cnt)
{
	ARCHIVE_RESIZE(a, &s->pairs);
	for (size_t i = 0; i < s->pairs.cnt; i++) {
		archive_below(a, &s->pairs.items[i].before, function_cnt);
		archive_below(a, &s->pairs.items[i].after, function_cnt);
		archive_i128(a, &s->pairs.items[i].ns);
	}
}

void put_aside_join(struct put_aside *to, const struct put_aside *from, const uint32_t *functions)
{
	for (size_t i = 0; i < from->pairs.cnt; i++)
		add_pair(to, functions[from->pairs.items[i].before], functions[from->pairs.items[i].after], from->pairs.items[i].ns);
}

/* path[first, end) is one stretch in the queue: between what was before it and what is after it. */
static void add_stretch(struct put_aside *s, const struct timeline *tl, const pieces *path, size_t first, size_t end, uint32_t weight)
{
	uint32_t before, after;

	if (first == 0 || end == path->cnt)
		return;
	before = function_before(s, tl, &path->items[first - 1]);
	after = function_after(s, tl, &path->items[end]);
	if (before == FUNCTION_NONE || after == FUNCTION_NONE)
		return;
	add_pair(s, before, after, (__int128)(path->items[end].start_ns - path->items[first].start_ns) * weight);
}

void put_aside_add(struct put_aside *s, const struct timeline *tl, const pieces *path, uint32_t weight)
{
	for (size_t i = 0, end; i < path->cnt; i = end) {
		for (end = i; end < path->cnt && path->items[end].state == STATE_QUEUE; end++)
			;
		if (end > i)
			add_stretch(s, tl, path, i, end, weight);
		else
			end++;
	}
}

static bool is_better(const struct pair *a, const struct pair *b)
{
	if (a->ns != b->ns)
		return a->ns > b->ns;
	return a->before != b->before ? a->before < b->before : a->after < b->after;
}

bool put_aside_most(const struct put_aside *s, uint32_t *ret_before, uint32_t *ret_after)
{
	const struct pair *best = NULL;

	for (size_t i = 0; s && i < s->pairs.cnt; i++)
		if (!best || is_better(&s->pairs.items[i], best))
			best = &s->pairs.items[i];
	if (!best)
		return false;
	*ret_before = best->before;
	*ret_after = best->after;
	return true;
}
