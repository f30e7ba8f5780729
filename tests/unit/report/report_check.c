/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_check.c - a view printed to memory, and what was expected there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "base/banned.h"
#include "base/file.h"
#include "tests/unit/report/report_check.h"

struct run sample_run = { .number = 3, .name = (char *)"base" };

struct view_input input_of(const struct findings *f)
{
	struct view_input in = { .options = VIEW_OPTIONS_INIT, .run = &sample_run, .findings = f };

	return in;
}

char *text_of(const char *view, const struct view_input *in, bool utf8, unsigned width)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct style s = { .out = out, .width = width, .utf8 = utf8 };

	view_find(view)->text(&s, in);
	fclose(out);
	return text;
}

char *csv_of(const char *view, const struct view_input *in)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	view_find(view)->csv(out, in);
	fclose(out);
	return text;
}

json_t *json_of(const char *view, const struct view_input *in)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	json_t *document = view_find(view)->json(in), *back;
	json_error_t error;

	report_write_json(out, document);
	fclose(out);
	json_decref(document);
	back = json_loads(text, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
	if (!back)
		fail_msg("%s\n%s", error.text, text);
	free(text);
	return back;
}

void want_text(const char *name, char *text)
{
	_cleanup_(freep) char *path = xasprintf("%s/tests/report/%s.expected", SOURCE_DIR, name);
	_cleanup_(freep) char *expected = NULL;

	if (getenv("UPDATE_EXPECTED"))
		assert_int_equal(file_write(path, text, strlen(text), 0644), 0);
	if (file_read(path, &expected, NULL) < 0)
		fail_msg("cannot read %s", path);
	assert_string_equal(text, expected);
	free(text);
}

json_t *at(json_t *o, const char *path)
{
	while (o && *path) {
		size_t len = strcspn(path, "/");
		_cleanup_(freep) char *key = xstrndup(path, len);

		o = json_is_array(o) ? json_array_get(o, strtoul(key, NULL, 10)) :
				       json_object_get(o, key);
		path += len + (path[len] == '/');
	}
	return o;
}

void want_string(json_t *o, const char *path, const char *value)
{
	const char *found = json_string_value(at(o, path));

	if (!found || strcmp(found, value) != 0)
		fail_msg("%s is %s, not %s", path, found ? found : "no string", value);
}

void want_number(json_t *o, const char *path, double value)
{
	json_t *found = at(o, path);

	if (!json_is_number(found) || json_number_value(found) != value)
		fail_msg("%s is %.17g, not %.17g", path, json_number_value(found), value);
}

void want_null(json_t *o, const char *path)
{
	if (!json_is_null(at(o, path)))
		fail_msg("%s is not null", path);
}
