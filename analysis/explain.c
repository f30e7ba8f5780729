/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain.c - the critical path of one interval, with the functions open in each piece.
 *
 * A piece is cut where the stack changes; a blocked piece has the stack of the thread that was
 * blocked, a queue piece none (nobody waits in a function).  Example: A runs [10,20] with f
 * [10,15] open: pieces [10,15] f and [15,20] without frames.
 */
#include "analysis/passes.h"

#include <errno.h>
#include <string.h>
#include "base/banned.h"

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

static void fill_frames(const struct timeline *tl, struct arena *a, uint32_t innermost,
			struct path_piece *p)
{
	const struct trace *t = tl->trace;
	size_t n;

	p->frame_cnt = 0;
	for (uint32_t i = innermost; i != INVOCATION_NONE; i = tl->parents[i])
		p->frame_cnt++;
	p->frames = ARENA_NEW(a, const char *, p->frame_cnt ? p->frame_cnt : 1);
	n = p->frame_cnt;
	for (uint32_t i = innermost; i != INVOCATION_NONE; i = tl->parents[i])
		p->frames[--n] = arena_strdup(a, t->functions.items[t->invocations.items[i].function].name);
}

static void explain_piece(const struct timeline *tl, const struct piece *piece, struct arena *a,
			  path_pieces *ret)
{
	struct path_piece p = {
		.tid = piece->tid, .start_ns = piece->start_ns, .end_ns = piece->end_ns,
		.state = piece->state, .depth = piece->depth,
	};
	struct stack_walk w;

	if (piece->state == STATE_QUEUE) {
		add_piece(ret, &p);
		return;
	}
	for (stack_walk_init(&w, tl, piece->tid, piece->start_ns, piece->end_ns);
	     stack_walk_next(&w); ) {
		p.start_ns = w.from_ns;
		p.end_ns = w.to_ns;
		fill_frames(tl, a, w.innermost, &p);
		add_piece(ret, &p);
	}
}

int explain_interval(struct trace *t, uint64_t sid, struct arena *a, path_pieces *ret)
{
	_cleanup_(timeline_freep) struct timeline *tl = NULL;
	const struct interval *iv;
	pieces path = { NULL, 0, 0 };
	int r;

	trace_sort(t);
	iv = find_interval(t, sid);
	if (!iv || iv->status != INTERVAL_COMPLETED)
		return -ENOENT;
	tl = timeline_new(t);
	r = critical_path(tl, iv, &path);
	for (size_t i = 0; r == 0 && i < path.cnt; i++)
		explain_piece(tl, &path.items[i], a, ret);
	VEC_RELEASE(&path);
	return r;
}
