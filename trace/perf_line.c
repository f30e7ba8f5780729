/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perf_line.c - one line of `perf script` into its fields.
 *
 * A thread's name may hold blanks, brackets and numbers ("Web Content [7]"), so the line is taken apart
 * from the first place on where "[CPU] SECONDS.FRACTION:" stands behind a number; what is before that
 * number is the name.
 */
#include <ctype.h>
#include <string.h>
#include "base/banned.h"
#include "trace/perf_line.h"

#define SECONDS_MAX ((uint64_t)(INT64_MAX / 8 / 1000000000))

static struct perf_text rest_of(const struct perf_text *t, size_t from)
{
	return (struct perf_text){ t->at + from, t->len - from };
}

static void skip_blanks(struct perf_text *t)
{
	while (t->len && isblank((unsigned char)*t->at))
		*t = rest_of(t, 1);
}

static bool take_char(struct perf_text *t, char c)
{
	if (!t->len || *t->at != c)
		return false;
	*t = rest_of(t, 1);
	return true;
}

bool perf_take_number(struct perf_text *t, uint64_t max, uint64_t *ret)
{
	uint64_t value = 0;
	size_t i = 0;

	for (; i < t->len && isdigit((unsigned char)t->at[i]); i++) {
		value = value * 10 + (uint64_t)(t->at[i] - '0');
		if (value > max)
			return false;
	}
	if (i == 0)
		return false;
	*t = rest_of(t, i);
	*ret = value;
	return true;
}

bool perf_text_is(struct perf_text t, const char *word)
{
	return t.len == strlen(word) && memcmp(t.at, word, t.len) == 0;
}

/* "11618.141416:" is microseconds, "11618.141416271:" nanoseconds. */
static bool take_time(struct perf_text *t, int64_t *ret_ns)
{
	uint64_t seconds, fraction;
	size_t before, digits;

	if (!perf_take_number(t, SECONDS_MAX, &seconds) || !take_char(t, '.'))
		return false;
	before = t->len;
	if (!perf_take_number(t, 999999999, &fraction))
		return false;
	digits = before - t->len;
	if (digits > 9 || !take_char(t, ':'))
		return false;
	for (; digits < 9; digits++)
		fraction *= 10;
	*ret_ns = (int64_t)(seconds * 1000000000 + fraction);
	return true;
}

static void take_event(struct perf_text *t, struct perf_text *ret)
{
	struct perf_text event = *t;

	for (event.len = 0; event.len < t->len && !isblank((unsigned char)t->at[event.len]);)
		event.len++;
	*t = rest_of(t, event.len);
	skip_blanks(t);
	if (event.len && event.at[event.len - 1] == ':')
		event.len--;
	for (size_t i = event.len; i > 0; i--)
		if (event.at[i - 1] == ':') {
			event = rest_of(&event, i);
			break;
		}
	*ret = event;
}

/* "[001] 11618.242631: sched:sched_switch: ..." */
static bool parse_tail(struct perf_text t, struct perf_line *ret)
{
	uint64_t cpu, period;

	if (!take_char(&t, '[') || !perf_take_number(&t, UINT32_MAX, &cpu) || !take_char(&t, ']'))
		return false;
	skip_blanks(&t);
	if (!take_time(&t, &ret->ns))
		return false;
	skip_blanks(&t);
	if (perf_take_number(&t, UINT64_MAX / 16, &period))
		skip_blanks(&t);		/* -F +period */
	take_event(&t, &ret->event);
	ret->cpu = (uint32_t)cpu;
	ret->text = t;
	return ret->event.len > 0;
}

/* -1 is a thread that has gone: 0, as nobody. */
static bool take_id(struct perf_text *t, uint64_t *ret)
{
	if (take_char(t, '-')) {
		uint64_t one;

		*ret = 0;
		return perf_take_number(t, 1, &one);
	}
	return perf_take_number(t, UINT32_MAX, ret);
}

/* "   dd 17496/17497 ": what stands before the CPU. */
static bool parse_head(struct perf_text t, struct perf_line *ret)
{
	uint64_t numbers[2] = { 0, 0 };
	size_t start;
	struct perf_text word;

	while (t.len && isblank((unsigned char)t.at[t.len - 1]))
		t.len--;
	for (start = t.len; start && !isblank((unsigned char)t.at[start - 1]);)
		start--;
	word = rest_of(&t, start);
	if (!take_id(&word, &numbers[0]))
		return false;
	numbers[1] = numbers[0];
	if (take_char(&word, '/') && !take_id(&word, &numbers[1]))
		return false;
	t.len = start;
	while (t.len && isblank((unsigned char)t.at[t.len - 1]))
		t.len--;
	skip_blanks(&t);
	ret->comm = t;
	ret->pid = (uint32_t)numbers[0];
	ret->tid = (uint32_t)numbers[1];
	return word.len == 0;
}

/* "    7f0bff22b5e0 __libc_read+0x10 (/usr/lib/libc.so.6)" */
static bool is_frame(const char *line, size_t len)
{
	size_t i = 0, digits;

	while (i < len && isblank((unsigned char)line[i]))
		i++;
	for (digits = i; i < len && isxdigit((unsigned char)line[i]);)
		i++;
	return digits && i > digits && (i == len || (line[i] == ' ' && line[len - 1] == ')'));
}

enum perf_line_kind perf_line_parse(const char *line, size_t len, struct perf_line *ret)
{
	struct perf_text t = { line, len };

	while (t.len && isspace((unsigned char)t.at[t.len - 1]))
		t.len--;
	len = t.len;
	skip_blanks(&t);
	if (!t.len || *t.at == '#')
		return PERF_NOTHING;
	for (size_t i = 1; i < len; i++)
		if (line[i] == '[' && isblank((unsigned char)line[i - 1]) &&
		    parse_tail((struct perf_text){ line + i, len - i }, ret) &&
		    parse_head((struct perf_text){ line, i }, ret))
			return PERF_EVENT;
	return is_frame(line, len) ? PERF_NOTHING : PERF_DAMAGED;
}

/* Behind the last "key=" that begins the text or follows a blank; NULL if there is none. */
static const char *find_key(struct perf_text t, const char *key)
{
	size_t key_len = strlen(key);

	for (size_t i = t.len; i-- > 0;)
		if (t.len - i > key_len && t.at[i + key_len] == '=' && memcmp(t.at + i, key, key_len) == 0 &&
		    (i == 0 || isblank((unsigned char)t.at[i - 1])))
			return t.at + i + key_len + 1;
	return NULL;
}

bool perf_field(const struct perf_line *l, const char *key, struct perf_text *ret)
{
	const char *at = find_key(l->text, key), *end = l->text.at + l->text.len;

	if (!at)
		return false;
	ret->at = at;
	for (ret->len = 0; at + ret->len < end && !isblank((unsigned char)at[ret->len]);)
		ret->len++;
	return true;
}

bool perf_field_number(const struct perf_line *l, const char *key, uint32_t *ret)
{
	struct perf_text t;
	uint64_t value;

	if (!perf_field(l, key, &t) || !perf_take_number(&t, UINT32_MAX, &value))
		return false;
	*ret = (uint32_t)value;
	return true;
}

bool perf_field_until(const struct perf_line *l, const char *key, const char *next, struct perf_text *ret)
{
	const char *end = find_key(l->text, next), *at;

	if (!end)
		return false;
	end -= strlen(next) + 1;
	at = find_key((struct perf_text){ l->text.at, (size_t)(end - l->text.at) }, key);
	if (!at)
		return false;
	while (end > at && isblank((unsigned char)end[-1]))
		end--;
	*ret = (struct perf_text){ at, (size_t)(end - at) };
	return true;
}
