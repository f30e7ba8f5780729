/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_csv.c - `vprof import --from csv`: columns interval,part,nanoseconds, a line for each part of each interval.
 *
 *	interval,part,nanoseconds
 *	1,parse,1200
 *	1,wait:lock in parse,800
 *	2,parse,1100
 *
 * The parts of an interval add up to it.  "wait:CLASS" is a wait, also "wait:CLASS in FUNCTION"; "other" and "body" are time outside any
 * function; all others are functions.  So our own export comes back, but for the wait of a thread that was woken and did not run yet
 * ("wait:wakeup"): it counts as "runnable", as both are time in the run queue.
 *
 * The line with the names says what stands between fields: a comma, or a semicolon or a tab, as spreadsheets write it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/map.h"
#include "base/str.h"
#include "cmd/formats/import_format.h"
#include "cmd/formats/spans/spans.h"
#include "cmd/messages.h"

#define LATENCY_MAX (INT64_C(1) << 60)

struct row {
	const char *part;
	int64_t ns;
	size_t interval;		/* its number, counted over all files */
	size_t order;
};

struct table {
	const char *path;
	unsigned long line;
	int columns[3];			/* positions of interval, part and nanoseconds */
	struct arena *arena;
	char separator;
	struct names *intervals;	/* of this file: "1" of another file is another interval */
	size_t first_of_file;		/* number of the file's first interval */
	VEC(struct row) rows;
	uint64_t wakeups;
};

static int wrong(const struct table *t, const char *what, struct diag *reterr)
{
	return diag_set(reterr, EXIT_DATA, -EBADMSG, "%s:%lu: %s", t->path, t->line, what);
}

/* RFC 4180, without line feeds in a field.  Cuts the line into fields in place.  Returns their number, or -1. */
static int split(char *line, char separator, char **fields, int most)
{
	const char ends[] = { separator, '\0' };
	int cnt = 0;

	for (char *in = line;; in++) {
		char *out = in;

		if (cnt == most)
			return -1;
		fields[cnt++] = in;
		if (*in == '"') {
			for (in++; *in && !(*in == '"' && in[1] != '"'); in++) {
				in += *in == '"';
				*out++ = *in;
			}
			if (*in++ != '"' || (*in && *in != separator))
				return -1;
		} else {
			in += strcspn(in, ends);
			out = in;
		}
		if (!*in) {
			*out = '\0';
			return cnt;
		}
		*out = '\0';
	}
}

static int read_head(struct table *t, char **fields, int cnt, struct diag *reterr)
{
	static const char *const names[] = { "interval", "part", "nanoseconds" };

	for (int k = 0; k < 3; k++) {
		t->columns[k] = -1;
		for (int i = 0; i < cnt; i++)
			if (strcmp(fields[i], names[k]) == 0)
				t->columns[k] = i;
		if (t->columns[k] < 0)
			return wrong(t, "the first line that is not blank names the columns, interval,part,nanoseconds among them", reterr);
	}
	return 0;
}

/* The state of a part, and its function, or NULL.  Returns false for a wait of an unknown class. */
static bool state_of(const char *part, enum trace_state *ret, const char **ret_function)
{
	_cleanup_(freep) char *class = NULL;
	const char *in;

	*ret = STATE_RUNNING;
	*ret_function = strcmp(part, "other") != 0 && strcmp(part, "body") != 0 ? part : NULL;
	if (!starts_with(part, "wait:"))
		return true;
	part += strlen("wait:");
	in = strstr(part, " in ");
	*ret_function = in && in[strlen(" in ")] ? in + strlen(" in ") : NULL;
	class = xstrndup(part, in ? (size_t)(in - part) : strlen(part));
	return trace_state_parse(class, ret);
}

static int read_row(struct table *t, char **fields, int cnt, struct diag *reterr)
{
	struct row row = { .order = t->rows.cnt };
	const char *number, *function;
	enum trace_state state;
	char *end;

	for (int k = 0; k < 3; k++)
		if (t->columns[k] >= cnt)
			return wrong(t, "a field is missing", reterr);
	number = fields[t->columns[2]];
	errno = 0;
	row.ns = strtoll(number, &end, 10);
	if (*number < '0' || *number > '9' || *end || errno || row.ns > LATENCY_MAX)
		return wrong(t, "nanoseconds must be a whole number", reterr);
	if (!*fields[t->columns[0]] || !*fields[t->columns[1]])
		return wrong(t, "the interval, or the part, has no name", reterr);
	if (!state_of(fields[t->columns[1]], &state, &function))
		return wrong(t, "no class of waits has that name", reterr);
	t->wakeups += state == STATE_WAKEUP;
	row.interval = t->first_of_file + names_add(t->intervals, fields[t->columns[0]]);
	row.part = arena_strdup(t->arena, fields[t->columns[1]]);
	VEC_ADD(&t->rows, row);
	return 0;
}

static int read_lines(struct table *t, char *text, struct diag *reterr)
{
	char *fields[64], *next = text;
	bool has_head = false;
	int e = 0;

	t->line = 0;
	t->separator = ',';
	while (e == 0 && next && *next) {
		char *line = next;
		size_t len = strcspn(line, "\n");
		int cnt;

		next = line[len] ? line + len + 1 : NULL;
		line[len] = '\0';
		if (len && line[len - 1] == '\r')
			line[len - 1] = '\0';
		t->line++;
		if (!*line)
			continue;
		if (!has_head)
			t->separator = strchr(line, ',') ? ',' : strchr(line, ';') ? ';' : strchr(line, '\t') ? '\t' : ',';
		cnt = split(line, t->separator, fields, (int)ARRAY_SIZE(fields));
		if (cnt < 0)
			return wrong(t, "a quoted field does not end in its line, or there are more than 64 fields", reterr);
		e = has_head ? read_row(t, fields, cnt, reterr) : read_head(t, fields, cnt, reterr);
		has_head = true;
	}
	if (e == 0 && !has_head) {
		t->line = 1;
		e = wrong(t, "the file is empty", reterr);
	}
	return e;
}

static int by_interval(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;

	if (a->interval != b->interval)
		return a->interval < b->interval ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static void add_part(struct trace *t, struct map *functions, uint64_t tid, uint64_t sid, const struct row *r, int64_t at_ns)
{
	const char *function;
	enum trace_state state;

	state_of(r->part, &state, &function);
	if (r->ns == 0)
		return;
	VEC_ADD(&t->segments, (struct segment){ .tid = tid, .sid = sid, .start_ns = at_ns, .end_ns = at_ns + r->ns,
						.state = state == STATE_WAKEUP ? STATE_RUNNABLE : state });
	if (function)
		VEC_ADD(&t->invocations, (struct invocation){
			.tid = tid, .sid = sid, .function = spans_function(t, functions, function), .call_site = CALL_SITE_NONE,
			.start_ns = at_ns, .end_ns = at_ns + r->ns, .order = (uint32_t)t->invocations.cnt });
}

/* Puts all intervals on one thread, one after the other. */
static int make_trace(struct table *t, struct trace **ret, struct diag *reterr)
{
	_cleanup_(trace_freep) struct trace *made = trace_new();
	_cleanup_(map_freep) struct map *functions = map_new();
	int64_t at_ns = 1;

	if (t->rows.cnt > 1)
		qsort(t->rows.items, t->rows.cnt, sizeof(*t->rows.items), by_interval);
	for (size_t i = 0, end; i < t->rows.cnt; i = end) {
		int64_t start_ns = at_ns;
		uint64_t sid = made->intervals.cnt + 1;

		for (end = i; end < t->rows.cnt && t->rows.items[end].interval == t->rows.items[i].interval; end++) {
			if (t->rows.items[end].ns > LATENCY_MAX - at_ns)
				return diag_set(reterr, EXIT_DATA, -EBADMSG, "%s: the times together are longer than 36 years", t->path);
			add_part(made, functions, 1, sid, &t->rows.items[end], at_ns);
			at_ns += t->rows.items[end].ns;
		}
		spans_add_interval(made, import_interval ? import_interval : "interval", 1, start_ns, at_ns);
		at_ns++;
	}
	if (made->intervals.cnt == 0)
		return diag_set(reterr, EXIT_NO_EVIDENCE, -ENODATA, "%s: no line has an interval", t->path);
	note_line("found %zu intervals with %zu parts, %zu of them functions", made->intervals.cnt, t->rows.cnt, made->functions.cnt);
	note_line("views that work: summary, variance-tree, factors, causes, tail and execution-table; the file has neither the order of the "
		  "parts nor their wakers");
	if (t->wakeups)
		note_line("parts 'wait:wakeup' are stored as 'wait:runnable': %" PRIu64, t->wakeups);
	*ret = TAKE_PTR(made);
	return 0;
}

static int read_csv(const char *const *paths, size_t cnt, struct trace **ret, struct diag *reterr)
{
	struct table t = { .arena = arena_new() };
	int e = 0;

	if (import_start || import_end)
		e = diag_set(reterr, EXIT_USAGE, -EINVAL, "import: a csv has its intervals in a column, so it takes no --start and --end");
	for (size_t i = 0; e == 0 && i < cnt; i++) {
		_cleanup_(freep) char *text = NULL;
		size_t len;

		t.path = paths[i];
		e = spans_read_file(paths[i], &text, &len, reterr);
		if (e == 0 && strlen(text) != len)
			e = diag_set(reterr, EXIT_DATA, -EBADMSG, "%s:1: the file contains a zero byte, so it is not text", paths[i]);
		t.intervals = names_new();
		if (e == 0)
			e = read_lines(&t, text, reterr);
		t.first_of_file += names_cnt(t.intervals);
		names_free(t.intervals);
	}
	if (e == 0)
		e = make_trace(&t, ret, reterr);
	VEC_RELEASE(&t.rows);
	arena_free(t.arena);
	return e;
}

const struct import_format import_csv = {
	.name = "csv", .help = "columns interval,part,nanoseconds", .read = read_csv,
	.options = import_span_options, .has_options = import_span_options_given,
	.example = "vprof import --from csv --interval request FILE",
};
