/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_read.c - the scan record of a unit, read back (its form: scan_file.c).
 *
 * The reader must not trust the file: it checks every field.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/banned.h"
#include "base/file.h"
#include "base/pack.h"
#include "base/str.h"
#include "instrumenter/scan/scan_part.h"

/* The sources of a record's functions: its own and its parts', in the order of their numbers. */
struct source {
	const struct scan_contents *contents;
	uint32_t *places;		/* of its functions in the unit */
	size_t taken;
};
typedef VEC(struct source) sources;

static void add_source(sources *list, const struct scan_contents *contents)
{
	VEC_ADD(list, (struct source){ contents, xcalloc(contents->functions.cnt + 1, sizeof(uint32_t)), 0 });
}

static void sources_release(sources *list)
{
	for (size_t i = 0; i < list->cnt; i++)
		free(list->items[i].places);
	VEC_RELEASE(list);
}

static void take_functions(struct reading *r, sources *from, uint32_t number, uint32_t cnt, struct unit *u)
{
	struct source *s = number < from->cnt ? &from->items[number] : NULL;

	if (!s || cnt > s->contents->functions.cnt - s->taken) {
		r->bad = "order";
		return;
	}
	for (; cnt; cnt--) {
		s->places[s->taken] = (uint32_t)u->functions.cnt;
		VEC_ADD(&u->functions, s->contents->functions.items[s->taken++]);
	}
}

/* Each function of each source must occur once. */
static void read_order(struct reading *r, const json_t *o, sources *from, struct unit *u)
{
	const json_t *list = get_list(r, o, "order");
	size_t cnt = json_array_size(list);

	if (cnt % 2)
		r->bad = "order";
	for (size_t i = 0; i < cnt && !r->bad; i += 2)
		take_functions(r, from, item_number(r, list, i, "order"), item_number(r, list, i + 1, "order"), u);
	for (size_t i = 0; i < from->cnt; i++)
		if (from->items[i].taken != from->items[i].contents->functions.cnt)
			r->bad = "order";
}

static void read_bodies(struct reading *r, const json_t *o, struct unit *u)
{
	const json_t *list = get_list(r, o, "bodies");
	json_int_t body = 0;

	if (json_array_size(list) != u->functions.cnt)
		r->bad = "bodies";
	for (size_t i = 0; i < u->functions.cnt && !r->bad; i++) {
		const json_t *v = json_array_get(list, i);

		if (!json_is_integer(v) || __builtin_add_overflow(body, json_integer_value(v), &body) || body < 0)
			r->bad = "bodies";
		u->functions.items[i].body = (size_t)body;
	}
}

static void read_probed(struct reading *r, const json_t *o, struct unit *u)
{
	const json_t *list = get_list(r, o, "probed");
	size_t cnt = json_array_size(list);

	if (cnt % 2)
		r->bad = "probed";
	for (size_t i = 0; i < cnt && !r->bad; i += 2) {
		size_t first = item_number(r, list, i, "probed"), end = first + item_number(r, list, i + 1, "probed");

		if (end > u->functions.cnt)
			r->bad = "probed";
		for (; first < end && !r->bad; first++)
			u->functions.items[first].probed = true;
	}
}

/* unit_cache.c checks that the text has such places. */
static void read_tails(struct reading *r, const json_t *known, struct unit *u)
{
	const json_t *list = get_list(r, known, "tails");
	size_t cnt = json_array_size(list);
	json_int_t start = 0;

	if (cnt % 4)
		r->bad = "tails";
	for (size_t i = 0; i < cnt && !r->bad; i += 4) {
		const json_t *since = json_array_get(list, i + 1);
		struct scan_tail *t = VEC_EXTEND(&u->known.tails);

		if (!json_is_integer(since) || __builtin_add_overflow(start, json_integer_value(since), &start) || start < 0)
			r->bad = "tails";
		t->function = item_number(r, list, i, "tails");
		t->start = (size_t)start;
		t->end = t->start + item_number(r, list, i + 2, "tails");
		t->is_scalar = item_number(r, list, i + 3, "tails") != 0;
		if (t->function >= u->functions.cnt)
			r->bad = "tails";
	}
}

static void take_calls(const sources *from, size_t number, struct unit *u)
{
	const struct source *s = &from->items[number];

	for (size_t i = 0; i < s->contents->calls.cnt; i++) {
		struct scan_call c = s->contents->calls.items[i];

		c.caller = s->places[c.caller];
		VEC_ADD(&u->calls, c);
	}
}

static void read_functions(struct reading *r, const json_t *o, struct unit *u)
{
	_cleanup_(sources_release) sources from = { NULL, 0, 0 };
	_cleanup_(scan_contents_release) struct scan_contents own = { .file = NULL };

	get_group(r, json_object_get(o, "own"), &own);
	add_source(&from, &own);
	for (size_t i = 0; i < u->parts.cnt; i++)
		add_source(&from, &u->parts.items[i]->contents);
	read_order(r, o, &from, u);
	read_bodies(r, o, u);
	read_probed(r, o, u);
	read_tails(r, json_object_get(o, "known"), u);
	for (size_t i = 0; i < from.cnt && !r->bad; i++) {
		if (i && u->parts.items[i - 1]->given)
			continue;
		take_calls(&from, i, u);
		if (i)
			u->parts.items[i - 1]->given = true;
	}
}

static void read_lists(struct reading *r, const json_t *o, struct unit *u)
{
	const json_t *list = get_list(r, o, "places");
	const char **words = get_words(r, o, "address_taken");

	for (; *words; words++)
		VEC_ADD(&u->address_taken, *words);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *v = json_array_get(list, i);
		struct scan_place p = {
			.interval = get_text(r, v, "interval", false),
			.role = get_text(r, v, "role", true),
			.location = get_text(r, v, "location", true),
			.problem = get_text(r, v, "problem", false),
		};

		VEC_ADD(&u->places, p);
	}
}

static void read_known(struct reading *r, const json_t *o, struct scan_known *ret)
{
	ret->text = get_hex(r, o, "text");
	ret->settings = get_hex(r, o, "settings");
	ret->has_events = json_is_true(json_object_get(o, "has_events"));
	ret->pragmas = get_text(r, o, "pragmas", true);
	ret->wrappers = get_text(r, o, "wrappers", true);
}

/* Returns where the rest begins. */
static size_t read_head(struct reading *r, const char *text, size_t len, struct unit *u)
{
	_cleanup_(scan_head_release) struct scan_head head = { .len = 0 };

	r->bad = scan_head_read(text, len, u->arena, &head);
	if (r->bad)
		return 0;
	u->product_ns = head.made_ns;
	u->product_bytes = head.made_bytes;
	u->known.plain = head.plain;
	u->known.redirected = head.redirected;
	for (size_t i = 0; i < head.inputs.cnt; i++)
		VEC_ADD(&u->known.inputs, head.inputs.items[i]);
	for (size_t i = 0; i < head.parts.cnt; i++)
		VEC_ADD(&u->part_names, head.parts.items[i].hash);
	return head.len;
}

/* False: one is missing. */
static bool read_parts(struct part_reading *parts, struct unit *u)
{
	for (size_t i = 0; i < u->part_names.cnt; i++) {
		struct scan_part *p = part_read(parts, u->part_names.items[i]);

		if (!p)
			return false;
		VEC_ADD(&u->parts, p);
	}
	return true;
}

static void read_object(struct reading *r, const json_t *o, struct part_reading *parts, struct unit *u)
{
	u->object = get_text(r, o, "object", true);
	u->source = get_text(r, o, "source", true);
	u->directory = get_text(r, o, "directory", true);
	u->argv = get_words(r, o, "argv");
	u->environment = get_words(r, o, "environment");
	u->probe_set = get_hex(r, o, "probe_set");
	u->product = get_text(r, o, "product", false);
	u->untouched = get_text(r, o, "untouched", false);
	u->misread = get_text(r, o, "misread", false);
	read_known(r, json_object_get(o, "known"), &u->known);
	read_lists(r, o, u);
	u->is_lost = !read_parts(parts, u);
	if (!u->is_lost)
		read_functions(r, o, u);
	if (!u->argv[0])
		r->bad = "argv";
}

/* bad: the field; "format" if the first line is not that of a record. */
static int not_a_record(const char *path, const char *bad, struct diag *reterr)
{
	const char *last = strrchr(path, '/');

	if (strcmp(bad, "format") == 0) {
		diag_set(reterr, EXIT_DATA, -EBADMSG, "scan record '%s' is damaged, or another version of vprof wrote it", path);
		return diag_remedy(reterr, -EBADMSG, "if this tree was built by another vprof: clean it, delete '%.*s', and build again",
				   last ? (int)(last - path) : 1, last ? path : ".");
	}
	diag_set(reterr, EXIT_DATA, -EBADMSG, "damaged scan record '%s': bad field \"%s\"", path, bad);
	return diag_remedy(reterr, -EBADMSG, "delete the file and its object, and build again");
}

/* The JSON of the record from at on; NULL: reports why. */
static json_t *read_rest(const char *path, const char *text, size_t len, struct diag *reterr)
{
	json_error_t error = { .text = "its end is damaged" };
	_cleanup_(freep) char *json = NULL;
	json_t *o = NULL;
	size_t json_len;

	if (unpack(text, len, SCAN_BYTES_MAX, &json, &json_len) == 0)
		o = json_loadb(json, json_len, 0, &error);
	if (json_is_object(o))
		return o;
	diag_set(reterr, EXIT_DATA, -EBADMSG, "damaged scan record '%s': %s", path, o ? "not an object" : error.text);
	json_decref(o);
	return NULL;
}

static int unit_read(const char *path, struct part_reading *parts, struct unit **ret, struct diag *reterr)
{
	_cleanup_(unit_freep) struct unit *u = unit_new();
	struct reading r = { .arena = u->arena };
	_cleanup_(freep) char *text = NULL;
	json_t *o;
	size_t len, at;
	int err = file_read(path, &text, &len);

	if (err < 0)
		return diag_set(reterr, EXIT_DATA, -EBADMSG, "damaged scan record '%s': %s", path, file_why(err));
	at = read_head(&r, text, len, u);
	if (r.bad)
		return not_a_record(path, r.bad, reterr);
	o = read_rest(path, text + at, len - at, reterr);
	if (!o)
		return -EBADMSG;
	read_object(&r, o, parts, u);
	json_decref(o);
	if (r.bad)
		return not_a_record(path, r.bad, reterr);
	*ret = TAKE_PTR(u);
	return 0;
}

static void mend_parts(const char *build_dir, const struct unit *u)
{
	for (size_t i = 0; i < u->part_names.cnt; i++)
		part_mend(build_dir, u->part_names.items[i]);
}

struct unit *unit_find(const char *build_dir, const char *object)
{
	_cleanup_(freep) char *path = unit_path(build_dir, object, ".scan");
	_cleanup_(part_reading_freep) struct part_reading *parts = part_reading_new(build_dir);
	_cleanup_(unit_freep) struct unit *u = NULL;
	int lock = parts_lock(build_dir, false), r = file_exists(path) ? unit_read(path, parts, &u, NULL) : -ENOENT;

	parts_unlock(lock);
	if (r == 0 && u->is_lost) {
		mend_parts(build_dir, u);
		return NULL;
	}
	return r == 0 ? TAKE_PTR(u) : NULL;
}

static int is_scan_file(const struct dirent *d)
{
	return ends_with(d->d_name, ".scan");
}

static int by_object(const void *a, const void *b)
{
	const struct unit *x = *(struct unit *const *)a, *y = *(struct unit *const *)b;

	return strcmp(x->object, y->object);
}

/* The files of names, which are freed. */
static int read_all(const char *build_dir, struct dirent **names, int cnt, units *ret, struct diag *reterr)
{
	_cleanup_(part_reading_freep) struct part_reading *parts = part_reading_new(build_dir);
	int err = 0;

	for (int i = 0; i < cnt; i++) {
		_cleanup_(freep) char *path = path_join(build_dir, names[i]->d_name);
		struct unit *u = NULL;

		if (err == 0)
			err = unit_read(path, parts, &u, reterr);
		if (u)
			VEC_ADD(ret, u);
		free(names[i]);
	}
	if (cnt >= 0)
		free(names);
	return err;
}

int units_read_some(const char *build_dir, units *ret, struct diag *reterr)
{
	units list = { NULL, 0, 0 };
	struct dirent **names;
	int lock = parts_lock(build_dir, false), cnt = scandir(build_dir, &names, is_scan_file, alphasort), err;

	if (cnt < 0 && errno != ENOENT)
		err = diag_set(reterr, EXIT_ENVIRONMENT, -errno, "cannot read '%s': %s", build_dir, strerror(errno));
	else
		err = read_all(build_dir, names, cnt, &list, reterr);
	parts_unlock(lock);
	if (err < 0) {
		units_release(&list);
		return err;
	}
	if (list.cnt)
		qsort(list.items, list.cnt, sizeof(*list.items), by_object);
	*ret = list;
	return 0;
}

int units_read(const char *build_dir, units *ret, struct diag *reterr)
{
	units list = { NULL, 0, 0 };
	int err = units_read_some(build_dir, &list, reterr);

	for (size_t i = 0; i < list.cnt && err == 0; i++)
		if (list.items[i]->is_lost) {
			diag_set(reterr, EXIT_DATA, -EBADMSG, "a part of the scan of '%s' is missing or damaged in '%s/parts'",
				 list.items[i]->source, build_dir);
			err = diag_remedy(reterr, -EBADMSG, "vprof build: it scans the unit again");
		}
	if (err < 0)
		units_release(&list);
	else
		*ret = list;
	return err;
}

size_t units_mend_lost(units *list, const char *build_dir)
{
	size_t cnt = 0;

	for (size_t i = 0; i < list->cnt; i++) {
		const struct unit *u = list->items[i];
		_cleanup_(freep) char *path = unit_path(build_dir, u->object, ".scan");

		if (!u->is_lost)
			continue;
		mend_parts(build_dir, u);
		if (!file_exists(u->product ? u->product : u->object))
			unlink(path);		/* the files that it describes are gone */
		cnt++;
	}
	return cnt;
}

void units_sweep(const units *list, const char *build_dir)
{
	parts_sweep(build_dir, list);
}
