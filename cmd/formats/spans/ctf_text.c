/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ctf_text.c - see ctf_text.h. */
#include "cmd/formats/spans/ctf_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/map.h"
#include "base/str.h"

struct ctf {
	struct spans *s;
	struct map *on_cpu;		/* CPU -> thread + 1 */
	struct map *left_ns;		/* thread -> when it left its CPU, + 1; 0: it did not */
	struct map *left_state;		/* ... and what it waits for */
	struct map *call_of;		/* thread -> state of the system call it is in; 0: none */
	VEC(struct wakeup) wakings, wakeups;	/* a waking's waker is surer */
};

/* "1.000001000" */
static bool take_time(const char *text, int64_t *ret)
{
	char *end;
	uint64_t s = strtoull(text, &end, 10), ns = 0;

	if (end == text || *end != '.' || s > INT64_MAX / 1000000000 - 1)
		return false;
	for (unsigned i = 1; i <= 9; i++) {
		if (end[i] < '0' || end[i] > '9')
			return false;
		ns = ns * 10 + (uint64_t)(end[i] - '0');
	}
	*ret = (int64_t)(s * 1000000000 + ns);
	return end[10] == ']';
}

/* The value of a field, by its name; NULL: there is none.  The first of that name, or the last. */
static const char *field_of(const char *line, const char *key, bool last)
{
	size_t len = strlen(key);
	const char *found = NULL;

	for (const char *c = line; *c; c++) {
		if (*c == '"') {
			for (c++; *c && *c != '"'; c++)
				c += *c == '\\' && c[1];
			if (!*c)
				break;
		} else if (strncmp(c, key, len) == 0 && strncmp(c + len, " = ", 3) == 0 && c > line && c[-1] == ' ') {
			found = c + len + 3;
			if (!last)
				break;
		}
	}
	return found;
}

static bool number_of(const char *line, const char *key, bool last, uint64_t *ret)
{
	const char *value = field_of(line, key, last);
	char *end;

	if (!value)
		return false;
	*ret = strtoull(value, &end, 0);
	return end != value && *value != '-' && *ret <= INT64_MAX;
}

/* The thread in a user-space record; else the one that the CPU runs; else the context's. */
static uint64_t thread_of(const struct ctf *c, const char *fields)
{
	uint64_t tid, cpu;

	if (number_of(fields, "vtid", false, &tid))
		return tid;
	if (number_of(fields, "cpu_id", false, &cpu) && map_get(c->on_cpu, cpu, &tid) && tid)
		return tid - 1;
	return number_of(fields, "tid", false, &tid) ? tid : 0;
}

static enum trace_state state_of_call(const char *name)
{
	if (strstr(name, "nanosleep"))
		return STATE_SLEEP;
	if (strstr(name, "futex"))
		return STATE_COND;
	if (strstr(name, "wait4") || strstr(name, "waitid"))
		return STATE_JOIN;
	return STATE_IO;
}

static void take_switch(struct ctf *c, const char *fields, int64_t ns)
{
	uint64_t prev, next, cpu, state = 0, left, why, call;

	if (!number_of(fields, "prev_tid", true, &prev) || !number_of(fields, "next_tid", true, &next))
		return;
	if (number_of(fields, "cpu_id", false, &cpu))
		map_set(c->on_cpu, cpu, next + 1);
	number_of(fields, "prev_state", true, &state);
	if (prev) {
		map_set(c->left_ns, prev, (uint64_t)ns + 1);
		map_set(c->left_state, prev, !state ? STATE_RUNNABLE : map_get(c->call_of, prev, &call) && call ? call : STATE_OTHER);
	}
	if (next && map_get(c->left_ns, next, &left) && left && map_get(c->left_state, next, &why)) {
		spans_add_wait(c->s, next, (int64_t)left - 1, ns, (enum trace_state)why);
		map_set(c->left_ns, next, 0);
	}
}

/* "app:request_begin" and "_begin" give "app:request"; NULL: it does not end so. */
static char *stem_of(const char *name, const char *const *ends, size_t cnt)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < cnt; i++) {
		size_t end_len = strlen(ends[i]);

		if (len > end_len + 1 && strcmp(name + len - end_len, ends[i]) == 0 && strchr("_:.-", name[len - end_len - 1]))
			return xstrndup(name, len - end_len - 1);
	}
	return NULL;
}

/* func = "parse+0x10" of debug_info, else the address; NULL: it has neither. */
static char *function_of(const char *fields)
{
	const char *name = field_of(fields, "func", false);
	uint64_t address;

	if (name && *name == '"' && name[1] && name[1] != '"')
		return xstrndup(name + 1, strcspn(name + 1, "\"+"));
	return number_of(fields, "addr", true, &address) ? xasprintf("0x%" PRIx64, address) : NULL;
}

static void take_span(struct ctf *c, const char *name, const char *fields, int64_t ns)
{
	static const char *const begins[] = { "begin", "start", "entry", "enter" };
	static const char *const ends[] = { "end", "stop", "exit", "leave", "done", "finish", "return" };
	_cleanup_(freep) char *begun = stem_of(name, begins, ARRAY_SIZE(begins)), *ended = NULL;
	uint64_t tid = thread_of(c, fields);

	if (!begun)
		ended = stem_of(name, ends, ARRAY_SIZE(ends));
	if (strstr(name, "cyg_profile") && (begun || ended)) {
		_cleanup_(freep) char *function = function_of(fields);

		if (begun && function)
			spans_begin(c->s, function, tid, ns);
		else if (ended)
			spans_end(c->s, function, tid, ns);
	} else if (begun) {
		spans_begin(c->s, begun, tid, ns);
	} else if (ended) {
		spans_end(c->s, ended, tid, ns);
	}
}

static void take_event(struct ctf *c, const char *name, const char *fields, int64_t ns)
{
	uint64_t woken;

	if (strcmp(name, "sched_switch") == 0)
		take_switch(c, fields, ns);
	else if (strcmp(name, "sched_waking") == 0 || strcmp(name, "sched_wakeup") == 0) {
		if (number_of(fields, "tid", true, &woken) && thread_of(c, fields) != woken) {
			struct wakeup w = { woken, thread_of(c, fields), ns };

			if (strcmp(name, "sched_waking") == 0)
				VEC_ADD(&c->wakings, w);
			else
				VEC_ADD(&c->wakeups, w);
		}
	} else if (strncmp(name, "syscall_entry_", 14) == 0)
		map_set(c->call_of, thread_of(c, fields), state_of_call(name));
	else if (strncmp(name, "syscall_exit_", 13) == 0)
		map_set(c->call_of, thread_of(c, fields), 0);
	else
		take_span(c, name, fields, ns);
}

/* "[TIME] ... NAME: { ... }, { ... }"; other lines are none of events. */
static void take_line(struct ctf *c, char *line)
{
	char *begin = strchr(line, ']'), *fields = begin ? strstr(begin, ": {") : NULL, *name;
	int64_t ns;

	if (*line != '[' || !take_time(line + 1, &ns) || !begin || !fields)
		return;
	*fields = '\0';
	name = strrchr(begin, ' ');
	if (name && name[1])
		take_event(c, name + 1, fields + 2, ns);
}

struct ctf *ctf_new(struct spans *s)
{
	struct ctf *c = xcalloc(1, sizeof(*c));

	*c = (struct ctf){ .s = s, .on_cpu = map_new(), .left_ns = map_new(), .left_state = map_new(), .call_of = map_new() };
	return c;
}

void ctf_read_text(struct ctf *c, char *text)
{
	for (char *line = text, *end; line && *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		take_line(c, line);
	}
}

void ctf_finish(struct ctf *c)
{
	for (size_t i = 0; i < c->wakings.cnt; i++)
		spans_add_wakeup(c->s, c->wakings.items[i].tid, c->wakings.items[i].waker_tid, c->wakings.items[i].time_ns);
	for (size_t i = 0; !c->wakings.cnt && i < c->wakeups.cnt; i++)
		spans_add_wakeup(c->s, c->wakeups.items[i].tid, c->wakeups.items[i].waker_tid, c->wakeups.items[i].time_ns);
	map_free(c->on_cpu);
	map_free(c->left_ns);
	map_free(c->left_state);
	map_free(c->call_of);
	VEC_RELEASE(&c->wakings);
	VEC_RELEASE(&c->wakeups);
	free(c);
}
