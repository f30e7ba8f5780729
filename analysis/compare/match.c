/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * match.c - matches functions by the rules of enum match.
 *
 * A function is identified by its name and file, on any line.  It may match in another file if no other function of its name is
 * unmatched there.  If both versions were built in directories of their own, paths are compared below these directories:
 * /ci/base/src/log.c matches /ci/head/src/log.c.  A rename is a guess from the calls in the trees, so it is made only if there is
 * exactly one candidate.
 */
#include "analysis/compare/match.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/banned.h"
#include "base/map.h"

#define NONE UINT32_MAX

typedef VEC(uint32_t) ids;

struct side_function {
	const char *name, *file;
	uint32_t line;
	ids callers, callees;		/* on its side; each once, sorted; a caller NONE is the interval itself */
	double own_ns;			/* mean of its own running time over all runs */
	uint32_t other;			/* its match on the other side, or NONE */
	enum match match;
};

struct version {
	struct map *by_key;
	VEC(struct side_function) functions;
	size_t run_cnt;
};

struct matching {
	struct version of[SIDE_CNT];
	/* Source directory of each side, if they were built in two places: "/ci/base/", "/ci/head/". */
	const char *root[SIDE_CNT];
	size_t root_len[SIDE_CNT];	/* 0, 0: built in one place */
	VEC(struct matched) all;
	uint32_t *id[SIDE_CNT];		/* per function of the side */
};

/* ---- the functions of a side ---- */

static uint64_t key_of(const char *name, const char *file)
{
	return hash_str(hash_str(0, name), file ? file : "");
}

static uint32_t add_function(struct version *v, const char *name, const char *file, uint32_t line)
{
	uint64_t *slot = map_slot(v->by_key, key_of(name, file));

	if (!*slot) {
		struct side_function *x = VEC_EXTEND(&v->functions);

		*x = (struct side_function){ .name = name, .file = file, .line = line, .other = NONE };
		*slot = v->functions.cnt;
	}
	return (uint32_t)*slot - 1;
}

static void add_id(ids *list, uint32_t id)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (list->items[i] == id)
			return;
	VEC_ADD(list, id);
}

static void add_nodes(struct version *v, const struct findings *f)
{
	_cleanup_(freep) uint32_t *inside = xcalloc(f->nodes.cnt + 1, sizeof(*inside));	/* the innermost function at a node */

	for (size_t i = 0; i < f->nodes.cnt; i++) {
		const struct node *n = &f->nodes.items[i];
		uint32_t caller = n->parent == NODE_NONE ? NONE : inside[n->parent];

		inside[i] = caller;
		if (n->kind != NODE_FUNCTION || !n->function)
			continue;
		inside[i] = add_function(v, n->function, n->file, n->line);
		if (caller == inside[i])
			continue;
		add_id(&v->functions.items[inside[i]].callers, caller);
		if (caller != NONE)
			add_id(&v->functions.items[caller].callees, inside[i]);
	}
}

static void add_parts(struct version *v, const struct findings *f)
{
	for (size_t i = 0; i < f->parts.cnt; i++) {
		const struct part *p = &f->parts.items[i];
		uint32_t id;

		if (!p->function)
			continue;
		id = add_function(v, p->function, p->file, 0);
		if (!p->is_wait)
			v->functions.items[id].own_ns += p->mean_ns / (double)v->run_cnt;
	}
}

static void version_read(struct version *v, const struct compared_side *side)
{
	v->by_key = map_new();
	v->run_cnt = side->cnt;
	for (size_t r = 0; r < side->cnt; r++) {
		add_nodes(v, side->runs[r].findings);
		add_parts(v, side->runs[r].findings);
	}
}

/* ---- by name ---- */

static void pair(struct matching *m, uint32_t b, uint32_t h, enum match match)
{
	m->of[SIDE_BASE].functions.items[b].other = h;
	m->of[SIDE_HEAD].functions.items[h].other = b;
	m->of[SIDE_BASE].functions.items[b].match = m->of[SIDE_HEAD].functions.items[h].match = match;
}

static void match_same(struct matching *m)
{
	struct version *base = &m->of[SIDE_BASE], *head = &m->of[SIDE_HEAD];
	uint64_t found;

	for (uint32_t h = 0; h < head->functions.cnt; h++) {
		const struct side_function *x = &head->functions.items[h];

		if (map_get(base->by_key, key_of(x->name, x->file), &found) && found)
			pair(m, (uint32_t)found - 1, h, MATCH_SAME);
	}
}

/* Per name, among the unmatched functions of a side: the function + 1, or MANY. */
#define MANY UINT64_MAX
static struct map *left_by_name(const struct version *v)
{
	struct map *left = map_new();

	for (uint32_t i = 0; i < v->functions.cnt; i++) {
		const struct side_function *x = &v->functions.items[i];
		uint64_t *slot;

		if (x->other != NONE)
			continue;
		slot = map_slot(left, hash_str(0, x->name));
		*slot = *slot ? MANY : i + 1;
	}
	return left;
}

static void match_moved(struct matching *m)
{
	_cleanup_(map_freep) struct map *base = left_by_name(&m->of[SIDE_BASE]);
	_cleanup_(map_freep) struct map *head = left_by_name(&m->of[SIDE_HEAD]);
	struct version *v = &m->of[SIDE_HEAD];
	uint64_t b, h;

	for (uint32_t i = 0; i < v->functions.cnt; i++) {
		uint64_t name = hash_str(0, v->functions.items[i].name);

		if (v->functions.items[i].other == NONE && map_get(base, name, &b) && b && b != MANY &&
		    map_get(head, name, &h) && h == i + 1)
			pair(m, (uint32_t)b - 1, i, MATCH_MOVED);
	}
}

/* ---- sources in two places ---- */

/* Removes the longest common end of whole path components.  Returns false if not even the last component is common. */
static bool split_roots(const char *a, const char *b, size_t *ret_a, size_t *ret_b)
{
	size_t i = strlen(a), k = strlen(b);
	bool found = false;

	*ret_a = *ret_b = 0;
	while (i && k && a[i - 1] == b[k - 1]) {
		i--;
		k--;
		if ((i == 0 || a[i - 1] == '/') && (k == 0 || b[k - 1] == '/')) {
			*ret_a = i;
			*ret_b = k;
			found = true;
		}
	}
	return found;
}

static bool has_root(const struct matching *m, const char *base, const char *head, size_t *ret_b, size_t *ret_h)
{
	return base && head && split_roots(base, head, ret_b, ret_h) && *ret_b == m->root_len[SIDE_BASE] &&
	       *ret_h == m->root_len[SIDE_HEAD] && !strncmp(base, m->root[SIDE_BASE], *ret_b) &&
	       !strncmp(head, m->root[SIDE_HEAD], *ret_h);
}

static bool same_path(const struct matching *m, const char *base, const char *head)
{
	size_t b, h;

	return base && head && (strcmp(base, head) == 0 || ((m->root_len[0] || m->root_len[1]) && has_root(m, base, head, &b, &h)));
}

/* The number of functions that moved from one root to the other. */
static size_t count_with_roots(const struct matching *m, size_t *ret_moved)
{
	const struct version *head = &m->of[SIDE_HEAD], *base = &m->of[SIDE_BASE];
	size_t cnt = 0, b, h;

	*ret_moved = 0;
	for (size_t i = 0; i < head->functions.cnt; i++) {
		const struct side_function *x = &head->functions.items[i];

		if (x->other == NONE || x->match != MATCH_MOVED)
			continue;
		++*ret_moved;
		cnt += has_root(m, base->functions.items[x->other].file, x->file, &b, &h);
	}
	return cnt;
}

/* Takes the roots that most moved functions have; none if they moved between many places. */
static void find_roots(struct matching *m)
{
	enum { TRIED = 16 };
	const struct version *head = &m->of[SIDE_HEAD], *base = &m->of[SIDE_BASE];
	size_t tried = 0, moved;

	for (size_t i = 0; i < head->functions.cnt && tried < TRIED; i++) {
		const struct side_function *x = &head->functions.items[i];

		if (x->other == NONE || x->match != MATCH_MOVED || !x->file || !base->functions.items[x->other].file)
			continue;
		m->root[SIDE_BASE] = base->functions.items[x->other].file;
		m->root[SIDE_HEAD] = x->file;
		if (!split_roots(m->root[SIDE_BASE], x->file, &m->root_len[SIDE_BASE], &m->root_len[SIDE_HEAD]))
			continue;
		if (2 * count_with_roots(m, &moved) > moved && moved > 1)
			return;
		tried++;
	}
	m->root_len[SIDE_BASE] = m->root_len[SIDE_HEAD] = 0;
}

/* Matches again, now relative to the roots: functions that only seemed to move, and those with several of the same name. */
static void match_below_roots(struct matching *m)
{
	struct version *head = &m->of[SIDE_HEAD], *base = &m->of[SIDE_BASE];

	if (!m->root_len[SIDE_BASE] && !m->root_len[SIDE_HEAD])
		return;
	for (uint32_t h = 0; h < head->functions.cnt; h++) {
		const struct side_function *x = &head->functions.items[h];

		if (x->other != NONE && x->match == MATCH_MOVED && same_path(m, base->functions.items[x->other].file, x->file))
			pair(m, x->other, h, MATCH_SAME);
		for (uint32_t b = 0; x->other == NONE && b < base->functions.cnt; b++)
			if (base->functions.items[b].other == NONE && strcmp(base->functions.items[b].name, x->name) == 0 &&
			    same_path(m, base->functions.items[b].file, x->file))
				pair(m, b, h, MATCH_SAME);
	}
}

/* ---- by the calls ---- */

static bool has(const ids *list, uint32_t id)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (list->items[i] == id)
			return true;
	return false;
}

/* Whether both have the same neighbours; unmatched neighbours are compared by number only. */
static bool same_neighbours(const struct matching *m, const ids *base, const ids *head)
{
	const struct version *v = &m->of[SIDE_BASE];
	size_t left = 0, left_head = 0;

	if (base->cnt != head->cnt)
		return false;
	for (size_t i = 0; i < base->cnt; i++) {
		uint32_t id = base->items[i], other = id == NONE ? NONE : v->functions.items[id].other;

		if (id != NONE && other == NONE)
			left++;
		else if (!has(head, other))
			return false;
	}
	for (size_t i = 0; i < head->cnt; i++)
		left_head += head->items[i] != NONE && m->of[SIDE_HEAD].functions.items[head->items[i]].other == NONE;
	return left == left_head;
}

static bool is_rename(const struct matching *m, uint32_t b, uint32_t h)
{
	const struct side_function *x = &m->of[SIDE_BASE].functions.items[b], *y = &m->of[SIDE_HEAD].functions.items[h];

	return x->other == NONE && y->other == NONE && x->callers.cnt && same_path(m, x->file, y->file) &&
	       same_neighbours(m, &x->callers, &y->callers) && same_neighbours(m, &x->callees, &y->callees);
}

/* The only function of the other side that it could be, or NONE. */
static uint32_t only_rename(const struct matching *m, enum side side, uint32_t id)
{
	const struct version *others = &m->of[!side];
	uint32_t found = NONE;

	for (uint32_t i = 0; i < others->functions.cnt; i++) {
		if (others->functions.items[i].other != NONE ||
		    !(side == SIDE_BASE ? is_rename(m, id, i) : is_rename(m, i, id)))
			continue;
		if (found != NONE)
			return NONE;
		found = i;
	}
	return found;
}

/* Repeats until there is no new match, because the callers of a renamed function may have been renamed, too. */
static void match_renamed(struct matching *m)
{
	enum { LEFT_MAX = 1000 };	/* above this the versions have too little in common to guess */
	struct version *v = &m->of[SIDE_BASE];
	size_t left = 0;
	bool again = true;

	for (uint32_t b = 0; b < v->functions.cnt; b++)
		left += v->functions.items[b].other == NONE;
	while (again && left <= LEFT_MAX) {
		again = false;
		for (uint32_t b = 0; b < v->functions.cnt; b++) {
			uint32_t h = v->functions.items[b].other == NONE ? only_rename(m, SIDE_BASE, b) : NONE;

			if (h == NONE || only_rename(m, SIDE_HEAD, h) != b)
				continue;
			pair(m, b, h, MATCH_RENAMED);
			again = true;
		}
	}
}

/* The function of the head that the new function was split off from, or NULL. */
static const struct side_function *split_off(const struct matching *m, const struct side_function *x)
{
	const struct version *head = &m->of[SIDE_HEAD], *base = &m->of[SIDE_BASE];
	const struct side_function *caller;

	if (x->callers.cnt != 1 || x->callers.items[0] == NONE)
		return NULL;
	caller = &head->functions.items[x->callers.items[0]];
	if (caller->other == NONE || !x->file || !caller->file || strcmp(x->file, caller->file) != 0 ||
	     base->functions.items[caller->other].own_ns <= caller->own_ns)
		return NULL;
	return caller;
}

/* ---- all of them ---- */

static void add_head(struct matching *m, const struct side_function *x)
{
	struct matched *to = VEC_EXTEND(&m->all);
	const struct side_function *from = x->other == NONE ? split_off(m, x) :
					   &m->of[SIDE_BASE].functions.items[x->other];

	*to = (struct matched){ .name = x->name, .file = x->file, .line = x->line };
	to->match = x->other != NONE ? x->match : from ? MATCH_SPLIT : MATCH_NEW;
	if (to->match == MATCH_SAME || !from)
		return;
	to->was = from->name;
	to->was_file = from->file;
}

static void number_all(struct matching *m)
{
	struct version *base = &m->of[SIDE_BASE], *head = &m->of[SIDE_HEAD];

	for (unsigned s = 0; s < SIDE_CNT; s++)
		m->id[s] = xcalloc(m->of[s].functions.cnt + 1, sizeof(*m->id[s]));
	for (uint32_t h = 0; h < head->functions.cnt; h++) {
		m->id[SIDE_HEAD][h] = (uint32_t)m->all.cnt;
		add_head(m, &head->functions.items[h]);
	}
	for (uint32_t b = 0; b < base->functions.cnt; b++) {
		const struct side_function *x = &base->functions.items[b];

		m->id[SIDE_BASE][b] = x->other != NONE ? m->id[SIDE_HEAD][x->other] : (uint32_t)m->all.cnt;
		if (x->other == NONE)
			VEC_ADD(&m->all, (struct matched){ .name = x->name, .file = x->file, .line = x->line,
							   .match = MATCH_GONE });
	}
}

struct matching *matching_of(const struct compared_side *base, const struct compared_side *head)
{
	struct matching *m = xcalloc(1, sizeof(*m));

	version_read(&m->of[SIDE_BASE], base);
	version_read(&m->of[SIDE_HEAD], head);
	match_same(m);
	match_moved(m);
	find_roots(m);
	match_below_roots(m);
	match_renamed(m);
	number_all(m);
	return m;
}

void matching_free(struct matching *m)
{
	if (!m)
		return;
	for (unsigned s = 0; s < SIDE_CNT; s++) {
		struct version *v = &m->of[s];

		for (size_t i = 0; i < v->functions.cnt; i++) {
			VEC_RELEASE(&v->functions.items[i].callers);
			VEC_RELEASE(&v->functions.items[i].callees);
		}
		VEC_RELEASE(&v->functions);
		map_free(v->by_key);
		free(m->id[s]);
	}
	VEC_RELEASE(&m->all);
	free(m);
}

const struct matched *matching_get(const struct matching *m, size_t id)
{
	return &m->all.items[id];
}

size_t matching_id(const struct matching *m, enum side side, const char *name, const char *file)
{
	uint64_t found = 0;

	map_get(m->of[side].by_key, key_of(name, file), &found);
	return m->id[side][found - 1];
}
