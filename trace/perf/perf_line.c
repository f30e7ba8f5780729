/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perf_line.c - one line of `perf script`, or of ftrace's text, into its fields.
 *
 * A thread's name may hold anything, also "a 1 [0] 1.1: b:".  So the parser tries all places where "[CPU]
 * SECONDS.FRACTION: EVENT:" follows a number, and takes the first with an event that is read here, else the
 * first of all.  The name is the text before that number.  A name has at most 15 bytes, too few for such an
 * event.
 */
#include <ctype.h>
#include <string.h>
#include "base/banned.h"
#include "trace/perf/perf_line.h"

enum { EVENT_MIN = 8 };	/* "sys_exit" */
enum { HEAD_MAX = 256 };	/* what stands before "[CPU]" is shorter */

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

/* "d..2." and the like: interrupts off, in an interrupt ...; ftrace prints it before the time. */
static void skip_flags(struct perf_text *t)
{
	struct perf_text rest = *t;
	size_t len = 0;

	while (len < rest.len && (isalnum((unsigned char)rest.at[len]) || rest.at[len] == '.' || rest.at[len] == '#'))
		len++;
	rest = rest_of(&rest, len);
	if (len >= 3 && len <= 8 && rest.len && isblank((unsigned char)*rest.at)) {
		skip_blanks(&rest);
		*t = rest;
	}
}

static bool is_record(struct perf_text event)
{
	static const char prefix[] = "PERF_RECORD_";

	return event.len >= sizeof(prefix) - 1 && memcmp(event.at, prefix, sizeof(prefix) - 1) == 0;
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
	for (size_t i = is_record(event) ? 0 : event.len; i > 0; i--)
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
	skip_flags(&t);
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

/* -1 is a thread that has ended: 0, unknown. */
static bool take_id(struct perf_text *t, uint64_t *ret)
{
	if (take_char(t, '-')) {
		uint64_t one;

		*ret = 0;
		return perf_take_number(t, 1, &one);
	}
	return perf_take_number(t, UINT32_MAX, ret);
}

static void drop_blanks_behind(struct perf_text *t)
{
	while (t->len && isblank((unsigned char)t->at[t->len - 1]))
		t->len--;
}

/* "( 1977)" after ftrace's thread is its process; "(-----)": unknown.  Takes it off the end of t. */
static bool take_process(struct perf_text *t, uint64_t *ret)
{
	size_t start = t->len;
	struct perf_text inside;

	if (!t->len || t->at[t->len - 1] != ')')
		return false;
	while (start && t->at[start - 1] != '(')
		start--;
	if (start == 0)
		return false;
	inside = (struct perf_text){ t->at + start, t->len - 1 - start };
	t->len = start - 1;
	drop_blanks_behind(t);
	skip_blanks(&inside);
	return perf_take_number(&inside, UINT32_MAX, ret);
}

/* "bash-1977", "bash-1977  ( 1977)": as ftrace prints it. */
static bool parse_ftrace_head(struct perf_text t, struct perf_line *ret)
{
	uint64_t pid = 0, tid;
	bool has_pid = take_process(&t, &pid);
	struct perf_text word;
	size_t dash = t.len;

	while (dash && isdigit((unsigned char)t.at[dash - 1]))
		dash--;
	if (dash == 0 || t.at[dash - 1] != '-')
		return false;
	word = rest_of(&t, dash);
	if (!perf_take_number(&word, UINT32_MAX, &tid))
		return false;
	t.len = dash - 1;
	skip_blanks(&t);
	ret->comm = t;
	ret->tid = (uint32_t)tid;
	ret->pid = has_pid ? (uint32_t)pid : ret->tid;
	return true;
}

/* "   dd 17496/17497 ": what stands before the CPU. */
static bool parse_head(struct perf_text t, struct perf_line *ret)
{
	uint64_t numbers[2] = { 0, 0 };
	struct perf_text word, whole;
	size_t start;

	drop_blanks_behind(&t);
	whole = t;
	for (start = t.len; start && !isblank((unsigned char)t.at[start - 1]);)
		start--;
	word = rest_of(&t, start);
	if (!take_id(&word, &numbers[0]))
		return parse_ftrace_head(whole, ret);
	numbers[1] = numbers[0];
	if ((take_char(&word, '/') && !take_id(&word, &numbers[1])) || word.len)
		return parse_ftrace_head(whole, ret);
	t.len = start;
	drop_blanks_behind(&t);
	skip_blanks(&t);
	ret->comm = t;
	ret->pid = (uint32_t)numbers[0];
	ret->tid = (uint32_t)numbers[1];
	return true;
}

/* "    7f0bff22b5e0 __libc_read+0x10 (/usr/lib/libc.so.6)", also without the symbol or the object; " => schedule". */
static bool is_frame(const char *line, size_t len)
{
	size_t i = 0, digits;

	while (i < len && isblank((unsigned char)line[i]))
		i++;
	if (i && len - i > 3 && memcmp(line + i, "=> ", 3) == 0)
		return true;
	for (digits = i; i < len && isxdigit((unsigned char)line[i]);)
		i++;
	return digits && i > digits && (i == len || (line[i] == ' ' && (i - digits >= 4 || line[len - 1] == ')')));
}

bool perf_line_may_be_frame(const char *line, size_t len)
{
	if (!len || !isblank((unsigned char)*line))
		return false;
	for (size_t i = 1; i + 1 < len; i++)
		if (line[i] == '[' && isblank((unsigned char)line[i - 1]) && isdigit((unsigned char)line[i + 1]))
			return false;		/* "[001]": an event that is cut off */
	return true;
}

/* Lines that trace-cmd and ftrace print about themselves. */
static bool is_heading(struct perf_text t)
{
	static const char *const headings[] = { "cpus=", "version = ", "CPU " };

	for (size_t i = 0; i < sizeof(headings) / sizeof(*headings); i++)
		if (t.len > strlen(headings[i]) && memcmp(t.at, headings[i], strlen(headings[i])) == 0 &&
		    isdigit((unsigned char)t.at[strlen(headings[i])]))
			return i < 2 || (t.len > 8 && memcmp(t.at + t.len - 8, "is empty", 8) == 0);
	return false;
}

/* "CPU:1 [LOST 12 EVENTS]" */
static bool parse_lost(struct perf_text t, struct perf_line *ret)
{
	static const char cpu[] = "CPU:", lost[] = " [LOST ";
	uint64_t number;

	if (t.len < sizeof(cpu) || memcmp(t.at, cpu, sizeof(cpu) - 1) != 0)
		return false;
	t = rest_of(&t, sizeof(cpu) - 1);
	if (!perf_take_number(&t, UINT32_MAX, &number) || t.len < sizeof(lost) || memcmp(t.at, lost, sizeof(lost) - 1) != 0)
		return false;
	*ret = (struct perf_line){ .cpu = (uint32_t)number, .event = { "PERF_RECORD_LOST", 16 }, .text = t };
	return true;
}

/* Whether the event seems to be of a kind that is read here. */
static bool is_known(struct perf_text event)
{
	static const char *const beginnings[] = {
		"sched_", "sys_", "irq_", "softirq_", "hrtimer_", "timer_", "local_timer_", "block_", "netif_",
	};

	for (size_t i = 0; i < event.len; i++)
		if (!isalnum((unsigned char)event.at[i]) && event.at[i] != '_')
			return is_record(event);
	for (size_t i = 0; event.len >= EVENT_MIN && i < sizeof(beginnings) / sizeof(*beginnings); i++)
		if (event.len > strlen(beginnings[i]) && memcmp(event.at, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return is_record(event);
}

static bool parse_event(const char *line, size_t len, struct perf_line *ret)
{
	struct perf_line at;
	bool found = false;

	for (size_t i = 1; i < len && i < HEAD_MAX; i++) {
		if (line[i] != '[' || !isspace((unsigned char)line[i - 1]) ||
		    !parse_tail((struct perf_text){ line + i, len - i }, &at) ||
		    !parse_head((struct perf_text){ line, i }, &at))
			continue;
		if (!found || is_known(at.event))
			*ret = at;
		if (is_known(at.event))
			return true;
		found = true;
	}
	return found;
}

enum perf_line_kind perf_line_parse(const char *line, size_t len, struct perf_line *ret)
{
	struct perf_text t = { line, len };

	while (t.len && isspace((unsigned char)t.at[t.len - 1]))
		t.len--;
	len = t.len;
	skip_blanks(&t);
	if (!t.len)
		return PERF_NOTHING;
	if (parse_event(line, len, ret) || parse_lost(t, ret))
		return PERF_EVENT;
	return *t.at == '#' || is_heading(t) || is_frame(line, len) ? PERF_NOTHING : PERF_DAMAGED;
}

/* After the last "key=" that begins the text or follows a blank; NULL if there is none. */
static const char *find_key(struct perf_text t, const char *key)
{
	size_t key_len = strlen(key);

	for (size_t i = t.len; i-- > 0;)
		if (t.len - i > key_len && t.at[i + key_len] == '=' && memcmp(t.at + i, key, key_len) == 0 &&
		    (i == 0 || isspace((unsigned char)t.at[i - 1])))
			return t.at + i + key_len + 1;
	return NULL;
}

bool perf_field(const struct perf_line *l, const char *key, struct perf_text *ret)
{
	const char *at = find_key(l->text, key), *end = l->text.at + l->text.len;

	if (!at)
		return false;
	ret->at = at;
	for (ret->len = 0; at + ret->len < end && !isspace((unsigned char)at[ret->len]);)
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

static bool take_word(struct perf_text *t, const char *word)
{
	size_t len = strlen(word);

	if (t->len < len || memcmp(t->at, word, len) != 0)
		return false;
	*t = rest_of(t, len);
	return true;
}

static bool take_blank_word(struct perf_text *t, struct perf_text *ret)
{
	*ret = (struct perf_text){ t->at, 0 };
	while (ret->len < t->len && !isspace((unsigned char)t->at[ret->len]))
		ret->len++;
	*t = rest_of(t, ret->len);
	return ret->len > 0;
}

/* "prev_pid=40 prev_prio=120 prev_state=S ==> next_comm=": no name is as long as that. */
static bool take_middle(struct perf_text *t, struct perf_switch *ret)
{
	struct perf_text prio;
	uint64_t pid;

	if (!take_word(t, "prev_pid=") || !perf_take_number(t, UINT32_MAX, &pid) || !take_word(t, " prev_prio=") ||
	    !take_blank_word(t, &prio) || !take_word(t, " prev_state=") || !take_blank_word(t, &ret->state) ||
	    !take_word(t, " ==> next_comm="))
		return false;
	ret->prev = (uint32_t)pid;
	return true;
}

bool perf_switch_fields(const struct perf_line *l, struct perf_switch *ret)
{
	const char *begin, *next_pid = find_key(l->text, "next_pid"), *end;
	struct perf_text t = l->text;

	end = next_pid ? next_pid - sizeof(" next_pid") : NULL;
	if (!end || !perf_field_number(l, "next_pid", &ret->next) || !take_word(&t, "prev_comm="))
		return false;
	for (begin = t.at; t.len; t = rest_of(&t, 1)) {
		struct perf_text rest = t;

		if (!take_middle(&rest, ret) || rest.at >= end)
			continue;
		ret->prev_comm = (struct perf_text){ begin, (size_t)(t.at - begin) };
		ret->prev_comm.len -= ret->prev_comm.len > 0;	/* the blank */
		ret->next_comm = (struct perf_text){ rest.at, (size_t)(end - rest.at) };
		return true;
	}
	return false;
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
