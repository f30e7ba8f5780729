/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * window_digest.c - see window_digest.h.
 *
 * Intervals of other stretches are taken out of the list before the analysis counts them; what threads did for them stays.
 */
#include "project/digests/window_digest.h"

#include <errno.h>
#include "base/banned.h"
#include "base/file.h"
#include "project/digests/run_digest.h"
#include "project/runs/project.h"
#include "project/runs/run_parts.h"
#include "project/runs/run_windows.h"

struct stretch {
	const struct window_wanted *wanted;
	struct analyzer *analyzer;
	const struct trace *names;
	int64_t since_ns;
};

static void begin(void *arg, const struct trace *names)
{
	struct stretch *h = arg;

	analyzer_free(h->analyzer);
	h->analyzer = analyzer_new();
	analyzer_sum_up(h->analyzer, h->wanted->window_ns);
	h->names = names;
	h->since_ns = h->wanted->until_ns;
}

static bool is_wanted(const struct window_wanted *w, const struct interval *v)
{
	if (v->status == INTERVAL_OPEN)
		return w->until_ns == INT64_MAX;
	return v->end_ns >= w->from_ns && v->end_ns < w->until_ns;
}

static bool goes_on(const struct window_wanted *w, const struct interval *v)
{
	return v->status == INTERVAL_OPEN || v->end_ns >= w->until_ns;
}

static void take_window(void *arg, const struct trace_window *w)
{
	struct stretch *h = arg;
	struct trace *t = w->t;
	size_t cnt = 0;

	for (size_t i = 0; i < t->intervals.cnt; i++) {
		const struct interval *v = &t->intervals.items[i];

		if (goes_on(h->wanted, v) && v->start_ns < h->since_ns)
			h->since_ns = v->start_ns;
		if (is_wanted(h->wanted, v))
			t->intervals.items[cnt++] = *v;
	}
	t->intervals.cnt = cnt;
	analyzer_add(h->analyzer, &(struct analysis_window){ t, w->before_ns, w->until_ns });
}

/*
 * Counts of a name stand in its last window, and those of the trace in every name's: what was lost in this stretch only.  Where no
 * interval ended, only what was left out is counted, in a window of the whole stretch.
 */
static void settle_counts(struct summed *s, const struct window_wanted *w)
{
	for (size_t i = 0; i < s->windows.cnt; i++) {
		struct summed_window *v = &s->windows.items[i];
		bool is_last = i + 1 == s->windows.cnt || v[1].root != v->root;

		if (v->from_ns == INT64_MIN && v->until_ns == INT64_MAX && w->until_ns != INT64_MAX) {
			v->from_ns = w->until_ns - w->window_ns;
			v->until_ns = w->until_ns;
		}
		if (w->lost_records != WINDOW_LOST_OF_TRACE)
			v->counts.lost_records = is_last ? w->lost_records : 0;
		else
			v->counts.lost_records -= v->counts.lost_records < w->lost_before ? v->counts.lost_records : w->lost_before;
	}
}

int window_digest_read(struct store *s, const struct run *r, const struct window_wanted *wanted, struct summed **ret,
		       int64_t *ret_since_ns, struct diag *reterr)
{
	_cleanup_(arena_freep) struct arena *arena = arena_new();
	_cleanup_(run_windows_freep) struct run_windows *windows = NULL;
	_cleanup_(freep) char *dir = run_dir(s, r->number), *own = path_join(dir, "trace.vpt");
	const struct run_part part = { .run = r->number, .path = (char *)wanted->trace }, recorded = { .run = r->number, .path = own };
	struct stretch h = { .wanted = wanted, .since_ns = wanted->until_ns };
	struct summed_source source;
	int e = run_windows_read_part(s, &part, 1, &(struct window_taker){ .begin = begin, .take = take_window, .arg = &h }, &windows, reterr);

	if (e == 0) {
		run_part_source(s, r, &recorded, arena, &source);
		e = analyzer_summed(h.analyzer, h.names, &source, ret);
		if (e < 0)
			diag_set(reterr, EXIT_USAGE, e, "more than %d windows", SUMMED_WINDOWS_MAX);
	}
	analyzer_free(h.analyzer);
	if (e == 0)
		settle_counts(*ret, wanted);
	*ret_since_ns = h.since_ns;
	return e;
}
