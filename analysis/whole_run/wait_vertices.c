/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wait_vertices.c - the vertices of a wait-for graph: groups of threads, in order of their ids.
 *
 * Every actor that did something or was waited for is a vertex; one that only created a task is not.  A group's id is
 * its smallest TID, its name the common part of its threads' names: "worker-1" and "worker-2" are "worker-*".
 */
#include "analysis/whole_run/wait_passes.h"

#include <stdlib.h>
#include <string.h>
#include "base/banned.h"
#include "base/saturate.h"

const char *vertex_kind_name(enum vertex_kind kind)
{
	static const char *const names[VERTEX_KIND_CNT] = {
#define X(id, name) [VERTEX_##id] = name,
		VERTEX_KINDS(X)
#undef X
	};

	return names[kind];
}

struct place {				/* of a group */
	uint64_t id;
	uint32_t group;
};

static int by_id(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;

	return (a->id > b->id) - (a->id < b->id);
}

static int by_number(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return (a > b) - (a < b);
}

/* Sets vertex_of for the groups' first actors; returns how many groups there are. */
static size_t number_groups(const struct wait_world *w, const waits *list, uint32_t *vertex_of,
			    struct place **ret)
{
	size_t cnt = w->actors.cnt, place_cnt = 0;
	_cleanup_(freep) bool *needed = xcalloc(cnt + 1, sizeof(*needed));
	struct place *places = xcalloc(cnt + 1, sizeof(*places));

	for (size_t i = 0; i < list->cnt; i++)
		if (!list->items[i].idle)
			needed[list->items[i].waker] = true;
	for (uint32_t i = 0; i < cnt; i++) {
		const struct actor *a = &w->actors.items[i];

		vertex_of[i] = ACTOR_NONE;
		if (a->group == i && (a->present || needed[i])) {
			vertex_of[i] = (uint32_t)place_cnt;
			places[place_cnt++] = (struct place){ a->tid, i };
		} else if (a->group != i && a->tid < places[vertex_of[a->group]].id) {
			places[vertex_of[a->group]].id = a->tid;
		}
	}
	qsort(places, place_cnt, sizeof(*places), by_id);
	for (size_t i = 0; i < place_cnt; i++)
		vertex_of[places[i].group] = (uint32_t)i;
	*ret = places;
	return place_cnt;
}

static const char *common_name(struct arena *arena, const struct trace *t, const uint64_t *tids,
			       size_t cnt)
{
	const char *first = whole_run_thread_name(t, tids[0]);
	size_t len = first ? strlen(first) : 0;
	bool differ = false;

	for (size_t i = 1; i < cnt; i++) {
		const char *name = whole_run_thread_name(t, tids[i]);
		size_t same = 0;

		while (name && same < len && name[same] == first[same])
			same++;
		differ = differ || !name || same < len || name[same];
		len = same;
	}
	if (len == 0)
		return NULL;
	return differ ? arena_printf(arena, "%.*s*", (int)len, first) : first;
}

static void add_actor(struct wait_vertex *v, const struct actor *a)
{
	for (size_t i = 0; i < a->members.cnt; i++)
		VEC_ADD(&v->members, a->members.items[i]);
	v->running_ns = sum_saturated(v->running_ns, a->running_ns);
	v->runnable_ns = sum_saturated(v->runnable_ns, a->runnable_ns);
	v->waiting_ns = sum_saturated(v->waiting_ns, a->waiting_ns);
	v->foreground = v->foreground || a->foreground;
	v->alike++;
	v->kind = v->alike > 1 ? VERTEX_GROUP : a->kind;
}

static void finish_vertex(struct wait_graph *g, const struct trace *t, struct wait_vertex *v)
{
	uint64_t *members = v->members.items;
	size_t cnt = v->members.cnt;

	if (cnt == 0)
		return;
	qsort(members, cnt, sizeof(*members), by_number);
	v->members.items = ARENA_NEW(g->arena, uint64_t, cnt);
	memcpy(v->members.items, members, cnt * sizeof(*members));
	free(members);
	v->name = common_name(g->arena, t, v->members.items, cnt);
}

uint32_t *wait_vertices(const struct wait_world *w, const waits *list, struct wait_graph *g)
{
	uint32_t *vertex_of = xcalloc(w->actors.cnt + 1, sizeof(*vertex_of));
	_cleanup_(freep) struct place *places = NULL;
	size_t cnt = number_groups(w, list, vertex_of, &places);

	for (size_t i = 0; i < cnt; i++)
		VEC_EXTEND(&g->vertices)->id = places[i].id;
	for (uint32_t i = 0; i < w->actors.cnt; i++) {
		const struct actor *a = &w->actors.items[i];

		vertex_of[i] = vertex_of[a->group];
		if (vertex_of[i] != ACTOR_NONE)
			add_actor(&g->vertices.items[vertex_of[i]], a);
	}
	for (size_t i = 0; i < cnt; i++)
		finish_vertex(g, w->tl->trace, &g->vertices.items[i]);
	return vertex_of;
}
