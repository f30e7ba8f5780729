/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map.h - hash maps: 64-bit key -> 64-bit value, and string -> dense number.
 *
 * Open addressing; iteration order is unspecified, so nothing that is printed may
 * depend on it.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/cleanup.h"

struct map;

struct map *map_new(void);
void map_free(struct map *m);			/* NULL is fine */
DEFINE_CLEANUP(struct map *, map_free);

size_t map_cnt(const struct map *m);
bool map_get(const struct map *m, uint64_t key, uint64_t *ret_value);
void map_set(struct map *m, uint64_t key, uint64_t value);

/* Where the value of key is kept (created as 0); valid until the next map_slot/map_set. */
uint64_t *map_slot(struct map *m, uint64_t key);

/* Calls visit for each entry until it returns false. */
void map_each(const struct map *m, bool (*visit)(uint64_t key, uint64_t value, void *arg), void *arg);

/* Strings numbered 0, 1, 2, ... in the order they were first added. */
struct names;

struct names *names_new(void);
void names_free(struct names *n);
DEFINE_CLEANUP(struct names *, names_free);

#define NAMES_NONE UINT32_MAX
uint32_t names_add(struct names *n, const char *s);
uint32_t names_find(const struct names *n, const char *s);	/* NAMES_NONE if absent */
const char *names_get(const struct names *n, uint32_t id);	/* lives as long as n */
size_t names_cnt(const struct names *n);

/* 64-bit FNV-1a; seed 0 for a plain hash, or an earlier hash to go on with. */
uint64_t hash_bytes(uint64_t seed, const void *data, size_t len);
uint64_t hash_str(uint64_t seed, const char *s);
uint64_t hash_u64(uint64_t seed, uint64_t value);

#endif
