/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_otlp.c - `vprof export --format otlp`: OpenTelemetry's TracesData as JSON, one interval per line.
 *
 * There are spans for the interval, its calls and its waits.  A wait links to the waker's span if the export has it.  Times are
 * wall clock times derived from the run's start: their order and lengths are exact, the date is off by up to some ms.
 *
 * An interval with ids (trace/model.h) has these, and a call of another service is a span of kind client under the id that the other
 * side has as its parent: viewers put the exports of several hosts together.  In a stitched run each host is a resource of its own.
 */
#include <inttypes.h>
#include <string.h>

#include "base/banned.h"
#include "base/map.h"
#include "base/saturate.h"
#include "base/search.h"
#include "cmd/formats/export_format.h"
#include "cmd/formats/pieces/slices.h"
#include "report/output.h"

enum { SPAN_INTERNAL = 1, SPAN_SERVER = 2, SPAN_CLIENT = 3 };	/* OpenTelemetry's kinds */

struct writer {
	FILE *out;
	const struct export_input *in;
	const slices *slices;
	int64_t to_wall_ns;		/* from CLOCK_MONOTONIC */
	bool is_stitched;		/* vprof stitch made the run */
	const char *before;		/* the next span: "" or "," */
};

static const struct interval_ids *ids_of(const struct writer *w, uint64_t sid)
{
	const struct trace *t = w->in->trace;
	size_t at = partition_point(i, t->ids.cnt, t->ids.items[i].sid < sid);

	return at < t->ids.cnt && t->ids.items[at].sid == sid ? &t->ids.items[at] : NULL;
}

/* Its own, if it has one; else it identifies the run and the interval.  All spans of an interval share it. */
static void put_trace_id(struct writer *w, uint64_t sid)
{
	const struct interval_ids *ids = ids_of(w, sid);
	uint64_t high = hash_u64(hash_u64(0, w->in->run->number), (uint64_t)w->in->run->started_ns), low = sid;

	if (ids && (ids->trace[0] | ids->trace[1])) {
		high = ids->trace[0];
		low = ids->trace[1];
	}
	fprintf(w->out, "\"traceId\":\"%016" PRIx64 "%016" PRIx64 "\"", high, low);
}

/* An interval's id is its own, or the hash of its number.  Never 0, which means none. */
static uint64_t interval_span(const struct writer *w, uint64_t sid)
{
	const struct interval_ids *ids = ids_of(w, sid);

	return ids && ids->span ? ids->span : hash_u64(1, sid) | UINT64_C(1) << 63;
}

/* A slice's id: with the trace's it is one of a kind, also beside those of other hosts. */
static uint64_t slice_span(const struct writer *w, size_t at)
{
	const struct interval_ids *ids = ids_of(w, w->slices->items[at].sid);

	return ids ? hash_u64(hash_u64(2, interval_span(w, ids->sid)), at) | UINT64_C(1) << 63 : at + 1;
}

static void put_times(struct writer *w, unsigned kind, int64_t start_ns, int64_t end_ns)
{
	fprintf(w->out, ",\"kind\":%u,\"startTimeUnixNano\":\"%" PRId64 "\",\"endTimeUnixNano\":\"%" PRId64 "\"",
		kind, narrow_saturated((__int128)start_ns + w->to_wall_ns), narrow_saturated((__int128)end_ns + w->to_wall_ns));
}

static void put_attribute(FILE *out, const char *before, const char *key, const char *text)
{
	fprintf(out, "%s{\"key\":\"%s\",\"value\":{\"stringValue\":", before, key);
	json_write_text(out, text);
	fputs("}}", out);
}

static void put_number(FILE *out, const char *key, uint64_t number)
{
	fprintf(out, ",{\"key\":\"%s\",\"value\":{\"intValue\":\"%" PRIu64 "\"}}", key, number);
}

static void put_link(struct writer *w, const struct slice *s)
{
	if (s->waker == SLICE_NONE)
		return;
	fputs(",\"links\":[{", w->out);
	put_trace_id(w, w->slices->items[s->waker].sid);
	fprintf(w->out, ",\"spanId\":\"%016" PRIx64 "\",\"attributes\":[", slice_span(w, s->waker));
	put_attribute(w->out, "", "vprof.link", "wakeup");
	fputs("]}]", w->out);
}

/* FUNCTION@HOST of a stitched run. */
static const char *host_at(const struct writer *w, const struct slice *s)
{
	const char *at = w->is_stitched && !s->is_wait ? strrchr(w->in->trace->functions.items[s->function].name, '@') : NULL;

	return at ? at + 1 : NULL;
}

/* A wait is of the host of the call around it. */
static const char *host_of(const struct writer *w, size_t at)
{
	const char *host = NULL;

	for (; !host && at != SLICE_NONE; at = w->slices->items[at].parent)
		host = host_at(w, &w->slices->items[at]);
	return host;
}

static void put_slice(struct writer *w, size_t at)
{
	const struct slice *s = &w->slices->items[at];
	const struct trace *t = w->in->trace;
	const struct function *f = s->is_wait ? NULL : &t->functions.items[s->function];
	const char *host = host_at(w, s), *whole = slice_name(t, s);
	_cleanup_(freep) char *name = host ? xstrndup(whole, (size_t)(host - 1 - whole)) : xstrdup(whole);

	fputs(w->before, w->out);
	w->before = ",";
	fputc('{', w->out);
	put_trace_id(w, s->sid);
	fprintf(w->out, ",\"spanId\":\"%016" PRIx64 "\",\"parentSpanId\":\"%016" PRIx64 "\",\"name\":", slice_span(w, at),
		s->parent == SLICE_NONE ? interval_span(w, s->sid) : slice_span(w, s->parent));
	json_write_text(w->out, name);
	put_times(w, SPAN_INTERNAL, s->start_ns, s->end_ns);
	fputs(",\"attributes\":[", w->out);
	put_attribute(w->out, "", s->is_wait ? "vprof.wait" : "code.function.name", s->is_wait ? trace_state_name(s->wait) : name);
	put_number(w->out, "thread.id", s->tid);
	if (f && f->file)
		put_attribute(w->out, ",", "code.file.path", f->file);
	if (f && f->line)
		put_number(w->out, "code.line.number", f->line);
	fputc(']', w->out);
	put_link(w, s);
	fputc('}', w->out);
}

/* A call of another service lasts until the first wait after it has ended. */
static void put_call(struct writer *w, const struct remote_call *c, uint64_t sid, uint64_t first, const size_t *next)
{
	int64_t end_ns = INT64_MAX;

	for (uint64_t at = first; at; at = next[at - 1]) {
		const struct slice *s = &w->slices->items[at - 1];

		if (s->tid == c->tid && s->is_wait && s->wait == STATE_IO && s->end_ns > c->time_ns && s->end_ns < end_ns)
			end_ns = s->end_ns;
	}
	fputs(",{", w->out);
	put_trace_id(w, sid);
	fprintf(w->out, ",\"spanId\":\"%016" PRIx64 "\",\"parentSpanId\":\"%016" PRIx64 "\",\"name\":\"call\"", c->span, interval_span(w, sid));
	put_times(w, SPAN_CLIENT, c->time_ns, end_ns == INT64_MAX ? c->time_ns : end_ns);
	fputc('}', w->out);
}

/* Those of one thread while it worked for the interval. */
static void put_calls_of(struct writer *w, uint64_t tid, int64_t from_ns, int64_t until_ns, uint64_t sid, uint64_t first, const size_t *next)
{
	const struct remote_call *c = w->in->trace->remote_calls.items;
	size_t cnt = w->in->trace->remote_calls.cnt;
	size_t at = partition_point(i, cnt, c[i].tid < tid || (c[i].tid == tid && c[i].time_ns < from_ns));

	for (; at < cnt && c[at].tid == tid && c[at].time_ns <= until_ns; at++)
		if (c[at].span)
			put_call(w, &c[at], sid, first, next);
}

/* On the threads that began and end it, and in the outermost slices of others. */
static void put_calls(struct writer *w, const struct interval_row *row, uint64_t first, const size_t *next)
{
	if (!w->in->trace->remote_calls.cnt)
		return;
	put_calls_of(w, row->start_tid, row->start_ns, row->end_ns, row->sid, first, next);
	if (row->end_tid != row->start_tid)
		put_calls_of(w, row->end_tid, row->start_ns, row->end_ns, row->sid, first, next);
	for (uint64_t at = first; at; at = next[at - 1]) {
		const struct slice *s = &w->slices->items[at - 1];

		if (s->parent == SLICE_NONE && s->tid != row->start_tid && s->tid != row->end_tid)
			put_calls_of(w, s->tid, s->start_ns, s->end_ns, row->sid, first, next);
	}
}

/* Links the slices of each interval into a list. */
static size_t *list_by_sid(const slices *list, struct map *first)
{
	size_t *next = xcalloc(list->cnt + 1, sizeof(*next));

	for (size_t i = list->cnt; i-- > 0; ) {
		uint64_t *slot = map_slot(first, list->items[i].sid);

		next[i] = *slot;		/* 0: end of the list; else the next + 1 */
		*slot = i + 1;
	}
	return next;
}

static void begin_resource(struct writer *w, const char *before, const char *host)
{
	fprintf(w->out, "%s{\"resource\":{\"attributes\":[", before);
	put_attribute(w->out, "", "service.name", w->is_stitched && host ? host : w->in->run->command ? w->in->run->command : "vprof");
	if (host)
		put_attribute(w->out, ",", "host.name", host);
	fputs("]},\"scopeSpans\":[{\"scope\":{\"name\":\"vprof\"},\"spans\":[", w->out);
}

static void put_root(struct writer *w, const struct interval_row *row)
{
	const struct interval_ids *ids = ids_of(w, row->sid);

	fputc('{', w->out);
	put_trace_id(w, row->sid);
	fprintf(w->out, ",\"spanId\":\"%016" PRIx64 "\",", interval_span(w, row->sid));
	if (ids && ids->parent)
		fprintf(w->out, "\"parentSpanId\":\"%016" PRIx64 "\",", ids->parent);
	fputs("\"name\":", w->out);
	json_write_text(w->out, w->in->findings->interval.name);
	put_times(w, ids ? SPAN_SERVER : SPAN_INTERNAL, row->start_ns, row->end_ns);
	fputs(",\"attributes\":[", w->out);
	put_attribute(w->out, "", "vprof.kind", "interval");
	put_number(w->out, "thread.id", row->start_tid);
	put_number(w->out, "vprof.sid", row->sid);
	fputs("]}", w->out);
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* The hosts of the interval's slices, in order; the first is the interval's. */
static void find_hosts(const struct writer *w, uint64_t first, const size_t *next, strings *ret)
{
	for (uint64_t at = first; at; at = next[at - 1]) {
		const char *host = host_of(w, at - 1);
		bool known = !host;

		for (size_t i = 0; i < ret->cnt; i++)
			known |= is_same(ret->items[i], host);
		if (!known)
			VEC_ADD(ret, host);
	}
	if (!ret->cnt)
		VEC_ADD(ret, w->in->trace->host);
}

static void put_interval(struct writer *w, const struct interval_row *row, uint64_t first, const size_t *next)
{
	strings hosts = { NULL, 0, 0 };

	find_hosts(w, first, next, &hosts);
	fputs("{\"resourceSpans\":[", w->out);
	for (size_t h = 0; h < hosts.cnt; h++) {
		begin_resource(w, h ? "," : "", hosts.items[h]);
		w->before = "";
		if (h == 0) {
			put_root(w, row);
			put_calls(w, row, first, next);
			w->before = ",";
		}
		for (uint64_t at = first; at; at = next[at - 1]) {
			const char *host = host_of(w, at - 1);

			if (!w->is_stitched || is_same(host, hosts.items[h]) || (!host && h == 0))
				put_slice(w, at - 1);
		}
		fputs("]}]}", w->out);
	}
	fputs("]}\n", w->out);
	VEC_RELEASE(&hosts);
}

/* Assumes that the first moment of the trace is the start of the run. */
static int64_t to_wall(const struct export_input *in)
{
	return in->first_ns == INT64_MAX ? 0 : narrow_saturated((__int128)in->run->started_ns - in->first_ns);
}

static int write_otlp(FILE *out, const struct export_input *in)
{
	_cleanup_(map_freep) struct map *first = map_new();
	slices list = { NULL, 0, 0 };
	struct writer w = { .out = out, .in = in, .slices = &list, .to_wall_ns = to_wall(in),
			    .is_stitched = in->run->source && strcmp(in->run->source, "stitch") == 0 };
	_cleanup_(freep) size_t *next = NULL;

	slices_read(in, false, &list);
	next = list_by_sid(&list, first);
	for (size_t i = 0; i < in->chosen_cnt; i++) {
		const struct interval_row *row = &in->findings->intervals.items[in->chosen[i]];
		uint64_t at = 0;

		map_get(first, row->sid, &at);
		put_interval(&w, row, at, next);
	}
	VEC_RELEASE(&list);
	return 0;
}

static const struct export_writer writer = { .takes_intervals = true, .write = write_otlp };

const struct export_format export_otlp = {
	.name = "otlp", .writer = &writer, .takes_interval = true,
	.options = export_intervals_options, .has_options = export_intervals_given,
};
