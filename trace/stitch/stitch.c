/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stitch.c - the runs of several hosts as one: join.c, clock.c, explain.c, write.c, one after the other.
 */
#include "trace/stitch/stitch.h"

#include <string.h>
#include "base/banned.h"
#include "base/saturate.h"
#include "base/search.h"
#include "trace/merge/merge.h"
#include "trace/stitch/stitching.h"

/* FUNCTION@HOST, so that functions of two hosts stay apart. */
static void name_functions(struct trace *t, const char *host)
{
	for (size_t i = 0; i < t->functions.cnt; i++) {
		_cleanup_(freep) char *name = xasprintf("%s@%s", t->functions.items[i].name, host);

		t->functions.items[i].name = arena_strdup(t->arena, name);
	}
}

static void note_run(struct map *runs, uint64_t number, size_t run)
{
	uint64_t *slot = map_slot(runs, number);

	*slot = *slot ? *slot : run + 1;
}

/* The end of the wait that the thread was woken from; ns if there is none. */
static int64_t end_of_wait(const struct trace *t, uint64_t tid, int64_t ns)
{
	const struct segment *g = t->segments.items;
	size_t at = partition_point(i, t->segments.cnt, g[i].tid < tid || (g[i].tid == tid && g[i].end_ns < ns));

	return at < t->segments.cnt && g[at].tid == tid && g[at].start_ns < ns && g[at].state == STATE_IO ? g[at].end_ns : ns;
}

/*
 * When a peer's answer came is an estimate, unless the kernel recorded it (trace/read/off_cpu_wake.c), and an estimate bounds no clock.  It
 * came before the wait's end.
 */
static void forget_estimates(struct trace *t)
{
	_cleanup_(map_freep) struct map *peers = map_new();
	size_t cnt = 0;
	uint64_t unused;

	if (t->cpu_use.kernel_knows && !t->kernel_reduced)
		return;
	for (size_t i = 0; i < t->threads.cnt; i++)
		if (t->threads.items[i].kind == KIND_PEER)
			map_set(peers, t->threads.items[i].tid, 1);
	for (size_t i = 0; i < t->wakeups.cnt; i++) {
		struct wakeup w = t->wakeups.items[i];

		if (w.waker_tid == TID_NOBODY)
			continue;
		if (map_get(peers, w.waker_tid, &unused))
			w.time_ns = end_of_wait(t, w.tid, w.time_ns);
		t->wakeups.items[cnt++] = w;
	}
	t->wakeups.cnt = cnt;
}

/* traces_merge() has put the parts' arrays one behind the other. */
static void note_runs(struct stitching *s, struct trace *const *parts)
{
	size_t interval = 0, segment = 0, wakeup = 0, creation = 0, call = 0, thread = 0;
	const struct trace *t = s->t;

	for (size_t run = 0; run < s->run_cnt; run++) {
		const struct trace *p = parts[run];

		for (size_t end = interval + p->intervals.cnt; interval < end; interval++) {
			note_run(s->run_of_sid, t->intervals.items[interval].sid, run);
			note_run(s->run_of_tid, t->intervals.items[interval].start_tid, run);
		}
		for (size_t end = segment + p->segments.cnt; segment < end; segment++)
			note_run(s->run_of_tid, t->segments.items[segment].tid, run);
		for (size_t end = wakeup + p->wakeups.cnt; wakeup < end; wakeup++)
			note_run(s->run_of_tid, t->wakeups.items[wakeup].tid, run);
		for (size_t end = creation + p->creations.cnt; creation < end; creation++)
			note_run(s->run_of_tid, t->creations.items[creation].tid2, run);
		for (size_t end = call + p->invocations.cnt; call < end; call++)
			note_run(s->run_of_tid, t->invocations.items[call].tid, run);
		for (size_t end = thread + p->threads.cnt; thread < end; thread++)
			note_run(s->run_of_tid, t->threads.items[thread].tid, run);
	}
}

/* Where a wait does not end within the call around it, or the times of a run were stretched by a drift, a part may cross what is around
 * it by a little: it is cut there, as spans of a thread nest and its segments do not overlap. */
static void settle_segments(struct trace *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->segments.cnt; i++) {
		struct segment g = t->segments.items[i];

		if (kept && t->segments.items[kept - 1].tid == g.tid && t->segments.items[kept - 1].end_ns > g.start_ns)
			g.start_ns = t->segments.items[kept - 1].end_ns;
		if (g.start_ns < g.end_ns)
			t->segments.items[kept++] = g;
	}
	t->segments.cnt = kept;
}

static void settle_calls(struct trace *t)
{
	VEC(int64_t) ends = { NULL, 0, 0 };

	for (size_t i = 0; i < t->invocations.cnt; i++) {
		struct invocation v = t->invocations.items[i];

		if (!i || t->invocations.items[i - 1].tid != v.tid)
			ends.cnt = 0;
		while (ends.cnt && ends.items[ends.cnt - 1] <= v.start_ns)
			ends.cnt--;
		if (ends.cnt && ends.items[ends.cnt - 1] < v.end_ns)
			v.end_ns = ends.items[ends.cnt - 1];
		VEC_ADD(&ends, v.end_ns);
		t->invocations.items[i].end_ns = v.end_ns;
	}
	VEC_RELEASE(&ends);
}

/* No time is before 0. */
static void begin_at_zero(struct trace *t)
{
	int64_t first_ns = 0;

	for (size_t i = 0; i < t->segments.cnt; i++)
		first_ns = t->segments.items[i].start_ns < first_ns ? t->segments.items[i].start_ns : first_ns;
	for (size_t i = 0; i < t->invocations.cnt; i++)
		first_ns = t->invocations.items[i].start_ns < first_ns ? t->invocations.items[i].start_ns : first_ns;
	for (size_t i = 0; i < t->intervals.cnt; i++)
		first_ns = t->intervals.items[i].start_ns < first_ns ? t->intervals.items[i].start_ns : first_ns;
	for (size_t i = 0; i < t->wakeups.cnt; i++)
		first_ns = t->wakeups.items[i].time_ns < first_ns ? t->wakeups.items[i].time_ns : first_ns;
	for (size_t i = 0; i < t->creations.cnt; i++)
		for (unsigned k = 0; k < 2; k++) {
			int64_t ns = k ? t->creations.items[i].time2_ns : t->creations.items[i].time_ns;

			first_ns = ns < first_ns ? ns : first_ns;
		}
	for (size_t i = 0; i < t->false_wakeups.cnt; i++)
		first_ns = t->false_wakeups.items[i].time_ns < first_ns ? t->false_wakeups.items[i].time_ns : first_ns;
#define LATER(v, field)									\
	for (size_t i = 0; i < (v).cnt; i++)						\
		(v).items[i].field = narrow_saturated((__int128)(v).items[i].field - first_ns)
	if (first_ns == 0)
		return;
	LATER(t->segments, start_ns);
	LATER(t->segments, end_ns);
	LATER(t->invocations, start_ns);
	LATER(t->invocations, end_ns);
	LATER(t->intervals, start_ns);
	for (size_t i = 0; i < t->intervals.cnt; i++)
		if (t->intervals.items[i].end_ns != INT64_MIN)
			t->intervals.items[i].end_ns = narrow_saturated((__int128)t->intervals.items[i].end_ns - first_ns);
	LATER(t->wakeups, time_ns);
	LATER(t->false_wakeups, time_ns);
	LATER(t->creations, time_ns);
	LATER(t->creations, time2_ns);
#undef LATER
}

static void release(struct stitching *s)
{
	trace_free(s->t);
	map_free(s->run_of_tid);
	map_free(s->run_of_sid);
	map_free(s->interval_of);
	map_free(s->remote_of);
	map_free(s->explained_of);
	VEC_RELEASE(&s->waits);
	VEC_RELEASE(&s->remotes);
	VEC_RELEASE(&s->explained);
	for (size_t i = 0; i < s->lines.cnt; i++)
		VEC_RELEASE(&s->lines.items[i].knots);
	VEC_RELEASE(&s->lines);
	free(s->clocks);
	free(s->frame);
	trace_free(s->out);
}

struct trace *stitch(struct trace *const *parts, const char *const *hosts, size_t cnt, struct stitched *ret)
{
	struct stitching s = {
		.run_cnt = cnt, .hosts = hosts, .run_of_tid = map_new(), .run_of_sid = map_new(), .interval_of = map_new(),
		.remote_of = map_new(), .explained_of = map_new(), .clocks = xcalloc(cnt + 1, sizeof(*s.clocks)), .ret = ret,
	};
	struct trace *made = NULL;

	*ret = (struct stitched){ .joined = 0 };
	for (size_t run = 0; run < cnt; run++) {
		name_functions(parts[run], hosts[run]);
		forget_estimates(parts[run]);
	}
	s.t = traces_merge(parts, cnt);
	note_runs(&s, parts);
	trace_sort(s.t);
	for (size_t i = 0; i < s.t->intervals.cnt; i++)
		map_set(s.interval_of, s.t->intervals.items[i].sid, i + 1);
	stitch_join(&s);
	stitch_clocks(&s);
	stitch_explain(&s);
	if (ret->joined) {
		s.out = trace_new();
		stitch_write(&s);
		trace_sort(s.out);
		settle_segments(s.out);
		settle_calls(s.out);
		begin_at_zero(s.out);
		made = TAKE_PTR(s.out);
	}
	release(&s);
	return made;
}
