/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_ctf.c - `vprof import --from ctf`: a directory of the Common Trace Format, as LTTng and barectf write it, through babeltrace2.
 *
 * babeltrace2 prints an event a line:
 *
 *	[1.000001000] box app:request_begin: { cpu_id = 0 }, { vpid = 70, vtid = 1 }, { n = 7, what = "a, b" }
 *
 * NAME_begin and NAME_end, or _start, _entry, _exit and the like, are a span of their thread, app:request; func_entry and func_exit of
 * LTTng's -finstrument-functions a function, by its name if the trace has that, else by its address.  sched_switch says when a thread
 * waited, the system call it was in for what, and sched_waking who woke it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/banned.h"
#include "base/file.h"
#include "base/map.h"
#include "base/proc.h"
#include "base/str.h"
#include "cmd/formats/import_format.h"
#include "cmd/formats/spans/spans.h"

struct ctf {
	struct spans *s;
	struct map *on_cpu;		/* CPU -> thread + 1 */
	struct map *left_ns;		/* thread -> when it left its CPU, + 1; 0: it did not */
	struct map *left_state;		/* ... and what it waits for */
	struct map *call_of;		/* thread -> state of the system call it is in; 0: none */
	VEC(struct wakeup) wakings, wakeups;	/* a waking's waker is surer */
	size_t events;
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
	return end != value && *value != '-';
}

/* Of user space; else the one that the CPU runs; else the context's. */
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

	c->events++;
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

/* ---- babeltrace2 ---- */

static int no_babeltrace(struct diag *reterr)
{
	diag_set(reterr, EXIT_ENVIRONMENT, -ENOENT, "CTF is read by the program babeltrace2, which is not here");
	return diag_remedy(reterr, -ENOENT, "apt-get install babeltrace2");
}

static int run_babeltrace(const char *path, struct str *ret, struct diag *reterr)
{
	_cleanup_(freep) char *real = path_real(path);
	_cleanup_(str_release) struct str errors = STR_INIT;
	struct stat st;
	int status;

	if (!real || stat(real, &st) < 0)
		return diag_set(reterr, EXIT_DATA, -ENOENT, "cannot read '%s': %s", path, strerror(errno ? errno : ENOENT));
	if (!S_ISDIR(st.st_mode))
		return diag_set(reterr, EXIT_DATA, -ENOTDIR, "'%s' is no directory, and a CTF trace is one", path);
	status = proc_run((char *[]){ (char *)"babeltrace2", (char *)"--no-delta", (char *)"--clock-seconds", (char *)"--color=never", real, NULL },
			  &(struct proc_options){ .out = ret, .err = &errors });
	if (status == -ENOENT)
		return no_babeltrace(reterr);
	if (status < 0)
		return diag_set(reterr, EXIT_ENVIRONMENT, status, "cannot run babeltrace2: %s", strerror(-status));
	if (status > 0)
		return diag_set(reterr, EXIT_DATA, -EBADMSG, "%s: babeltrace2 cannot read it: %.*s", path,
				(int)strcspn(str_cstr(&errors), "\n"), str_cstr(&errors));
	return 0;
}

static int read_dir(struct ctf *c, const char *path, struct diag *reterr)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	int r = run_babeltrace(path, &text, reterr);

	for (char *line = text.data, *end; r == 0 && line && *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		take_line(c, line);
	}
	return r;
}

static int read_ctf(const char *const *paths, size_t cnt, struct trace **ret, struct diag *reterr)
{
	struct spans s;
	struct ctf c = { .s = &s, .on_cpu = map_new(), .left_ns = map_new(), .left_state = map_new(), .call_of = map_new() };
	int r = 0;

	spans_init(&s);
	for (size_t i = 0; r == 0 && i < cnt; i++)
		r = read_dir(&c, paths[i], reterr);
	for (size_t i = 0; i < c.wakings.cnt; i++)
		spans_add_wakeup(&s, c.wakings.items[i].tid, c.wakings.items[i].waker_tid, c.wakings.items[i].time_ns);
	for (size_t i = 0; !c.wakings.cnt && i < c.wakeups.cnt; i++)
		spans_add_wakeup(&s, c.wakeups.items[i].tid, c.wakeups.items[i].waker_tid, c.wakeups.items[i].time_ns);
	if (r == 0)
		r = spans_to_trace(&s, ret, reterr);
	map_free(c.on_cpu);
	map_free(c.left_ns);
	map_free(c.left_state);
	map_free(c.call_of);
	VEC_RELEASE(&c.wakings);
	VEC_RELEASE(&c.wakeups);
	spans_release(&s);
	return r;
}

const struct import_format import_ctf = {
	.name = "ctf", .help = "a directory of the Common Trace Format, through babeltrace2", .read = read_ctf,
	.options = import_span_options, .has_options = import_span_options_given,
	.example = "vprof import --from ctf --interval NAME lttng-traces/session",
};
