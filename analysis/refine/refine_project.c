/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refine_project.c - lookups of both policies: the function of a name, its callees, and those that are not recorded.
 *
 * A function that cannot take a probe is replaced by its callees: if f calls an inlined g and g calls h, h is among
 * f's children, since its time would show there.
 */
#include "analysis/refine/refine_state.h"

#include <stdlib.h>
#include <string.h>
#include "base/banned.h"

#define OF_ACCOUNT 0.5 /* fraction of the threshold: less is no reason for another run */

/* ---- names to functions ---- */

static uint64_t place_hash(const char *name, uint32_t line)
{
	return hash_u64(hash_str(0, name), line);
}

/* The findings' paths may be shortened: "src/log.c" is "/home/u/server/src/log.c". */
static bool same_file(const char *whole, const char *end)
{
	size_t whole_len = whole ? strlen(whole) : 0, end_len = end ? strlen(end) : 0;

	return end_len <= whole_len && strcmp(whole + whole_len - end_len, end ? end : "") == 0 &&
	       (end_len == 0 || end_len == whole_len || end[0] == '/' ||
		whole[whole_len - end_len - 1] == '/');
}

uint32_t refine_find(const struct refine_state *s, const char *name, const char *file,
		     uint32_t line)
{
	uint64_t at;

	if (!name || !map_get(s->by_place, place_hash(name, line), &at))
		return FUNCTION_NONE;
	for (; at; at = s->same_place[at - 1]) {
		const struct refine_function *f = &s->p->functions[at - 1];

		if (f->line == line && strcmp(f->name, name) == 0 &&
		    (!file || same_file(f->file ? f->file : "", file)))
			return (uint32_t)at - 1;
	}
	return FUNCTION_NONE;
}

/* ---- the call graph ---- */

static void group_calls(struct refine_state *s)
{
	size_t function_cnt = s->p->function_cnt;
	uint32_t *next = xcalloc(function_cnt + 1, sizeof(*next));

	free(s->first);
	s->first = xcalloc(function_cnt + 1, sizeof(*s->first));
	s->callees = xrealloc(s->callees, s->edges.cnt + 1, sizeof(*s->callees));
	s->weights = xrealloc(s->weights, s->edges.cnt + 1, sizeof(*s->weights));
	s->vias = xrealloc(s->vias, s->edges.cnt + 1, sizeof(*s->vias));
	for (size_t i = 0; i < s->edges.cnt; i++)
		s->first[s->edges.items[i].caller + 1]++;
	for (size_t i = 0; i < function_cnt; i++)
		s->first[i + 1] += s->first[i];
	memcpy(next, s->first, function_cnt * sizeof(*next));
	for (size_t i = 0; i < s->edges.cnt; i++) {
		uint32_t at = next[s->edges.items[i].caller]++;

		s->callees[at] = s->edges.items[i].callee;
		s->weights[at] = s->edges.items[i].weight;
		s->vias[at] = s->edges.items[i].via;
	}
	free(next);
}

/* Adds calls that the run showed and the call graph lacks. */
void refine_learn_calls(struct refine_state *s, const struct findings *f)
{
	size_t known = s->edges.cnt;

	for (size_t i = 0; i < f->observed.cnt; i++) {
		uint64_t caller, callee;

		if (map_get(s->by_key, f->observed.items[i].caller, &caller) &&
		    map_get(s->by_key, f->observed.items[i].callee, &callee))
			VEC_ADD(&s->edges, (struct refine_call){ (uint32_t)caller - 1,
								 (uint32_t)callee - 1, 1, 0 });
	}
	if (s->edges.cnt > known)
		group_calls(s);
}

void refine_index(struct refine_state *s, const struct refine_project *p)
{
	size_t cnt = p->function_cnt + 1;

	s->p = p;
	s->by_key = map_new();
	s->by_place = map_new();
	s->same_place = xcalloc(cnt, sizeof(*s->same_place));
	s->visited = xcalloc(cnt, sizeof(*s->visited));
	for (uint32_t i = 0; i < p->function_cnt; i++) {
		const struct refine_function *f = &p->functions[i];
		uint64_t *slot = map_slot(s->by_place, place_hash(f->name, f->line));

		if (f->key)
			map_set(s->by_key, f->key, i + 1);
		s->same_place[i] = (uint32_t)*slot;
		*slot = i + 1;
	}
	for (size_t i = 0; i < p->call_cnt; i++)
		VEC_ADD(&s->edges, p->calls[i]);
	group_calls(s);
}

bool refine_is_call(const struct refine_state *s, uint32_t edge)
{
	uint32_t via = s->vias[edge];

	return !via || (s->calls[via - 1] < 0 ? !s->p->functions[via - 1].uncalled : s->calls[via - 1] > 0);
}

/* It is a call, and if a function hands over to the callee, that one is known to be a callee. */
static bool leads_on(const struct refine_state *s, uint32_t edge)
{
	uint32_t via = s->vias[edge];

	return refine_is_call(s, edge) && (!via || s->calls[via - 1] > 0 || s->visited[via - 1] == s->visit);
}

/* One search of refine_children(). */
struct children {
	struct refine_state *s;
	uint32_t of;
	indexes *ret;
	const struct refine_function *unprobed;	/* the first that cannot take a probe */
	indexes through;			/* functions whose callees count as of's */
	bool waits;				/* an edge may lead on later */
	bool grows;
};

static void add_children(struct children *c, uint32_t caller)
{
	struct refine_state *s = c->s;

	for (uint32_t i = s->first[caller]; i < s->first[caller + 1]; i++) {
		uint32_t callee = s->callees[i];
		const struct refine_function *function = &s->p->functions[callee];

		if (callee == c->of || s->visited[callee] == s->visit || function->left_out)
			continue;
		if (!leads_on(s, i)) {
			c->waits |= refine_is_call(s, i);
			continue;
		}
		c->grows = true;
		s->visited[callee] = s->visit;
		if (!function->skipped && (!function->looked_through || function->root || function->always)) {
			VEC_ADD(c->ret, callee);
			continue;
		}
		if (function->skipped && !c->unprobed)
			c->unprobed = function;
		VEC_ADD(&c->through, callee);
	}
}

void refine_children(struct refine_state *s, uint32_t f, indexes *ret,
		     const struct refine_function **ret_unprobed)
{
	struct children c = { .s = s, .of = f, .ret = ret };

	ret->cnt = 0;
	s->visit++;
	VEC_ADD(&c.through, f);
	do {
		c.waits = c.grows = false;
		for (size_t i = 0; i < c.through.cnt; i++)
			add_children(&c, c.through.items[i]);
	} while (c.waits && c.grows);
	VEC_RELEASE(&c.through);
	if (ret_unprobed)
		*ret_unprobed = c.unprobed;
}

bool refine_settled(const struct refinement *r, uint32_t f)
{
	const struct refine_state *s = r->state;

	return s->calls[f] == 0 ||
	       (s->most[f] >= 0 && s->most[f] < OF_ACCOUNT * r->options.threshold);
}

bool refine_hidden(const struct refinement *r, uint32_t child, bool outside)
{
	if (outside)
		return r->levels[child] != REFINE_ALWAYS;
	return r->levels[child] < REFINE_IN_INTERVALS && !refine_settled(r, child);
}

bool refine_has_hidden(const struct refinement *r, uint32_t f, bool outside)
{
	indexes children = { NULL, 0, 0 };
	bool hidden = false;

	if (r->answers[f] == REFINE_NO)
		return false;
	refine_children(r->state, f, &children, NULL);
	for (size_t i = 0; i < children.cnt && !hidden; i++)
		hidden = refine_hidden(r, children.items[i], outside);
	VEC_RELEASE(&children);
	return hidden;
}

double refine_upper(const struct refine_state *s, uint32_t f, bool outside)
{
	return outside ? s->blamed[f] + s->blamed_doubt[f] : s->own[f] + s->own_doubt[f];
}

bool refine_in_scope(const struct refinement *r, uint32_t f, bool outside)
{
	return refine_upper(r->state, f, outside) > r->options.threshold &&
	       refine_has_hidden(r, f, outside);
}

/* A function blamed for a queue wait works for other intervals, so its callees are recorded inside intervals. */
bool refine_is_queue(const struct node *wait)
{
	return wait->kind == NODE_WAIT && wait->wait == STATE_QUEUE;
}
