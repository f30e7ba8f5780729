/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run_windows.c - windows of a run's one trace, or of all that were merged, one trace after the other.
 *
 * A recorded trace is read in windows, so it may be longer than memory is large; with the kernel's side, too.  One
 * that is not fit for that, or imported, is read as a whole and cut in memory (trace/windows/slices.h).  Example, run
 * 7 merged from runs 3 and 4:
 *
 *	look	windows of part-003.vpt, of part-004.vpt: both have threads 11 and 12, and intervals 1 ... 5000
 *	take	the windows again; part 4's threads are 13 and 14 now, its intervals 5001 ... 10000
 *
 * No window contains data of two parts: threads and intervals of one are unrelated to those of another.
 */
#include <errno.h>
#include <string.h>

#include "base/banned.h"
#include "project/runs/origins.h"
#include "project/runs/project.h"
#include "project/runs/run_parts.h"
#include "project/runs/run_windows.h"
#include "trace/merge/merge.h"
#include "trace/windows/slices.h"

struct part_reader {
	const struct run_part *part;
	struct trace *trace;		/* read as a whole, or NULL */
	struct trace_stream *stream;	/* or NULL */
	bool whole;			/* known to be unfit for windows */
	uint64_t record_cnt;
};

struct run_windows {
	struct store *store;
	const struct run *run;		/* NULL: of its one part */
	unsigned jobs;
	run_parts parts;
	struct part_reader *readers;
	struct trace_merger *merger;	/* of several parts */
	struct trace *merged;		/* all of them, if sums over windows might not be exact; or NULL */
	struct trace_window window;	/* under the numbers of all */
};

static void close_reader(struct part_reader *p)
{
	trace_free(p->trace);
	trace_stream_close(p->stream);
	p->trace = NULL;
	p->stream = NULL;
}

void run_windows_free(struct run_windows *w)
{
	if (!w)
		return;
	for (size_t i = 0; w->readers && i < w->parts.cnt; i++)
		close_reader(&w->readers[i]);
	free(w->readers);
	if (w->window.t) {
		trace_return_names(w->window.t);	/* the merger's */
		trace_free(w->window.t);
	}
	trace_merger_free(w->merger);
	trace_free(w->merged);
	run_parts_release(&w->parts);
	free(w);
}

/* ---- one trace ---- */

/* The last of what is asked for has ended. */
static int64_t last_wanted_ns(const struct window_taker *to)
{
	int64_t last_ns = to->span_cnt ? INT64_MIN : INT64_MAX;

	for (size_t i = 0; i < to->span_cnt; i++)
		last_ns = to->spans[i].until_ns > last_ns ? to->spans[i].until_ns : last_ns;
	return last_ns;
}

static int take_all(struct trace_stream *s, const struct window_taker *to, struct diag *reterr)
{
	int64_t last_ns = last_wanted_ns(to);
	struct trace_window w = { .t = NULL };
	int r;

	while ((r = trace_stream_next(s, &w, reterr)) > 0) {
		to->take(to->arg, &w);
		if (w.until_ns >= last_ns)
			break;
	}
	trace_window_release(&w);
	return r < 0 ? r : 0;
}

static int take_all_ahead(struct trace_stream *s, const struct window_taker *to, struct diag *reterr)
{
	_cleanup_(trace_ahead_freep) struct trace_ahead *ahead = trace_ahead_new(s);
	int64_t last_ns = last_wanted_ns(to);
	const struct trace_window *w;
	int r;

	if (!ahead)
		return take_all(s, to, reterr);
	while ((r = trace_ahead_next(ahead, &w, reterr)) > 0) {
		to->take(to->arg, w);
		if (w->until_ns >= last_ns)
			break;
	}
	return r < 0 ? r : 0;
}

/* trace.vpt -> trace.vpi, which is beside it */
static char *saved_path(const struct run_part *part)
{
	size_t len = strlen(part->path), suffix = strlen(".vpt");

	return xasprintf("%.*s.vpi", (int)(len > suffix ? len - suffix : len), part->path);
}

/* In the middle, if only stretches of it are asked for and an earlier reading has left what that takes. */
static int open_trace(struct part_reader *p, const struct reader_options *o, const struct window_taker *to, struct diag *reterr)
{
	_cleanup_(freep) char *saved = saved_path(p->part);
	int r;

	if (!p->part->kernel && to->span_cnt && trace_stream_open_saved(p->part->path, saved, o, &p->stream) > 0)
		return 1;
	r = trace_stream_open(p->part->path, o, &p->stream, reterr);
	if (r > 0 && !p->part->kernel && to->saves)
		trace_stream_save(p->stream, saved);
	return r;
}

static int open_stream(struct part_reader *p, const struct reader_options *o, const struct window_taker *to, struct diag *reterr)
{
	struct kernel_trace k = { .arena = NULL };
	int r;

	if (p->part->kernel && kernel_kind_of(p->part->kernel).has_exchanges)	/* whose stacks and requests are looked up from all sides */
		return TRACE_STREAM_UNFIT;
	r = open_trace(p, o, to, reterr);
	if (r < 0 || !p->part->kernel)
		return r;
	r = kernel_read_spilled(&k, p->part->kernel, reterr);
	if (r == -EBADMSG) {		/* read as a whole, and without it */
		r = TRACE_STREAM_UNFIT;
		*reterr = (struct diag)DIAG_INIT;
	}
	if (r == 0)
		r = trace_stream_kernel(p->stream, &k);
	kernel_release(&k);
	return r;
}

/* Notes the origins of all parts: a part's own names are not those of the run. */
static void note_origins(const struct run_windows *w, struct trace *names)
{
	if (w->run)
		origins_note(w->store, w->run, &w->parts, names);
}

/* 0, TRACE_STREAM_UNFIT, or an error. */
static int take_stream(struct run_windows *w, struct part_reader *p, const struct window_taker *to, struct diag *reterr)
{
	_cleanup_(recorded_options_release) struct recorded_options o = { .config = { 0 } };
	struct trace *names;
	int r = recorded_options_read(&o, p->part->kernel, reterr);

	if (r == 0)
		r = open_stream(p, &o.reader, to, reterr);
	if (r < 0)
		return r;
	names = trace_stream_names(p->stream);
	r = recorded_complete(w->store, &o, p->part->path, names, reterr);
	if (r < 0)
		return r;
	trace_sort_events(names);	/* their calls are there by now */
	trace_stream_want(p->stream, to->spans, to->span_cnt);
	note_origins(w, names);
	to->begin(to->arg, names);
	return w->jobs > 1 ? take_all_ahead(p->stream, to, reterr) : take_all(p->stream, to, reterr);
}

static void take_slices(const struct run_windows *w, struct trace *t, const struct window_taker *to)
{
	_cleanup_(trace_slices_freep) struct trace_slices *slices = NULL;
	const struct trace_window *window;

	trace_sort(t);
	trace_find_idle(t);
	note_origins(w, t);
	to->begin(to->arg, t);
	slices = trace_slices_new(t);
	while ((window = trace_slices_next(slices)))
		to->take(to->arg, window);
}

/* Reads it in windows if it is fit for that; else only opens it.  The reader stays open. */
static int read_part(struct run_windows *w, struct part_reader *p, const struct window_taker *to, struct diag *reterr)
{
	int r;

	if (!p->whole && !p->part->tuples) {
		r = take_stream(w, p, to, reterr);
		if (r != TRACE_STREAM_UNFIT)
			return r;
		close_reader(p);
	}
	p->whole = true;
	return run_part_read(w->store, p->part, &p->trace, reterr);
}

static int take_part(struct run_windows *w, struct part_reader *p, const struct window_taker *to, struct diag *reterr)
{
	int r = read_part(w, p, to, reterr);

	if (r == 0 && p->trace)
		take_slices(w, p->trace, to);
	return r;
}

/* ---- several: what numbers there are ---- */

struct looking {
	struct run_windows *w;
	size_t part;
	const struct trace *names;
	const struct window_taker *to;
};

static void begin_look(void *arg, const struct trace *names)
{
	struct looking *l = arg;

	l->names = names;
	trace_merger_forget(l->w->merger, l->part);
}

static void look(void *arg, const struct trace_window *window)
{
	struct looking *l = arg;

	trace_merger_look(l->w->merger, l->part, window->t);
	l->w->readers[l->part].record_cnt = window->record_cnt;
	if (l->to->look)
		l->to->look(l->to->arg, window->done_cnt, window->record_cnt);
}

static int look_at_part(struct run_windows *w, size_t part, const struct window_taker *to, struct diag *reterr)
{
	struct looking l = { .w = w, .part = part, .to = to };
	struct part_reader *p = &w->readers[part];
	int r = read_part(w, p, &(struct window_taker){ .begin = begin_look, .take = look, .arg = &l }, reterr);

	if (r == 0 && p->trace) {
		trace_merger_forget(w->merger, part);	/* forget its first windows, if there were any */
		trace_merger_look(w->merger, part, p->trace);
		p->record_cnt = p->trace->invocations.cnt + p->trace->segments.cnt;
		l.names = p->trace;
	}
	if (r == 0 && p->part->left_out)
		trace_merger_see_threads(w->merger, part, l.names);
	else if (r == 0)
		trace_merger_names(w->merger, part, l.names);
	close_reader(p);
	return r;
}

static int look_at_parts(struct run_windows *w, const struct window_taker *to, struct diag *reterr)
{
	int r = 0;

	w->merger = trace_merger_new(w->parts.cnt);
	for (size_t i = 0; r == 0 && i < w->parts.cnt; i++)
		r = look_at_part(w, i, to, reterr);
	if (r == 0)
		trace_merger_settle(w->merger);
	return r;
}

/* ---- several: all under the same numbers ---- */

struct renaming {
	struct run_windows *w;
	size_t part;
	uint64_t done_cnt, record_cnt;	/* of the parts before; of all */
	const struct window_taker *to;
};

static void begin_part(void *arg, const struct trace *names)
{
	(void)arg;
	(void)names;
}

static void take_renamed(void *arg, const struct trace_window *from)
{
	struct renaming *a = arg;
	struct trace_window *window = &a->w->window;
	struct trace *t = window->t;

	t->intervals.cnt = t->segments.cnt = t->invocations.cnt = t->wakeups.cnt = t->creations.cnt = 0;
	t->works.cnt = t->false_wakeups.cnt = t->stack_spans.cnt = 0;
	trace_merger_add(a->w->merger, a->part, from->t, t);
	trace_sort(t);
	trace_borrow_names(t, trace_merger_trace(a->w->merger));
	window->before_ns = from->before_ns;
	window->until_ns = from->until_ns;
	window->done_cnt = a->done_cnt + from->done_cnt;
	window->record_cnt = a->record_cnt;
	a->to->take(a->to->arg, window);
}

static int take_parts(struct run_windows *w, const struct window_taker *to, struct diag *reterr)
{
	struct renaming a = { .w = w, .to = to };
	int r = 0;

	w->window.t = trace_new();
	trace_sort_events(trace_merger_trace(w->merger));
	note_origins(w, trace_merger_trace(w->merger));
	trace_copy_devices(w->window.t, trace_merger_trace(w->merger));
	for (size_t i = 0; i < w->parts.cnt; i++)
		a.record_cnt += w->parts.items[i].left_out ? 0 : w->readers[i].record_cnt;
	to->begin(to->arg, trace_merger_trace(w->merger));
	for (size_t i = 0; r == 0 && i < w->parts.cnt; i++) {
		if (w->parts.items[i].left_out)
			continue;
		a.part = i;
		r = take_part(w, &w->readers[i], &(struct window_taker){ .begin = begin_part, .take = take_renamed, .arg = &a }, reterr);
		a.done_cnt += w->readers[i].record_cnt;
		close_reader(&w->readers[i]);
	}
	return r;
}

static int take_merged(struct run_windows *w, const struct run *run, const struct window_taker *to, struct diag *reterr)
{
	int r = look_at_parts(w, to, reterr);

	if (r < 0)
		return r;
	if (trace_merger_sums_fit(w->merger))
		return take_parts(w, to, reterr);
	r = run_trace_read(w->store, run, &w->merged, reterr);
	if (r == 0)
		take_slices(w, w->merged, to);
	return r;
}

/* Takes w's parts.  r: the run that they are all of; of one part it is not needed. */
static int read_parts(struct run_windows *w, struct store *s, const struct run *r, unsigned jobs, const struct window_taker *to,
		      struct diag *reterr)
{
	w->store = s;
	w->run = r;
	w->jobs = jobs;
	w->readers = xcalloc(w->parts.cnt + 1, sizeof(*w->readers));
	for (size_t i = 0; i < w->parts.cnt; i++)
		w->readers[i].part = &w->parts.items[i];
	return w->parts.cnt == 1 ? take_part(w, &w->readers[0], to, reterr) : take_merged(w, r, to, reterr);
}

int run_windows_read(struct store *s, const struct run *r, unsigned jobs, const struct window_taker *to,
		     struct run_windows **ret, struct diag *reterr)
{
	_cleanup_(run_windows_freep) struct run_windows *w = xcalloc(1, sizeof(*w));
	int e = run_parts_find(s, r, &w->parts, reterr);

	if (e == 0)
		e = origins_choose(s, r, &w->parts, reterr);
	if (e == 0)
		e = read_parts(w, s, r, jobs, to, reterr);
	if (e == 0)
		*ret = TAKE_PTR(w);
	return e;
}

int run_windows_read_part(struct store *s, const struct run_part *part, unsigned jobs, const struct window_taker *to,
			  struct run_windows **ret, struct diag *reterr)
{
	_cleanup_(run_windows_freep) struct run_windows *w = xcalloc(1, sizeof(*w));
	int e;

	VEC_ADD(&w->parts, (struct run_part){ part->run, xstrdup(part->path), part->kernel ? xstrdup(part->kernel) : NULL,
					      part->tuples, false });
	e = read_parts(w, s, NULL, jobs, to, reterr);
	if (e == 0)
		*ret = TAKE_PTR(w);
	return e;
}
