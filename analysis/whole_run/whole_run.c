/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * whole_run.c - the length of the run, its threads, and when a blocked thread was woken.
 *
 * A wait has two parts: blocked until its wake-up, and then runnable until it is on a processor again.  Example:
 * "lock [20,50]" with a wake-up at 45 is blocked for 25 and waits 5 for a processor.
 */
#include "analysis/whole_run/whole_run.h"

#include "base/banned.h"
#include "base/search.h"

struct span {
	int64_t start_ns, end_ns;
};

static void include(struct span *s, int64_t ns)
{
	if (ns < s->start_ns)
		s->start_ns = ns;
	if (ns > s->end_ns)
		s->end_ns = ns;
}

void whole_run_span(const struct trace *t, int64_t *ret_start_ns, int64_t *ret_end_ns)
{
	struct span s = { INT64_MAX, INT64_MIN };

	for (size_t i = 0; i < t->intervals.cnt; i++) {
		const struct interval *iv = &t->intervals.items[i];

		include(&s, iv->start_ns);
		if (iv->status != INTERVAL_OPEN && iv->end_ns >= iv->start_ns)
			include(&s, iv->end_ns);
	}
	for (size_t i = 0; i < t->segments.cnt; i++) {
		include(&s, t->segments.items[i].start_ns);
		include(&s, t->segments.items[i].end_ns);
	}
	for (size_t i = 0; i < t->invocations.cnt; i++) {
		include(&s, t->invocations.items[i].start_ns);
		include(&s, t->invocations.items[i].end_ns);
	}
	for (size_t i = 0; i < t->wakeups.cnt; i++)
		include(&s, t->wakeups.items[i].time_ns);
	for (size_t i = 0; i < t->creations.cnt; i++) {
		include(&s, t->creations.items[i].time_ns);
		include(&s, t->creations.items[i].time2_ns);
	}
	for (size_t i = 0; i < t->false_wakeups.cnt; i++)
		include(&s, t->false_wakeups.items[i].time_ns);
	*ret_start_ns = s.start_ns <= s.end_ns ? s.start_ns : 0;
	*ret_end_ns = s.start_ns <= s.end_ns ? s.end_ns : 0;
}

const struct thread_name *whole_run_thread(const struct trace *t, uint64_t tid)
{
	size_t at = partition_point(i, t->threads.cnt, t->threads.items[i].tid < tid);

	return at < t->threads.cnt && t->threads.items[at].tid == tid ? &t->threads.items[at] : NULL;
}

const char *whole_run_thread_name(const struct trace *t, uint64_t tid)
{
	const struct thread_name *n = whole_run_thread(t, tid);

	return n && n->name && *n->name ? n->name : NULL;
}

int64_t whole_run_woken(const struct timeline *tl, uint32_t thread, const struct segment *s)
{
	const struct wakeup *w = NULL;

	if (state_has_waker(s->state))
		w = timeline_wakeup(tl, thread, s->start_ns, s->end_ns);
	return w ? w->time_ns : s->end_ns;
}
