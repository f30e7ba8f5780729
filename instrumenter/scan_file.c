/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_file.c - the scan record of a unit as a file: its head (scan_head.h), and JSON.
 *
 *	{"object": "/src/a.o", "source": "/src/a.c", ...,
 *	 "functions": [{"name": "f", "file": "/src/a.c", "line": 3, "flags": "sp", ...}],
 *	 "calls": [{"caller": 0, "callee": "g", "file": "/src/a.c", "line": 4}], ...}
 *
 * Keys are 64-bit and JSON numbers are signed: they are written as hexadecimal strings.  Whoever
 * reads must not trust the file: every field is looked at, a caller beyond the functions is damage.
 */
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include "base/banned.h"
#include "base/file.h"
#include "base/map.h"
#include "base/str.h"
#include "instrumenter/scan_head.h"

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

/* Names in a source need not be UTF-8, which JSON is: such bytes become '?'. */
static json_t *text_value(const char *s)
{
	json_t *v = s ? json_string(s) : NULL;

	if (!s || v)
		return v;
	_cleanup_(freep) char *plain = xstrdup(s);

	for (char *p = plain; *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	return json_string(plain);
}

static void put_text(json_t *o, const char *name, const char *s)
{
	if (s)
		json_object_set_new(o, name, text_value(s));
}

static void put_hex(json_t *o, const char *name, uint64_t value)
{
	char digits[20];

	snprintf(digits, sizeof(digits), "%016llx", (unsigned long long)value);
	json_object_set_new(o, name, json_string(digits));
}

static json_t *list_value(const char *const *words)
{
	json_t *list = json_array();

	for (; words && *words; words++)
		json_array_append_new(list, text_value(*words));
	return list;
}

/* The booleans of a function, one letter each. */
static const struct {
	char letter;
	size_t offset;
} function_flags[] = {
	{ 's', offsetof(struct scan_function, is_static) },
	{ 'i', offsetof(struct scan_function, is_inline) },
	{ 'a', offsetof(struct scan_function, address_taken) },
	{ 'r', offsetof(struct scan_function, releases) },
	{ 'p', offsetof(struct scan_function, probed) },
	{ 'n', offsetof(struct scan_function, no_return) },
	{ 'c', offsetof(struct scan_function, may_be_constant) },
	{ 'v', offsetof(struct scan_function, returns_nothing) },
};

static json_t *function_value(const struct scan_function *f)
{
	char flags[ARRAY_SIZE(function_flags) + 1] = "", *end = flags;
	json_t *o = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(function_flags); i++)
		if (*(const bool *)((const char *)f + function_flags[i].offset))
			*end++ = function_flags[i].letter;
	*end = '\0';
	put_text(o, "name", f->name);
	put_text(o, "signature", f->signature);
	put_text(o, "file", f->file);
	json_object_set_new(o, "line", json_integer(f->line));
	json_object_set_new(o, "end_line", json_integer(f->end_line));
	put_hex(o, "key", f->key);
	put_text(o, "flags", flags);
	put_hex(o, "body", f->body);
	put_text(o, "type", f->type);
	put_text(o, "skipped", f->skipped);
	return o;
}

static json_t *call_value(const struct scan_call *c)
{
	json_t *o = json_object();

	json_object_set_new(o, "caller", json_integer(c->caller));
	put_text(o, "callee", c->callee);
	put_text(o, "callee_file", c->callee_file);
	json_object_set_new(o, "callee_line", json_integer(c->callee_line));
	json_object_set_new(o, "callee_static", json_boolean(c->callee_static));
	put_text(o, "file", c->file);
	json_object_set_new(o, "line", json_integer(c->line));
	put_text(o, "type", c->type);
	return o;
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

/* Not written if a byte of it would be lost: it is compiled again. */
static json_t *known_value(const struct scan_known *k)
{
	json_t *pragmas = json_string(k->pragmas), *wrappers = json_string(k->wrappers);
	json_t *o = json_object();

	put_hex(o, "text", pragmas && wrappers ? k->text : 0);
	put_hex(o, "settings", k->settings);
	json_object_set_new(o, "has_events", json_boolean(k->has_events));
	json_object_set_new(o, "has_tails", json_boolean(k->has_tails));
	json_object_set_new(o, "pragmas", pragmas ? pragmas : json_string(""));
	json_object_set_new(o, "wrappers", wrappers ? wrappers : json_string(""));
	return o;
}

static json_t *unit_value(const struct unit *u)
{
	json_t *o = json_object(), *functions = json_array(), *calls = json_array();
	json_t *taken = json_array(), *places = json_array();

	put_text(o, "object", u->object);
	put_text(o, "source", u->source);
	put_text(o, "directory", u->directory);
	json_object_set_new(o, "argv", list_value(u->argv));
	json_object_set_new(o, "environment", list_value(u->environment));
	put_hex(o, "probe_set", u->probe_set);
	put_text(o, "product", u->product);
	put_text(o, "untouched", u->untouched);
	put_text(o, "misread", u->misread);
	for (size_t i = 0; i < u->functions.cnt; i++)
		json_array_append_new(functions, function_value(&u->functions.items[i]));
	for (size_t i = 0; i < u->calls.cnt; i++)
		json_array_append_new(calls, call_value(&u->calls.items[i]));
	for (size_t i = 0; i < u->address_taken.cnt; i++)
		json_array_append_new(taken, text_value(u->address_taken.items[i]));
	for (size_t i = 0; i < u->places.cnt; i++)
		json_array_append_new(places, place_value(&u->places.items[i]));
	json_object_set_new(o, "known", known_value(&u->known));
	json_object_set_new(o, "functions", functions);
	json_object_set_new(o, "calls", calls);
	json_object_set_new(o, "address_taken", taken);
	json_object_set_new(o, "places", places);
	return o;
}

int unit_write(const char *build_dir, const struct unit *u, struct diag *reterr)
{
	_cleanup_(freep) char *path = unit_path(build_dir, u->object, ".scan");
	json_t *o = unit_value(u);
	_cleanup_(freep) char *json = json_dumps(o, JSON_COMPACT);
	_cleanup_(str_release) struct str text = STR_INIT;
	int err;

	json_decref(o);
	if (!json)
		return diag_set(reterr, EXIT_ENVIRONMENT, -ENOMEM, "cannot form '%s'", path);
	scan_head_add(u, &text);
	str_add(&text, json);
	err = make_dirs(build_dir, 0700);
	if (err >= 0)
		err = file_write(path, text.data, text.len, 0600);
	return err < 0 ? diag_set(reterr, EXIT_ENVIRONMENT, err, "cannot write '%s': %s", path,
				  strerror(-err)) : 0;
}

/* --- reading ------------------------------------------------------------------ */

/* What is wrong is remembered once, as the name of the field. */
struct reading {
	struct arena *arena;
	const char *bad;
};

static const char *get_text(struct reading *r, const json_t *o, const char *name, bool needed)
{
	const json_t *v = json_object_get(o, name);

	if (!v && !needed)
		return NULL;
	if (!json_is_string(v)) {
		r->bad = name;
		return "";
	}
	return arena_strdup(r->arena, json_string_value(v));
}

static uint32_t get_number(struct reading *r, const json_t *o, const char *name)
{
	const json_t *v = json_object_get(o, name);
	json_int_t n = json_is_integer(v) ? json_integer_value(v) : -1;

	if (n < 0 || n > UINT32_MAX) {
		r->bad = name;
		return 0;
	}
	return (uint32_t)n;
}

static uint64_t get_hex(struct reading *r, const json_t *o, const char *name)
{
	const char *s = get_text(r, o, name, true);
	char *end;
	unsigned long long n = strtoull(s, &end, 16);

	if (strlen(s) != 16 || *end)
		r->bad = name;
	return n;
}

static const json_t *get_list(struct reading *r, const json_t *o, const char *name)
{
	const json_t *v = json_object_get(o, name);

	if (!json_is_array(v))
		r->bad = name;
	return v;				/* json_array_size() of anything else is 0 */
}

static const char **get_words(struct reading *r, const json_t *o, const char *name)
{
	const json_t *list = get_list(r, o, name);
	size_t cnt = json_array_size(list);
	const char **words = ARENA_NEW(r->arena, const char *, cnt + 1);

	for (size_t i = 0; i < cnt; i++) {
		const json_t *v = json_array_get(list, i);

		if (!json_is_string(v))
			r->bad = name;
		words[i] = arena_strdup(r->arena, json_is_string(v) ? json_string_value(v) : "");
	}
	return words;
}

static struct scan_function get_function(struct reading *r, const json_t *o)
{
	struct scan_function f = {
		.name = get_text(r, o, "name", true), .signature = get_text(r, o, "signature", false), .file = get_text(r, o, "file", true),
		.line = get_number(r, o, "line"), .end_line = get_number(r, o, "end_line"),
		.key = get_hex(r, o, "key"), .type = get_text(r, o, "type", false),
		.skipped = get_text(r, o, "skipped", false), .body = get_hex(r, o, "body"),
	};
	const char *flags = get_text(r, o, "flags", true);

	for (size_t i = 0; i < ARRAY_SIZE(function_flags); i++)
		*(bool *)((char *)&f + function_flags[i].offset) =
			strchr(flags, function_flags[i].letter) != NULL;
	return f;
}

static struct scan_call get_call(struct reading *r, const json_t *o, size_t function_cnt)
{
	struct scan_call c = {
		.caller = get_number(r, o, "caller"), .callee = get_text(r, o, "callee", false),
		.callee_file = get_text(r, o, "callee_file", false),
		.callee_line = get_number(r, o, "callee_line"),
		.callee_static = json_is_true(json_object_get(o, "callee_static")),
		.file = get_text(r, o, "file", true), .line = get_number(r, o, "line"),
		.type = get_text(r, o, "type", false),
	};

	if (c.caller >= function_cnt)
		r->bad = "caller";
	if (!c.callee && !c.type)
		r->bad = "callee";
	return c;
}

static void read_lists(struct reading *r, const json_t *o, struct unit *u)
{
	const json_t *list = get_list(r, o, "functions");
	const char **words;

	for (size_t i = 0; i < json_array_size(list); i++)
		VEC_ADD(&u->functions, get_function(r, json_array_get(list, i)));
	list = get_list(r, o, "calls");
	for (size_t i = 0; i < json_array_size(list); i++)
		VEC_ADD(&u->calls, get_call(r, json_array_get(list, i), u->functions.cnt));
	words = get_words(r, o, "address_taken");
	for (; *words; words++)
		VEC_ADD(&u->address_taken, *words);
	list = get_list(r, o, "places");
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
	ret->has_tails = json_is_true(json_object_get(o, "has_tails"));
	ret->pragmas = get_text(r, o, "pragmas", true);
	ret->wrappers = get_text(r, o, "wrappers", true);
}

/* Returns where the JSON begins. */
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
	return head.len;
}

static void read_object(struct reading *r, const json_t *o, struct unit *u)
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
	read_lists(r, o, u);
	read_known(r, json_object_get(o, "known"), &u->known);
	if (!u->argv[0])
		r->bad = "argv";
}

/* bad: the field; "format" where the first line is another's. */
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

static int unit_read(const char *path, struct unit **ret, struct diag *reterr)
{
	_cleanup_(unit_freep) struct unit *u = unit_new();
	struct reading r = { .arena = u->arena };
	_cleanup_(freep) char *text = NULL;
	json_error_t error = { .text = "" };
	json_t *o = NULL;
	size_t len, at;
	int err = file_read(path, &text, &len);

	if (err < 0) {
		snprintf(error.text, sizeof(error.text), "%s", file_why(err));
	} else {
		at = read_head(&r, text, len, u);
		if (!r.bad)
			o = json_loadb(text + at, len - at, 0, &error);
	}
	if (!r.bad && !json_is_object(o)) {
		diag_set(reterr, EXIT_DATA, -EBADMSG, "damaged scan record '%s': %s", path,
			 o ? "not an object" : error.text);
		json_decref(o);
		return -EBADMSG;
	}
	if (!r.bad)
		read_object(&r, o, u);
	json_decref(o);
	if (r.bad)
		return not_a_record(path, r.bad, reterr);
	*ret = TAKE_PTR(u);
	return 0;
}

struct unit *unit_find(const char *build_dir, const char *object)
{
	_cleanup_(freep) char *path = unit_path(build_dir, object, ".scan");
	struct unit *u = NULL;

	return file_exists(path) && unit_read(path, &u, NULL) == 0 ? u : NULL;
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

int units_read(const char *build_dir, units *ret, struct diag *reterr)
{
	units list = { NULL, 0, 0 };
	struct dirent **names;
	int cnt = scandir(build_dir, &names, is_scan_file, NULL), err = 0;

	if (cnt < 0 && errno != ENOENT)
		return diag_set(reterr, EXIT_ENVIRONMENT, -errno, "cannot read '%s': %s", build_dir,
				strerror(errno));
	for (int i = 0; i < cnt; i++) {
		_cleanup_(freep) char *path = path_join(build_dir, names[i]->d_name);
		struct unit *u = NULL;

		if (err == 0)
			err = unit_read(path, &u, reterr);
		if (u)
			VEC_ADD(&list, u);
		free(names[i]);
	}
	if (cnt >= 0)
		free(names);
	if (err < 0) {
		units_release(&list);
		return err;
	}
	if (list.cnt)
		qsort(list.items, list.cnt, sizeof(*list.items), by_object);
	*ret = list;
	return 0;
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
