/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * section_paths.c - the critical paths of the slowest intervals, and of typical intervals.
 *
 * Typical intervals are those next to the median.  A slow interval may have 40,000 pieces.  Its longest pieces are kept, and all
 * pieces between two kept ones become one piece "n others".  The whole page has to stay below 2 MB, so each path gets fewer
 * pieces if the sum would be larger.
 *
 *	{"threads":[[12,"worker","thread"],...], "frames":[["main","f"],...],
 *	 "paths":[{"sid":"7","rank":1,"latency_ns":5000,"typical":false,"piece_cnt":3,
 *		   "pieces":[thread, length, state, depth, frames, others,  thread, ...]}]}
 */
#include <inttypes.h>
#include <string.h>

#include "base/banned.h"
#include "base/map.h"
#include "base/str.h"
#include "report/page/sections.h"
#include "report/views.h"

#define SLOWEST_MAX 200
#define TYPICAL_MAX 200
#define PIECES_MAX 240			/* of a path */
#define PACKED_MAX 450000		/* of all paths, in base64 */

struct paths {
	struct arena *arena;
	VEC(struct explained) list;
	size_t slowest_cnt;		/* the rest are typical ones */
};

static void paths_release(struct paths *p)
{
	for (size_t i = 0; i < p->list.cnt; i++)
		VEC_RELEASE(&p->list.items[i].pieces);
	VEC_RELEASE(&p->list);
	arena_free(p->arena);
}

static void explain(struct paths *p, struct explainer *x, const struct interval_row *row, size_t rank)
{
	struct explained *e = VEC_EXTEND(&p->list);

	e->row = row;
	e->rank = rank;
	/* The trace has fewer intervals than the store, or the interval took no time. */
	if (explainer_interval(x, row->sid, &e->pieces) < 0 || !e->pieces.cnt) {
		VEC_RELEASE(&e->pieces);
		p->list.cnt--;
	}
}

/* The intervals recorded in full, slowest first; the caller frees it. */
static size_t *ranked(const struct findings *f, size_t *ret_cnt)
{
	size_t *order = findings_by_latency(f), cnt = 0;

	for (size_t i = 0; i < f->intervals.cnt; i++)
		if (!f->intervals.items[order[i]].root_only)
			order[cnt++] = order[i];
	*ret_cnt = cnt;
	return order;
}

static void explain_all(struct paths *p, const struct page_input *in)
{
	const struct findings *f = in->view.findings;
	_cleanup_(explainer_freep) struct explainer *x = NULL;
	size_t cnt, slowest, typical, first;
	_cleanup_(freep) size_t *order = ranked(f, &cnt);

	p->arena = arena_new();
	x = explainer_new(in->view.trace, p->arena);
	slowest = cnt < SLOWEST_MAX ? cnt : SLOWEST_MAX;
	typical = cnt - slowest < TYPICAL_MAX ? cnt - slowest : TYPICAL_MAX;
	for (size_t i = 0; i < slowest; i++)
		explain(p, x, &f->intervals.items[order[i]], i + 1);
	p->slowest_cnt = p->list.cnt;
	/* Around the median, but after the slowest ones, and not past the end. */
	first = cnt / 2 < typical / 2 ? 0 : cnt / 2 - typical / 2;
	first = first < slowest ? slowest : first > cnt - typical ? cnt - typical : first;
	for (size_t i = first; i < first + typical; i++)
		explain(p, x, &f->intervals.items[order[i]], i + 1);
}

/* ---- as JSON ---- */

struct writing {
	const struct trace *trace;
	struct map *threads;		/* TID -> number + 1 */
	struct names *stacks;		/* frames, joined */
	json_t *thread_list, *frame_list;
};

static json_t *thread_json(const struct trace *t, uint64_t tid)
{
	const struct thread_name *n = path_thread(t, tid);
	json_t *o = json_array();

	json_add(o, json_u64(tid));
	json_add(o, json_text(n ? n->name : NULL));
	json_add(o, json_string(thread_kind_name(n ? n->kind : KIND_THREAD)));
	return o;
}

static uint64_t thread_number(struct writing *w, uint64_t tid)
{
	uint64_t *slot = map_slot(w->threads, tid);

	if (!*slot) {
		*slot = json_array_size(w->thread_list) + 1;
		json_add(w->thread_list, thread_json(w->trace, tid));
	}
	return *slot - 1;
}

static uint64_t frames_number(struct writing *w, const struct path_piece *p)
{
	_cleanup_(str_release) struct str joined = STR_INIT;
	json_t *frames;
	uint32_t id;

	/* A name may contain any byte, so its length comes first. */
	for (size_t i = 0; i < p->frame_cnt; i++)
		str_addf(&joined, "%zu:%s", strlen(p->frames[i]), p->frames[i]);
	id = names_add(w->stacks, str_cstr(&joined));
	if (id < json_array_size(w->frame_list))
		return id;
	frames = json_array();
	for (size_t i = 0; i < p->frame_cnt; i++)
		json_add(frames, json_text(p->frames[i]));
	json_add(w->frame_list, frames);
	return id;
}

static int64_t length_ns(const struct path_piece *p)
{
	return p->end_ns - p->start_ns;
}

/* The caller frees it. */
static bool *longest_kept(const path_pieces *pieces, size_t most)
{
	_cleanup_(freep) double *lengths = xcalloc(pieces->cnt + 1, sizeof(*lengths));

	for (size_t i = 0; i < pieces->cnt; i++)
		lengths[i] = (double)length_ns(&pieces->items[i]);
	return keep_heaviest(lengths, pieces->cnt, most);
}

/* others: the number of pieces that this one replaces; 0: it is a real piece. */
static void add_piece(struct writing *w, json_t *list, const struct path_piece *p, int64_t ns, uint64_t others)
{
	json_add(list, json_u64(others ? 0 : thread_number(w, p->tid)));
	json_add(list, json_integer(ns));
	json_add(list, others ? json_string("") : json_string(trace_state_name(p->state)));
	json_add(list, json_integer(others ? 0 : p->depth));
	json_add(list, json_u64(others ? 0 : frames_number(w, p)));
	json_add(list, json_u64(others));
}

static json_t *pieces_json(struct writing *w, const path_pieces *pieces, size_t most)
{
	_cleanup_(freep) bool *keep = longest_kept(pieces, most);
	int64_t others_ns = 0;
	json_t *list = json_array();
	uint64_t others = 0;

	for (size_t i = 0; i <= pieces->cnt; i++) {
		const struct path_piece *p = i < pieces->cnt ? &pieces->items[i] : NULL;

		if (p && !keep[i]) {
			others++;
			others_ns += length_ns(p);
			continue;
		}
		if (others)
			add_piece(w, list, NULL, others_ns, others);
		others = 0;
		others_ns = 0;
		if (p)
			add_piece(w, list, p, length_ns(p), 0);
	}
	return list;
}

static json_t *path_json(struct writing *w, const struct paths *p, size_t i, size_t most)
{
	const struct explained *e = &p->list.items[i];
	json_t *o = json_object();
	char sid[32];

	snprintf(sid, sizeof(sid), "%" PRIu64, e->row->sid);
	json_set(o, "sid", json_string(sid));
	json_set(o, "rank", json_integer((json_int_t)e->rank));
	json_set(o, "latency_ns", json_integer(e->row->end_ns - e->row->start_ns));
	json_set(o, "typical", json_boolean(i >= p->slowest_cnt));
	json_set(o, "piece_cnt", json_integer((json_int_t)e->pieces.cnt));
	json_set(o, "pieces", pieces_json(w, &e->pieces, most));
	return o;
}

static json_t *paths_json(const struct paths *p, const struct page_input *in, size_t most)
{
	_cleanup_(map_freep) struct map *threads = map_new();
	_cleanup_(names_freep) struct names *stacks = names_new();
	struct writing w = { in->view.trace, threads, stacks, json_array(), json_array() };
	json_t *o = json_object(), *list = json_array();

	for (size_t i = 0; i < p->list.cnt; i++)
		json_add(list, path_json(&w, p, i, most));
	json_set(o, "threads", w.thread_list);
	json_set(o, "frames", w.frame_list);
	json_set(o, "paths", list);
	return json_packed_value(o);
}

static json_t *critical_path_data(const struct page_input *in, struct diag *reterr)
{
	_cleanup_(paths_release) struct paths p = { .arena = NULL };
	json_t *packed = NULL;

	(void)reterr;
	if (!in->view.trace || !in->view.findings->intervals.cnt)
		return NULL;
	explain_all(&p, in);
	for (size_t most = PIECES_MAX; p.list.cnt && most > 4; most /= 2) {
		json_decref(packed);
		packed = paths_json(&p, in, most);
		if (json_string_length(json_object_get(packed, "packed")) <= PACKED_MAX)
			break;
	}
	return packed;
}

const struct page_section section_critical_path = {
	.id = "critical-path", .title = "One interval", .data = critical_path_data
};
