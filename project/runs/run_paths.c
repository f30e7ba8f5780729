/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run_paths.c - see run_paths.h. */
#include "project/runs/run_paths.h"

#include <errno.h>
#include <inttypes.h>

#include "base/banned.h"
#include "project/runs/run_windows.h"

struct run_paths {
	struct run_windows *windows;
	const struct trace *names;
};

struct reading_paths {
	const struct interval_row *const *rows;
	size_t cnt;
	struct arena *arena;
	path_pieces *pieces;		/* by row */
	bool *found;			/* by row */
	const struct trace *names;
};

/* The windows follow; if there were some before, they are void. */
static void begin(void *arg, const struct trace *names)
{
	struct reading_paths *r = arg;

	r->names = names;
	for (size_t i = 0; i < r->cnt; i++) {
		r->pieces[i].cnt = 0;
		r->found[i] = false;
	}
}

static void take(void *arg, const struct trace_window *w)
{
	_cleanup_(explainer_freep) struct explainer *x = NULL;
	struct reading_paths *r = arg;

	for (size_t i = 0; i < r->cnt; i++) {
		int64_t end_ns = r->rows[i]->end_ns;

		if (r->found[i] || end_ns <= w->before_ns || end_ns > w->until_ns)
			continue;
		if (!x)
			x = explainer_new(w->t, r->arena);
		r->found[i] = explainer_interval(x, r->rows[i]->sid, &r->pieces[i]) == 0;
	}
}

static int read_paths(struct store *s, const struct run *run, struct reading_paths *reading, struct run_paths **ret, struct diag *reterr)
{
	_cleanup_(run_paths_freep) struct run_paths *p = xcalloc(1, sizeof(*p));
	_cleanup_(freep) struct time_span *spans = xcalloc(reading->cnt + 1, sizeof(*spans));
	int r;

	for (size_t i = 0; i < reading->cnt; i++)
		spans[i] = (struct time_span){ reading->rows[i]->start_ns, reading->rows[i]->end_ns };
	r = run_windows_read(s, run, 2, &(struct window_taker){ .begin = begin, .take = take, .arg = reading, .spans = spans,
								.span_cnt = reading->cnt }, &p->windows, reterr);
	if (r < 0)
		return r;
	p->names = reading->names;
	*ret = TAKE_PTR(p);
	return 0;
}

int run_paths_read_some(struct store *s, const struct run *run, const struct interval_row *const *rows, size_t cnt, struct arena *a,
			path_pieces *ret, struct run_paths **ret_paths, struct diag *reterr)
{
	_cleanup_(freep) bool *found = xcalloc(cnt + 1, sizeof(*found));
	struct reading_paths reading = { .rows = rows, .cnt = cnt, .arena = a, .pieces = ret, .found = found };

	return read_paths(s, run, &reading, ret_paths, reterr);
}

int run_paths_read(struct store *s, const struct run *run, const struct interval_row *const *rows, size_t cnt, struct arena *a,
		   path_pieces *ret, struct run_paths **ret_paths, struct diag *reterr)
{
	_cleanup_(freep) bool *found = xcalloc(cnt + 1, sizeof(*found));
	struct reading_paths reading = { .rows = rows, .cnt = cnt, .arena = a, .pieces = ret, .found = found };
	_cleanup_(run_paths_freep) struct run_paths *p = NULL;
	int r = read_paths(s, run, &reading, &p, reterr);

	for (size_t i = 0; r == 0 && i < cnt; i++)
		if (!found[i])
			r = diag_set(reterr, EXIT_DATA, -EBADMSG, "the trace of run %" PRIu32 " does not hold interval %" PRIu64 " any more",
				     run->number, rows[i]->sid);
	if (r < 0)
		return r;
	*ret_paths = TAKE_PTR(p);
	return 0;
}

const struct trace *run_paths_names(const struct run_paths *p)
{
	return p->names;
}

void run_paths_free(struct run_paths *p)
{
	if (!p)
		return;
	run_windows_free(p->windows);
	free(p);
}
