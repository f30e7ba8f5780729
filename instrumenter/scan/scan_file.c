/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_file.c - the scan record of a unit as a file: its head (scan_head.h), and JSON, packed.
 *
 *	{"object": "/src/a.o", "source": "/src/a.c", ...,
 *	 "own": {"file": "/src/a.c", "functions": [...], "calls": [...]},
 *	 "order": [1, 2, 0, 1, 1, 1],		two functions of the first part, one of the unit's own, one more of the part
 *	 "bodies": [120, 40, 300, -200],	where each begins in the text, from the one before
 *	 "probed": [2, 1], ...}			the third has a probe, and no other
 *
 * The functions of other files are in parts (scan_part.h), which the head names.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/banned.h"
#include "base/file.h"
#include "base/map.h"
#include "base/pack.h"
#include "base/str.h"
#include "instrumenter/scan/scan_part.h"

#define NAME_LIMIT 200			/* of a file name, below the 255 of every file system */

struct unit *unit_new(void)
{
	struct unit *u = xcalloc(1, sizeof(*u));

	u->arena = arena_new();
	u->object = u->source = u->directory = "";
	u->known.pragmas = u->known.wrappers = u->known.redirected = "";
	u->argv = ARENA_NEW(u->arena, const char *, 1);
	u->environment = ARENA_NEW(u->arena, const char *, 1);
	return u;
}

void unit_free(struct unit *u)
{
	if (!u)
		return;
	VEC_RELEASE(&u->functions);
	VEC_RELEASE(&u->calls);
	VEC_RELEASE(&u->address_taken);
	VEC_RELEASE(&u->places);
	VEC_RELEASE(&u->known.inputs);
	VEC_RELEASE(&u->known.tails);
	for (size_t i = 0; i < u->parts.cnt; i++)
		scan_part_drop(u->parts.items[i]);
	VEC_RELEASE(&u->parts);
	VEC_RELEASE(&u->part_names);
	arena_free(u->arena);
	free(u);
}

char *unit_path(const char *build_dir, const char *object, const char *suffix)
{
	_cleanup_(str_release) struct str name = STR_INIT;
	size_t len = strlen(object), skip = len > NAME_LIMIT ? len - NAME_LIMIT : 0;

	if (skip)
		str_addf(&name, "%016llx", (unsigned long long)hash_str(0, object));
	for (const char *p = object + skip; *p; p++)
		str_addc(&name, *p == '/' ? '%' : *p);
	str_add(&name, suffix);
	return path_join(build_dir, str_cstr(&name));
}

/* --- writing ------------------------------------------------------------------ */

/* The functions of a unit grouped by their files; the first group is that of its source. */
struct grouping {
	const struct unit *unit;
	VEC(struct scan_group) groups;
	uint32_t *group_of, *within;	/* per function */
	scan_part_names parts;		/* where the other groups are */
};

static uint32_t group_of_file(struct grouping *g, struct map *numbers, const char *file)
{
	uint64_t *number = map_slot(numbers, hash_str(0, file));

	if (!*number) {
		VEC_EXTEND(&g->groups)->file = file;
		*number = g->groups.cnt;
	}
	return (uint32_t)*number - 1;
}

static void group_by_file(const struct unit *u, struct grouping *ret)
{
	_cleanup_(map_freep) struct map *numbers = map_new();

	ret->unit = u;
	ret->group_of = xcalloc(u->functions.cnt + 1, sizeof(uint32_t));
	ret->within = xcalloc(u->functions.cnt + 1, sizeof(uint32_t));
	group_of_file(ret, numbers, u->source);
	for (uint32_t i = 0; i < u->functions.cnt; i++) {
		uint32_t n = group_of_file(ret, numbers, u->functions.items[i].file);
		struct scan_group *group = &ret->groups.items[n];

		ret->group_of[i] = n;
		ret->within[i] = (uint32_t)group->functions.cnt;
		VEC_ADD(&group->functions, i);
	}
	for (uint32_t i = 0; i < u->calls.cnt; i++)
		VEC_ADD(&ret->groups.items[ret->group_of[u->calls.items[i].caller]].calls, i);
}

static void grouping_release(struct grouping *g)
{
	for (size_t i = 0; i < g->groups.cnt; i++) {
		VEC_RELEASE(&g->groups.items[i].functions);
		VEC_RELEASE(&g->groups.items[i].calls);
	}
	VEC_RELEASE(&g->groups);
	VEC_RELEASE(&g->parts);
	free(g->group_of);
	free(g->within);
}

static int write_parts(struct grouping *g, const char *build_dir)
{
	int r = 0;

	for (size_t i = 1; r == 0 && i < g->groups.cnt; i++) {
		json_t *group = group_value(g->unit, &g->groups.items[i], g->within);
		struct scan_part_name name = { 0, g->groups.items[i].file };

		r = part_write(build_dir, group, &name.hash);
		json_decref(group);
		VEC_ADD(&g->parts, name);
	}
	return r;
}

/* As runs: a value, and how often it repeats. */
static json_t *order_value(const struct grouping *g)
{
	size_t cnt = g->unit->functions.cnt;
	json_t *list = json_array();

	for (size_t i = 0, next; i < cnt; i = next) {
		for (next = i + 1; next < cnt && g->group_of[next] == g->group_of[i]; next++)
			;
		json_array_append_new(list, json_integer(g->group_of[i]));
		json_array_append_new(list, json_integer((json_int_t)(next - i)));
	}
	return list;
}

static json_t *bodies_value(const struct unit *u)
{
	json_t *list = json_array();
	size_t before = 0;

	for (size_t i = 0; i < u->functions.cnt; i++) {
		size_t body = u->functions.items[i].body;

		json_array_append_new(list, json_integer((json_int_t)body - (json_int_t)before));
		before = body;
	}
	return list;
}

/* As runs: the first one, and how many. */
static json_t *probed_value(const struct unit *u)
{
	size_t cnt = u->functions.cnt;
	json_t *list = json_array();

	for (size_t i = 0, next; i < cnt; i = next) {
		for (next = i + 1; next < cnt && u->functions.items[next].probed == u->functions.items[i].probed; next++)
			;
		if (!u->functions.items[i].probed)
			continue;
		json_array_append_new(list, json_integer((json_int_t)i));
		json_array_append_new(list, json_integer((json_int_t)(next - i)));
	}
	return list;
}

/* Each function once: an address may be taken many times. */
static json_t *taken_value(const struct unit *u)
{
	_cleanup_(names_freep) struct names *seen = names_new();
	json_t *list = json_array();

	for (size_t i = 0; i < u->address_taken.cnt; i++)
		names_add(seen, u->address_taken.items[i]);
	for (uint32_t i = 0; i < names_cnt(seen); i++)
		json_array_append_new(list, text_value(names_get(seen, i)));
	return list;
}

static json_t *place_value(const struct scan_place *p)
{
	json_t *o = json_object();

	put_text(o, "interval", p->interval);
	put_text(o, "role", p->role);
	put_text(o, "location", p->location);
	put_text(o, "problem", p->problem);
	return o;
}

/* Four numbers each: function, distance from the start of the one before (in the text), bytes, scalar. */
static json_t *tails_value(const struct scan_known *k)
{
	json_t *list = json_array();
	size_t before = 0;

	for (size_t i = 0; i < k->tails.cnt; i++) {
		const struct scan_tail *t = &k->tails.items[i];

		json_array_append_new(list, json_integer(t->function));
		json_array_append_new(list, json_integer((json_int_t)t->start - (json_int_t)before));
		json_array_append_new(list, json_integer((json_int_t)(t->end - t->start)));
		json_array_append_new(list, json_integer(t->is_scalar));
		before = t->start;
	}
	return list;
}

/* Omitted if a byte of it would be lost: then the unit is compiled again. */
static json_t *known_value(const struct scan_known *k)
{
	json_t *pragmas = json_string(k->pragmas), *wrappers = json_string(k->wrappers);
	json_t *o = json_object();

	put_hex(o, "text", pragmas && wrappers ? k->text : 0);
	put_hex(o, "settings", k->settings);
	json_object_set_new(o, "has_events", json_boolean(k->has_events));
	json_object_set_new(o, "tails", tails_value(k));
	json_object_set_new(o, "pragmas", pragmas ? pragmas : json_string(""));
	json_object_set_new(o, "wrappers", wrappers ? wrappers : json_string(""));
	return o;
}

static json_t *unit_value(const struct grouping *g)
{
	const struct unit *u = g->unit;
	json_t *o = json_object(), *places = json_array();

	put_text(o, "object", u->object);
	put_text(o, "source", u->source);
	put_text(o, "directory", u->directory);
	json_object_set_new(o, "argv", list_value(u->argv));
	json_object_set_new(o, "environment", list_value(u->environment));
	put_hex(o, "probe_set", u->probe_set);
	put_text(o, "product", u->product);
	put_text(o, "untouched", u->untouched);
	put_text(o, "misread", u->misread);
	for (size_t i = 0; i < u->places.cnt; i++)
		json_array_append_new(places, place_value(&u->places.items[i]));
	json_object_set_new(o, "known", known_value(&u->known));
	json_object_set_new(o, "own", group_value(u, &g->groups.items[0], g->within));
	json_object_set_new(o, "order", order_value(g));
	json_object_set_new(o, "bodies", bodies_value(u));
	json_object_set_new(o, "probed", probed_value(u));
	json_object_set_new(o, "address_taken", taken_value(u));
	json_object_set_new(o, "places", places);
	return o;
}

static int add_packed(const struct grouping *g, struct str *s)
{
	json_t *o = unit_value(g);
	_cleanup_(freep) char *json = json_dumps(o, JSON_COMPACT);

	json_decref(o);
	return json ? pack(json, strlen(json), s) : -ENOMEM;
}

static int write_record(struct grouping *g, const char *build_dir, const char *path)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	int r = write_parts(g, build_dir);

	if (r == 0)
		r = scan_head_add(g->unit, &g->parts, &text);
	if (r == 0)
		r = add_packed(g, &text);
	return r < 0 ? r : file_write(path, text.data, text.len, 0600);
}

int unit_write(const char *build_dir, const struct unit *u, struct diag *reterr)
{
	_cleanup_(freep) char *path = unit_path(build_dir, u->object, ".scan");
	_cleanup_(grouping_release) struct grouping g = { .unit = u };
	int lock = parts_lock(build_dir, true), err;

	group_by_file(u, &g);
	err = write_record(&g, build_dir, path);
	parts_unlock(lock);
	return err < 0 ? diag_set(reterr, EXIT_ENVIRONMENT, err, "cannot write '%s': %s", path,
				  strerror(-err)) : 0;
}

void units_release(units *list)
{
	for (size_t i = 0; i < list->cnt; i++)
		unit_free(list->items[i]);
	VEC_RELEASE(list);
}

void units_count(const units *list, size_t *ret_functions, size_t *ret_probed)
{
	_cleanup_(map_freep) struct map *functions = map_new(), *probed = map_new();

	for (size_t u = 0; u < list->cnt; u++)
		for (size_t i = 0; i < list->items[u]->functions.cnt; i++) {
			const struct scan_function *f = &list->items[u]->functions.items[i];

			map_set(functions, f->key, 1);
			if (f->probed)
				map_set(probed, f->key, 1);
		}
	*ret_functions = map_cnt(functions);
	*ret_probed = map_cnt(probed);
}
