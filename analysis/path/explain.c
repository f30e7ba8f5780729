/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain.c - the critical path of one interval, with the functions open in each piece.
 *
 * A piece is cut where the stack changes; a blocked piece has the stack of the thread that was blocked, a queue piece
 * none (no function waits).  Example: A runs [10,20] with f [10,15] open: pieces [10,15] f and [15,20] without
 * frames.
 *
 * A stack deeper than FRAMES_MAX is cut to its innermost functions and the number of the others: 20,000 nested calls
 * make 40,000 pieces, whose stacks in full would be a gigabyte.
 */
#include "analysis/path/explain.h"

#include <errno.h>
#include <string.h>
#include "analysis/path/timeline.h"
#include "base/map.h"
#include "base/banned.h"

#define FRAMES_MAX 128

struct explainer {
	struct timeline *tl;
	struct arena *arena;
	struct map *depths;		/* of invocations: number of calls around each, plus itself */
	const char **names;		/* in arena, by function; NULL: not needed yet */
	VEC(uint32_t) above;
	path_pieces *ret;
};

static const struct interval *find_interval(const struct trace *t, uint64_t sid)
{
	for (size_t i = 0; i < t->intervals.cnt; i++)
		if (t->intervals.items[i].sid == sid)
			return &t->intervals.items[i];
	return NULL;
}

static bool same(const struct path_piece *p, const struct path_piece *q)
{
	if (p->tid != q->tid || p->state != q->state || p->depth != q->depth ||
	    p->end_ns != q->start_ns || p->frame_cnt != q->frame_cnt)
		return false;
	for (size_t i = 0; i < p->frame_cnt; i++)
		if (strcmp(p->frames[i], q->frames[i]) != 0)
			return false;
	return true;
}

static void add_piece(path_pieces *ret, const struct path_piece *p)
{
	if (ret->cnt > 0 && same(&ret->items[ret->cnt - 1], p))
		ret->items[ret->cnt - 1].end_ns = p->end_ns;
	else
		VEC_ADD(ret, *p);
}

static size_t depth_of(struct explainer *x, uint32_t innermost)
{
	uint64_t depth = 0;

	x->above.cnt = 0;
	for (uint32_t i = innermost; i != INVOCATION_NONE && !map_get(x->depths, i, &depth); i = x->tl->parents[i])
		VEC_ADD(&x->above, i);
	while (x->above.cnt)
		map_set(x->depths, x->above.items[--x->above.cnt], ++depth);
	return depth;
}

static const char *name_of(struct explainer *x, uint32_t invocation)
{
	const struct trace *t = x->tl->trace;
	uint32_t function = t->invocations.items[invocation].function;

	if (!x->names[function])
		x->names[function] = arena_strdup(x->arena, t->functions.items[function].name);
	return x->names[function];
}

static void set_where(struct explainer *x, uint32_t innermost, struct path_piece *p)
{
	const struct trace *t = x->tl->trace;
	const struct function *f = innermost == INVOCATION_NONE ? NULL : &t->functions.items[t->invocations.items[innermost].function];

	p->file = f && f->file ? arena_strdup(x->arena, f->file) : NULL;
	p->line = f ? f->line : 0;
}

static void fill_frames(struct explainer *x, uint32_t innermost, struct path_piece *p)
{
	size_t depth = depth_of(x, innermost), n = depth > FRAMES_MAX ? FRAMES_MAX : depth;

	p->frame_cnt = n;
	p->frames = ARENA_NEW(x->arena, const char *, n ? n : 1);
	for (uint32_t i = innermost; n > (depth > FRAMES_MAX); i = x->tl->parents[i])
		p->frames[--n] = name_of(x, i);
	set_where(x, innermost, p);
	if (n)
		p->frames[0] = arena_printf(x->arena, "[%zu more]", depth - (FRAMES_MAX - 1));
}

static void explain_piece(struct explainer *x, const struct piece *piece)
{
	struct path_piece p = {
		.tid = piece->tid, .start_ns = piece->start_ns, .end_ns = piece->end_ns,
		.state = piece->state, .depth = piece->depth,
	};
	struct stack_walk w;

	if (piece->state == STATE_QUEUE) {
		add_piece(x->ret, &p);
		return;
	}
	for (stack_walk_init(&w, x->tl, piece->tid, piece->start_ns, piece->end_ns);
	     stack_walk_next(&w); ) {
		p.start_ns = w.from_ns;
		p.end_ns = w.to_ns;
		fill_frames(x, w.innermost, &p);
		add_piece(x->ret, &p);
	}
}

struct explainer *explainer_new(struct trace *t, struct arena *a)
{
	struct explainer *x = xcalloc(1, sizeof(*x));

	trace_sort(t);
	x->arena = a;
	x->tl = timeline_new(t);
	x->depths = map_new();
	x->names = xcalloc(t->functions.cnt + 1, sizeof(*x->names));
	return x;
}

void explainer_free(struct explainer *x)
{
	timeline_free(x->tl);
	VEC_RELEASE(&x->above);
	map_free(x->depths);
	free(x->names);
	free(x);
}

int explainer_interval(struct explainer *x, uint64_t sid, path_pieces *ret)
{
	const struct interval *iv = find_interval(x->tl->trace, sid);
	pieces path = { NULL, 0, 0 };
	int r;

	if (!iv || iv->status != INTERVAL_COMPLETED)
		return -ENOENT;
	x->ret = ret;
	r = critical_path(x->tl, iv, &path);
	for (size_t i = 0; r == 0 && i < path.cnt; i++)
		explain_piece(x, &path.items[i]);
	VEC_RELEASE(&path);
	return r;
}

int explain_interval(struct trace *t, uint64_t sid, struct arena *a, path_pieces *ret)
{
	_cleanup_(explainer_freep) struct explainer *x = explainer_new(t, a);

	return explainer_interval(x, sid, ret);
}
