/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * output.c - JSON and CSV as all views write them.
 *
 * Numbers keep every bit: doubles with as many digits as that takes, integers as integers.  JSON has no NaN or
 * infinity: null stands for them.  In CSV a field with a comma, quote or line break is quoted and
 * its quotes doubled: operator "" -> "operator """"".
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "base/text/utf8.h"
#include "report/output.h"

void json_set(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

void json_add(json_t *array, json_t *value)
{
	json_array_append_new(array, value);
}

json_t *json_text(const char *text)
{
	_cleanup_(str_release) struct str clean = STR_INIT;

	if (!text)
		return json_null();
	utf8_add_clean(&clean, text);
	return json_string(str_cstr(&clean));
}

/* vprof stitch names functions FUNCTION@HOST (trace/stitch/stitch.h); devices and peers have no host. */
void json_set_function(json_t *object, const struct run *run, const char *function)
{
	const char *at = function && run->source && strcmp(run->source, "stitch") == 0 ? strrchr(function, '@') : NULL;
	_cleanup_(freep) char *name = at ? xstrndup(function, (size_t)(at - function)) : NULL;

	json_set(object, "function", json_text(at ? name : function));
	if (at)
		json_set(object, "host", json_text(at + 1));
}

/*
 * Two kinds of numbers Jansson cannot write as wanted: unsigned ones above 2^63 (SIDs), and doubles
 * with no more digits than needed (0.05, not 0.050000000000000003).  They travel as strings that
 * begin as no text of json_text() can, and become numbers again when they are written.
 */
#define RAW_MARK "\x01"
#define RAW_MARK_WRITTEN "\"\\u0001"

static void write_value(FILE *out, const json_t *value, size_t jansson_flags)
{
	_cleanup_(freep) char *text = json_dumps(value, jansson_flags);
	const char *from = text, *raw;

	while (from && (raw = strstr(from, RAW_MARK_WRITTEN))) {
		const char *number = raw + strlen(RAW_MARK_WRITTEN);
		size_t len = strspn(number, "0123456789+-.e");

		fwrite(from, 1, (size_t)(raw - from), out);
		fwrite(number, 1, len, out);
		from = number + len + 1;	/* after the closing quote */
	}
	fputs(from ? from : "", out);
}

void report_write_json(FILE *out, const json_t *document)
{
	write_value(out, document, JSON_INDENT(1));
	fputc('\n', out);
}

void json_write_line(FILE *out, const json_t *value)
{
	write_value(out, value, JSON_ENCODE_ANY);
}

void json_write_text(FILE *out, const char *text)
{
	json_t *value = json_text(text);

	json_write_line(out, value);
	json_decref(value);
}

void json_write_compact(FILE *out, const json_t *value)
{
	write_value(out, value, JSON_ENCODE_ANY | JSON_COMPACT);
}

json_t *json_ci95(bool known, const double ci95[2])
{
	json_t *list;

	if (!known)
		return json_null();
	list = json_array();
	json_add(list, json_number(ci95[0]));
	json_add(list, json_number(ci95[1]));
	return list;
}

json_t *json_u64(uint64_t value)
{
	char raw[32];

	if (value <= INT64_MAX)
		return json_integer((json_int_t)value);
	snprintf(raw, sizeof(raw), RAW_MARK "%" PRIu64, value);
	return json_string(raw);
}

json_t *json_number(double value)
{
	char raw[40];
	int len = 0;

	if (!isfinite(value))
		return json_null();
	/* The first precision that reads back as the same double; 17 always does. */
	for (int digits = 15; digits <= 17; digits++) {
		len = snprintf(raw, sizeof(raw), RAW_MARK "%.*g", digits, value);
		if (strtod(raw + strlen(RAW_MARK), NULL) == value)
			break;
	}
	if (!strpbrk(raw, ".e"))
		snprintf(raw + len, sizeof(raw) - (size_t)len, ".0");
	return json_string(raw);
}

json_t *json_ns(double value)
{
	/* Above 2^53 a double no longer holds every integer. */
	if (isfinite(value) && fabs(value) <= 0x1p53 && value == trunc(value))
		return json_integer((json_int_t)value);
	return json_number(value);
}

json_t *json_wait(bool is_wait, enum trace_state wait)
{
	return is_wait ? json_string(trace_state_name(wait)) : json_null();
}

json_t *json_document(const char *name)
{
	return json_pack("{s:s++}", "schema", "vprof.", name, "/1");
}

json_t *json_warnings(const struct warning *items, size_t cnt)
{
	json_t *list = json_array();

	for (size_t i = 0; i < cnt; i++) {
		json_t *warning = json_object();

		json_set(warning, "code", json_text(items[i].code));
		json_set(warning, "text", json_text(items[i].text));
		json_add(list, warning);
	}
	return list;
}

static void write_field(FILE *out, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

void csv_field(FILE *out, const char *text)
{
	_cleanup_(str_release) struct str clean = STR_INIT;

	if (!text)
		return;
	utf8_add_line(&clean, text);
	write_field(out, str_cstr(&clean));
}

void csv_text(FILE *out, const char *text)
{
	_cleanup_(str_release) struct str clean = STR_INIT;

	utf8_add_clean(&clean, text);
	write_field(out, str_cstr(&clean));
}

void csv_line(FILE *out, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	for (const char *f = format; *f; f++) {
		if (f != format)
			fputc(',', out);
		switch (*f) {
		case 't':
			csv_field(out, va_arg(ap, const char *));
			break;
		case 'u':
			fprintf(out, "%" PRIu64, va_arg(ap, uint64_t));
			break;
		case 'i':
			fprintf(out, "%" PRId64, va_arg(ap, int64_t));
			break;
		case 'd':
			fprintf(out, "%.17g", va_arg(ap, double));
			break;
		}
	}
	va_end(ap);
	fputc('\n', out);
}
