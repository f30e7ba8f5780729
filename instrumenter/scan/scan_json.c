/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_json.c - functions and calls as JSON, for the files of a scan.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "base/banned.h"
#include "base/file.h"
#include "instrumenter/scan/scan_json.h"

/* --- writing ------------------------------------------------------------------ */

/* Names in a source need not be UTF-8, but JSON must be: other bytes become '?'. */
json_t *text_value(const char *s)
{
	json_t *v = json_string(s);

	if (v)
		return v;
	_cleanup_(freep) char *plain = xstrdup(s);

	for (char *p = plain; *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	return json_string(plain);
}

void put_text(json_t *o, const char *name, const char *s)
{
	if (s)
		json_object_set_new(o, name, text_value(s));
}

void put_hex(json_t *o, const char *name, uint64_t value)
{
	char digits[20];

	snprintf(digits, sizeof(digits), "%016llx", (unsigned long long)value);
	json_object_set_new(o, name, json_string(digits));
}

json_t *list_value(const char *const *words)
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
	json_object_set_new(o, "line", json_integer(f->line));
	json_object_set_new(o, "end_line", json_integer(f->end_line));
	put_hex(o, "key", f->key);
	put_text(o, "flags", flags);
	put_text(o, "type", f->type);
	put_text(o, "skipped", f->skipped);
	return o;
}

/* Without "file" it is the group's; so is "callee_file" if it is "". */
static json_t *call_value(const struct scan_call *c, const char *file, uint32_t caller)
{
	json_t *o = json_object();

	json_object_set_new(o, "caller", json_integer(caller));
	put_text(o, "callee", c->callee);
	if (c->callee_file) {
		put_text(o, "callee_file", strcmp(c->callee_file, file) == 0 ? "" : c->callee_file);
		json_object_set_new(o, "callee_line", json_integer(c->callee_line));
	}
	if (c->callee_static)
		json_object_set_new(o, "callee_static", json_true());
	if (c->is_tail)
		json_object_set_new(o, "tail", json_true());
	if (strcmp(c->file, file) != 0)
		put_text(o, "file", c->file);
	json_object_set_new(o, "line", json_integer(c->line));
	put_text(o, "type", c->type);
	return o;
}

json_t *group_value(const struct unit *u, const struct scan_group *g, const uint32_t *within)
{
	json_t *o = json_object(), *functions = json_array(), *calls = json_array();

	for (size_t i = 0; i < g->functions.cnt; i++)
		json_array_append_new(functions, function_value(&u->functions.items[g->functions.items[i]]));
	for (size_t i = 0; i < g->calls.cnt; i++) {
		const struct scan_call *c = &u->calls.items[g->calls.items[i]];

		json_array_append_new(calls, call_value(c, g->file, within[c->caller]));
	}
	put_text(o, "file", g->file);
	json_object_set_new(o, "functions", functions);
	json_object_set_new(o, "calls", calls);
	return o;
}

/* --- reading ------------------------------------------------------------------ */

const char *get_text(struct reading *r, const json_t *o, const char *name, bool needed)
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

static uint32_t number_of(struct reading *r, const json_t *v, const char *name)
{
	json_int_t n = json_is_integer(v) ? json_integer_value(v) : -1;

	if (n < 0 || n > UINT32_MAX) {
		r->bad = name;
		return 0;
	}
	return (uint32_t)n;
}

uint32_t get_number(struct reading *r, const json_t *o, const char *name)
{
	return number_of(r, json_object_get(o, name), name);
}

uint32_t item_number(struct reading *r, const json_t *list, size_t i, const char *name)
{
	return number_of(r, json_array_get(list, i), name);
}

uint64_t get_hex(struct reading *r, const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));
	char *end;
	unsigned long long n = strtoull(s ? s : "", &end, 16);

	if (!s || strlen(s) != 16 || *end)
		r->bad = name;
	return n;
}

const json_t *get_list(struct reading *r, const json_t *o, const char *name)
{
	const json_t *v = json_object_get(o, name);

	if (!json_is_array(v))
		r->bad = name;
	return v;				/* json_array_size() of anything else is 0 */
}

const char **get_words(struct reading *r, const json_t *o, const char *name)
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

static struct scan_function get_function(struct reading *r, const json_t *o, const char *file)
{
	struct scan_function f = {
		.name = get_text(r, o, "name", true), .signature = get_text(r, o, "signature", false), .file = file,
		.line = get_number(r, o, "line"), .end_line = get_number(r, o, "end_line"),
		.key = get_hex(r, o, "key"), .type = get_text(r, o, "type", false),
		.skipped = get_text(r, o, "skipped", false),
	};
	const char *flags = json_string_value(json_object_get(o, "flags"));

	if (!flags)
		r->bad = "flags";
	for (size_t i = 0; flags && i < ARRAY_SIZE(function_flags); i++)
		*(bool *)((char *)&f + function_flags[i].offset) =
			strchr(flags, function_flags[i].letter) != NULL;
	return f;
}

static struct scan_call get_call(struct reading *r, const json_t *o, const struct scan_contents *group)
{
	struct scan_call c = {
		.caller = get_number(r, o, "caller"), .callee = get_text(r, o, "callee", false),
		.callee_file = get_text(r, o, "callee_file", false),
		.callee_static = json_is_true(json_object_get(o, "callee_static")),
		.is_tail = json_is_true(json_object_get(o, "tail")),
		.file = get_text(r, o, "file", false), .line = get_number(r, o, "line"),
		.type = get_text(r, o, "type", false),
	};

	if (c.callee_file) {
		c.callee_file = *c.callee_file ? c.callee_file : group->file;
		c.callee_line = get_number(r, o, "callee_line");
	}
	c.file = c.file ? c.file : group->file;
	if (c.caller >= group->functions.cnt)
		r->bad = "caller";
	if (!c.callee && !c.type)
		r->bad = "callee";
	return c;
}

void get_group(struct reading *r, const json_t *o, struct scan_contents *ret)
{
	const json_t *list = get_list(r, o, "functions");

	ret->file = get_text(r, o, "file", true);
	for (size_t i = 0; i < json_array_size(list); i++)
		VEC_ADD(&ret->functions, get_function(r, json_array_get(list, i), ret->file));
	list = get_list(r, o, "calls");
	for (size_t i = 0; i < json_array_size(list); i++)
		VEC_ADD(&ret->calls, get_call(r, json_array_get(list, i), ret));
}

void scan_contents_release(struct scan_contents *c)
{
	VEC_RELEASE(&c->functions);
	VEC_RELEASE(&c->calls);
}
