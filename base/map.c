/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map.c - open addressing with linear probing, at most half full, never shrinking.
 *
 * Example with 8 places: keys whose hashes end in 5, 5, 6 stand in places 5, 6, 7.  A lookup
 * begins at its hash and goes on until the key or an empty place.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/banned.h"
#include "base/map.h"

#define FIRST_PLACES 16

struct place {
	uint64_t key, value;
	bool used;
};

struct map {
	struct place *places;
	size_t place_cnt, cnt;		/* place_cnt is a power of two */
};

uint64_t hash_bytes(uint64_t seed, const void *data, size_t len)
{
	uint64_t h = seed ^ 0xcbf29ce484222325ULL;

	for (const unsigned char *p = data, *end = p + len; p < end; p++)
		h = (h ^ *p) * 0x100000001b3ULL;
	return h;
}

uint64_t hash_str(uint64_t seed, const char *s)
{
	return hash_bytes(seed, s, strlen(s));
}

uint64_t hash_u64(uint64_t seed, uint64_t value)
{
	uint64_t h = (seed ^ value) * 0x9e3779b97f4a7c15ULL;

	return h ^ (h >> 32);
}

struct map *map_new(void)
{
	struct map *m = xcalloc(1, sizeof(*m));

	m->place_cnt = FIRST_PLACES;
	m->places = xcalloc(m->place_cnt, sizeof(*m->places));
	return m;
}

void map_free(struct map *m)
{
	if (!m)
		return;
	free(m->places);
	free(m);
}

size_t map_cnt(const struct map *m)
{
	return m->cnt;
}

static struct place *find_place(const struct map *m, uint64_t key)
{
	size_t i = hash_u64(0, key) & (m->place_cnt - 1);

	while (m->places[i].used && m->places[i].key != key)
		i = (i + 1) & (m->place_cnt - 1);
	return &m->places[i];
}

static void grow(struct map *m)
{
	struct map larger = {
		.places = xcalloc(m->place_cnt * 2, sizeof(*m->places)),
		.place_cnt = m->place_cnt * 2,
		.cnt = m->cnt,
	};

	for (size_t i = 0; i < m->place_cnt; i++)
		if (m->places[i].used)
			*find_place(&larger, m->places[i].key) = m->places[i];
	free(m->places);
	*m = larger;
}

bool map_get(const struct map *m, uint64_t key, uint64_t *ret_value)
{
	const struct place *p = find_place(m, key);

	if (!p->used)
		return false;
	*ret_value = p->value;
	return true;
}

uint64_t *map_slot(struct map *m, uint64_t key)
{
	struct place *p = find_place(m, key);

	if (!p->used) {
		if ((m->cnt + 1) * 2 > m->place_cnt) {
			grow(m);
			p = find_place(m, key);
		}
		*p = (struct place){ .key = key, .used = true };
		m->cnt++;
	}
	return &p->value;
}

void map_set(struct map *m, uint64_t key, uint64_t value)
{
	*map_slot(m, key) = value;
}

void map_each(const struct map *m, bool (*visit)(uint64_t key, uint64_t value, void *arg), void *arg)
{
	for (size_t i = 0; i < m->place_cnt; i++)
		if (m->places[i].used && !visit(m->places[i].key, m->places[i].value, arg))
			return;
}

/* Strings with equal hashes are chained: next[id] is the string added before it, or NAMES_NONE. */
struct names {
	struct map *newest;		/* hash -> id of the newest string with it */
	struct arena *texts;
	VEC(const char *) names;
	VEC(uint32_t) next;
};

struct names *names_new(void)
{
	struct names *n = xcalloc(1, sizeof(*n));

	n->newest = map_new();
	n->texts = arena_new();
	return n;
}

void names_free(struct names *n)
{
	if (!n)
		return;
	map_free(n->newest);
	arena_free(n->texts);
	VEC_RELEASE(&n->names);
	VEC_RELEASE(&n->next);
	free(n);
}

uint32_t names_find(const struct names *n, const char *s)
{
	uint64_t found;

	if (!map_get(n->newest, hash_str(0, s), &found))
		return NAMES_NONE;
	uint32_t id = (uint32_t)found;

	while (id != NAMES_NONE && strcmp(n->names.items[id], s) != 0)
		id = n->next.items[id];
	return id;
}

uint32_t names_add(struct names *n, const char *s)
{
	uint32_t id = names_find(n, s);

	if (id != NAMES_NONE)
		return id;

	uint64_t hash = hash_str(0, s), older;

	id = (uint32_t)n->names.cnt;
	VEC_ADD(&n->next, map_get(n->newest, hash, &older) ? (uint32_t)older : NAMES_NONE);
	VEC_ADD(&n->names, arena_strdup(n->texts, s));
	map_set(n->newest, hash, id);
	return id;
}

const char *names_get(const struct names *n, uint32_t id)
{
	return n->names.items[id];
}

size_t names_cnt(const struct names *n)
{
	return n->names.cnt;
}
