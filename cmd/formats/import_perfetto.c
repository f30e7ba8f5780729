/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_perfetto.c - `vprof import --from perfetto`: protocol buffers, as Perfetto's SDK, tracebox, Android and Chrome write them.
 *
 * Each track counts as a thread: its slices are spans that nest.
 */
#include <errno.h>
#include <inttypes.h>

#include "base/banned.h"
#include "cmd/formats/import_format.h"
#include "cmd/formats/spans/perfetto_own.h"
#include "cmd/formats/spans/perfetto_read.h"
#include "cmd/formats/spans/spans.h"
#include "cmd/messages.h"

static uint64_t thread_of(const struct perfetto *p, const struct perfetto_event *v)
{
	const struct perfetto_track *track = v->is_async ? NULL : perfetto_track(p, v->track);

	if (track && track->is_thread)
		return (uint64_t)track->pid << 32 | track->tid;
	return (hash_u64(v->is_async ? 2 : 1, v->track) & INT64_MAX) | 1;
}

static const char *name_of(const struct perfetto_event *v)
{
	return v->name && *v->name ? v->name : v->category && *v->category ? v->category : "(no name)";
}

static void add_spans(struct spans *s, const struct perfetto *p, const char *path)
{
	uint64_t no_time = 0;

	for (size_t i = 0; i < p->events.cnt; i++) {
		const struct perfetto_event *v = &p->events.items[i];
		int64_t ns;

		if (v->phase == PERFETTO_INSTANT)
			continue;
		if (!perfetto_clocks_convert(p->clocks, v->time, &ns) || v->duration_ns >= PERFETTO_NS_MAX - ns) {
			no_time++;
			continue;
		}
		if (v->phase == PERFETTO_WHOLE)
			spans_add(s, name_of(v), thread_of(p, v), ns, ns + v->duration_ns);
		else
			spans_mark(s, v->phase == PERFETTO_BEGIN ? name_of(v) : v->name, thread_of(p, v), ns, v->phase == PERFETTO_END);
	}
	if (no_time)
		warn_line("%s: %" PRIu64 " events are left out: no snapshot of clocks relates theirs to that of the others", path, no_time);
	if (p->incomplete)
		warn_line("%s: %" PRIu64 " packets are left out: what they refer to was lost when the tracer's buffer was full", path, p->incomplete);
}

/* One file of our own export, if no other intervals are asked for, gives *ret: the same intervals, calls, waits and wake-ups. */
static int read_file(struct spans *s, const char *path, bool may_be_own, struct trace **ret, struct diag *reterr)
{
	_cleanup_(perfetto_freep) struct perfetto *p = NULL;
	_cleanup_(freep) char *data = NULL;
	size_t len;
	int e = spans_read_file(path, &data, &len, reterr);

	if (e < 0)
		return e;
	p = perfetto_read(path, data, len, reterr);
	if (!p)
		return -EBADMSG;
	if (may_be_own && p->is_own)
		return perfetto_own_read(p, path, ret, reterr);
	add_spans(s, p, path);
	return 0;
}

static int read_perfetto(const char *const *paths, size_t cnt, struct trace **ret, struct diag *reterr)
{
	struct spans s;
	int e = 0;

	spans_init(&s);
	for (size_t i = 0; e == 0 && i < cnt; i++)
		e = read_file(&s, paths[i], cnt == 1 && !import_span_options_given(), ret, reterr);
	if (e == 0 && !*ret) {
		spans_match(&s);
		e = spans_to_trace(&s, ret, reterr);
	}
	spans_release(&s);
	return e;
}

const struct import_format import_perfetto = {
	.name = "perfetto", .help = "protocol buffers of Perfetto's SDK, of Android and Chrome", .read = read_perfetto,
	.options = import_span_options, .has_options = import_span_options_given,
	.example = "vprof import --from perfetto --interval NAME FILE",
};
