/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tuples_write.c - a trace as text, in an order that depends on its content only.
 *
 * The text form has no lines of functions, call sites of the static call graph, or processes of threads;
 * these are left out.  Two functions of one name are written as "FILE:NAME".  An interval that lost records
 * is written as aborted, for that is how it counts.  A name is escaped where it would not be read back as one
 * field: "operator new" -> "operator%20new".
 */
#include "trace/tuples/tuples.h"
#include "trace/tuples/tuples_ids.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "base/map.h"
#include "base/str.h"
#include "base/banned.h"

struct writer {
	FILE *out;
	const struct trace *t;
	char **functions;		/* as written, escaped */
};

static void name_functions(struct writer *w);
static void write_intervals(const struct writer *w);
static void write_timelines(const struct writer *w);
static void write_edges(const struct writer *w);
static void write_rest(const struct writer *w);
static void write_threads(const struct writer *w);
static void write_orders(const struct writer *w);
static void write_name(FILE *out, const char *name);

/* The arrays are written as they stand; unsorted ones are sorted in a copy first. */
static struct trace *sorted_copy(const struct trace *t)
{
	struct trace *copy = xcalloc(1, sizeof(*copy));

	*copy = *t;
#define COPY(field)									\
	do {										\
		size_t bytes = t->field.cnt * sizeof(*t->field.items);			\
		copy->field.items = xmalloc(bytes ? bytes : 1);				\
		if (bytes)								\
			memcpy(copy->field.items, t->field.items, bytes);		\
	} while (0)
	COPY(intervals);
	COPY(segments);
	COPY(invocations);
	COPY(wakeups);
	COPY(creations);
	COPY(calls);
	COPY(works);
	COPY(ids);
	COPY(remote_calls);
	COPY(threads);
	COPY(false_wakeups);
	COPY(stack_spans);
	COPY(sync_ops);
#undef COPY
	trace_sort(copy);
	return copy;
}

/* Strings, functions and their arena stay with the original. */
static void sorted_copy_free(struct trace *copy)
{
	free(copy->intervals.items);
	free(copy->segments.items);
	free(copy->invocations.items);
	free(copy->wakeups.items);
	free(copy->creations.items);
	free(copy->calls.items);
	free(copy->works.items);
	free(copy->ids.items);
	free(copy->remote_calls.items);
	free(copy->threads.items);
	free(copy->false_wakeups.items);
	free(copy->stack_spans.items);
	free(copy->sync_ops.items);
	free(copy);
}

/* The functions of the interval are missing, which tuples cannot express. */
static bool is_left_out(const struct interval *iv)
{
	return iv->root_only && iv->status == INTERVAL_COMPLETED && !iv->lost;
}

/* Only completed intervals are written with a weight. */
static bool is_weighted(const struct interval *iv)
{
	return iv->status == INTERVAL_COMPLETED && !iv->lost && !is_left_out(iv) && interval_weight(iv) > 1;
}

int tuples_write(FILE *out, const struct trace *t)
{
	struct trace *copy = sorted_copy(t);
	struct writer w = { .out = out, .t = copy };

	name_functions(&w);
	fputs("vprof-tuples 1\n", out);
	write_intervals(&w);
	write_timelines(&w);
	write_edges(&w);
	write_rest(&w);
	write_threads(&w);
	write_orders(&w);
	tuples_write_ids(out, copy);
	if (t->host && (t->ids.cnt || t->remote_calls.cnt)) {	/* it matters only to those who put a request's parts together */
		fputs("host ", out);
		write_name(out, t->host);
		fputc('\n', out);
	}
	for (size_t i = 0; i < t->functions.cnt; i++)
		free(w.functions[i]);
	free(w.functions);
	sorted_copy_free(copy);
	if (fflush(out) != 0 || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}

static void escape(struct str *s, const char *name, bool at_too)
{
	for (const char *p = name; *p; p++) {
		unsigned char c = (unsigned char)*p;
		bool special = c <= ' ' || c == 0x7f || c == '%' || (c == '#' && p == name) ||
			       (c == '@' && at_too);

		if (special || strcmp(name, "-") == 0)
			str_addf(s, "%%%02X", c);
		else
			str_addc(s, (char)c);
	}
}

static void write_name(FILE *out, const char *name)
{
	_cleanup_(str_release) struct str s = STR_INIT;

	escape(&s, name, false);
	fputs(str_cstr(&s), out);
}

static void name_functions(struct writer *w)
{
	_cleanup_(names_freep) struct names *seen = names_new();
	size_t cnt = w->t->functions.cnt;
	_cleanup_(freep) uint32_t *uses = xcalloc(cnt + 1, sizeof(*uses));

	w->functions = xcalloc(cnt + 1, sizeof(*w->functions));
	for (size_t i = 0; i < cnt; i++)
		uses[names_add(seen, w->t->functions.items[i].name)]++;
	for (size_t i = 0; i < cnt; i++) {
		const struct function *f = &w->t->functions.items[i];
		_cleanup_(str_release) struct str s = STR_INIT;

		if (f->file && uses[names_find(seen, f->name)] > 1) {
			escape(&s, f->file, true);
			str_addc(&s, ':');
		}
		escape(&s, f->name, true);
		w->functions[i] = str_take(&s);
	}
}

size_t tuples_left_out(const struct trace *t)
{
	size_t cnt = 0;

	for (size_t i = 0; i < t->intervals.cnt; i++)
		cnt += is_left_out(&t->intervals.items[i]);
	return cnt;
}

static void write_intervals(const struct writer *w)
{
	size_t left_out = tuples_left_out(w->t);

	if (left_out)
		fprintf(w->out, "# %zu completed intervals of which no functions were recorded "
			"(record --sample) are left out\n", left_out);
	for (size_t i = 0; i < w->t->intervals.cnt; i++) {
		const struct interval *iv = &w->t->intervals.items[i];
		bool aborted = iv->status == INTERVAL_ABORTED || iv->lost;

		if (is_left_out(iv))
			continue;
		fprintf(w->out, "interval %" PRIu64 " ", iv->sid);
		write_name(w->out, w->t->interval_names.items[iv->name]);
		fprintf(w->out, " %" PRIu64 " %" PRId64, iv->start_tid, iv->start_ns);
		/* An aborted interval may have an end or not; an end before the start is none. */
		if (iv->status == INTERVAL_OPEN || iv->end_ns < iv->start_ns)
			fputs(" - -", w->out);
		else
			fprintf(w->out, " %" PRIu64 " %" PRId64, iv->end_tid, iv->end_ns);
		if (is_weighted(iv))
			fprintf(w->out, " completed %" PRIu32, iv->weight);
		fputs(aborted ? " aborted\n" : "\n", w->out);
	}
}

static void write_sid(FILE *out, uint64_t sid)
{
	if (sid == SID_NONE)
		fputs(" -", out);
	else
		fprintf(out, " %" PRIu64, sid);
}

static void write_timelines(const struct writer *w)
{
	for (size_t i = 0; i < w->t->segments.cnt; i++) {
		const struct segment *s = &w->t->segments.items[i];

		fprintf(w->out, "segment %" PRIu64, s->tid);
		write_sid(w->out, s->sid);
		fprintf(w->out, " %" PRId64 " %" PRId64 " %s\n", s->start_ns, s->end_ns,
			trace_state_name(s->state));
	}
	for (size_t i = 0; i < w->t->invocations.cnt; i++) {
		const struct invocation *inv = &w->t->invocations.items[i];

		fprintf(w->out, "invocation %" PRIu64, inv->tid);
		write_sid(w->out, inv->sid);
		fprintf(w->out, " %s", w->functions[inv->function]);
		if (inv->call_site != CALL_SITE_NONE) {
			fputc('@', w->out);
			write_name(w->out, w->t->call_sites.items[inv->call_site]);
		}
		fprintf(w->out, " %" PRId64 " %" PRId64 "\n", inv->start_ns, inv->end_ns);
	}
}

static void write_edges(const struct writer *w)
{
	for (size_t i = 0; i < w->t->wakeups.cnt; i++) {
		const struct wakeup *k = &w->t->wakeups.items[i];

		fprintf(w->out, "wakeup %" PRIu64 " %" PRIu64 " %" PRId64 "\n", k->tid, k->waker_tid,
			k->time_ns);
	}
	for (size_t i = 0; i < w->t->creations.cnt; i++) {
		const struct creation *c = &w->t->creations.items[i];

		fprintf(w->out, "creation %" PRIu64 " %" PRId64 " %" PRIu64 " %" PRId64, c->tid,
			c->time_ns, c->tid2, c->time2_ns);
		if (c->task != NAME_NONE) {
			fputc(' ', w->out);
			write_name(w->out, w->t->task_names.items[c->task]);
		}
		fputc('\n', w->out);
	}
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* By name, not by number: numbers depend on the order in which a file was read. */
static void write_rest(const struct writer *w)
{
	VEC(char *) lines = { NULL, 0, 0 };

	for (size_t i = 0; i < w->t->calls.cnt; i++) {
		const struct call *c = &w->t->calls.items[i];

		if (w->t->functions.items[c->callee].left_out)
			continue;

		VEC_ADD(&lines, xasprintf("call %s %s\n", w->functions[c->caller],
					  w->functions[c->callee]));
	}
	if (lines.cnt > 1)
		qsort(lines.items, lines.cnt, sizeof(*lines.items), compare_lines);
	for (size_t i = 0; i < lines.cnt; i++)
		if (i == 0 || strcmp(lines.items[i], lines.items[i - 1]) != 0)
			fputs(lines.items[i], w->out);
	for (size_t i = 0; i < lines.cnt; i++)
		free(lines.items[i]);
	VEC_RELEASE(&lines);
	for (size_t i = 0; i < w->t->works.cnt; i++) {
		const struct work *work = &w->t->works.items[i];

		fprintf(w->out, "work %" PRIu64 " ", work->sid);
		write_name(w->out, w->t->work_names.items[work->name]);
		fprintf(w->out, " %" PRId64 "\n", work->value);
	}
}

/* Writes the threads that have more than a number.  Whether a thread's end is open only matters if its
 * creator is known; both arrays are in order of TID. */
static void write_threads(const struct writer *w)
{
	size_t made = 0;

	for (size_t i = 0; i < w->t->threads.cnt; i++) {
		const struct thread_name *t = &w->t->threads.items[i];
		bool named = t->name && *t->name, open;

		while (made < w->t->creations.cnt && w->t->creations.items[made].tid2 < t->tid)
			made++;
		open = t->open_end && made < w->t->creations.cnt &&
		       w->t->creations.items[made].tid2 == t->tid;
		if (!named && t->kind == KIND_THREAD && !open)
			continue;
		fprintf(w->out, "thread %" PRIu64 " %s", t->tid, thread_kind_name(t->kind));
		if (named) {
			fputc(' ', w->out);
			write_name(w->out, t->name);
		}
		fputs(!open ? "\n" : named ? " open\n" : " - open\n", w->out);
	}
	for (size_t i = 0; i < w->t->false_wakeups.cnt; i++)
		fprintf(w->out, "false-wakeup %" PRIu64 " %" PRId64 "\n",
			w->t->false_wakeups.items[i].tid, w->t->false_wakeups.items[i].time_ns);
	for (size_t i = 0; i < w->t->stack_spans.cnt; i++) {
		const struct stack_span *s = &w->t->stack_spans.items[i];

		fprintf(w->out, "stack %" PRIu64 " %" PRId64 " %" PRId64 " %s\n", s->tid, s->start_ns,
			s->end_ns, w->t->call_stacks.items[s->stack]);
	}
}

static void write_orders(const struct writer *w)
{
	for (size_t i = 0; i < w->t->sync_ops.cnt; i++) {
		const struct sync_op *op = &w->t->sync_ops.items[i];

		fprintf(w->out, "order %" PRIu64 " %" PRId64 " ", op->tid, op->ns);
		write_name(w->out, w->t->sync_objects.items[op->object]);
		fprintf(w->out, " %s", sync_kind_name(op->kind));
		if (op->since_ns < op->ns)
			fprintf(w->out, " %" PRId64, op->since_ns);
		fputc('\n', w->out);
	}
}
