/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run_excerpt.c - see run_excerpt.h. */
#include "project/runs/run_excerpt.h"

#include "base/banned.h"
#include "project/runs/project.h"
#include "project/runs/run_parts.h"
#include "project/runs/run_windows.h"
#include "trace/windows/excerpt.h"

struct run_excerpt {
	struct run_windows *windows;	/* or */
	struct trace *whole;
	struct excerpt_wanted *wanted;
	struct excerpt *excerpt;
	const struct trace *names;
};

static void begin(void *arg, const struct trace *names)
{
	struct run_excerpt *x = arg;

	x->names = names;
	excerpt_begin(x->excerpt, names);
}

static void take(void *arg, const struct trace_window *w)
{
	struct run_excerpt *x = arg;

	excerpt_add(x->excerpt, w);
}

static int read_windows(struct run_excerpt *x, struct store *s, const struct run *r, const struct interval_row *const *rows, size_t cnt,
			struct diag *reterr)
{
	_cleanup_(freep) struct time_span *spans = xcalloc(cnt + 1, sizeof(*spans));

	for (size_t i = 0; i < cnt; i++)
		spans[i] = (struct time_span){ rows[i]->start_ns, rows[i]->end_ns };
	return run_windows_read(s, r, 2, &(struct window_taker){ .begin = begin, .take = take, .arg = x, .spans = spans, .span_cnt = cnt },
				&x->windows, reterr);
}

/* As one window. */
static int read_whole(struct run_excerpt *x, struct store *s, const struct run *r, struct diag *reterr)
{
	int e = run_trace_read(s, r, &x->whole, reterr);

	if (e < 0)
		return e;
	trace_sort(x->whole);
	begin(x, x->whole);
	take(x, &(struct trace_window){ .t = x->whole, .before_ns = INT64_MIN, .until_ns = INT64_MAX });
	return 0;
}

int run_excerpt_read(struct store *s, const struct run *r, const struct interval_row *const *rows, size_t cnt, struct run_excerpt **ret,
		     struct diag *reterr)
{
	_cleanup_(run_excerpt_freep) struct run_excerpt *x = xcalloc(1, sizeof(*x));
	_cleanup_(run_parts_release) run_parts parts = { NULL, 0, 0 };
	int e = run_parts_find(s, r, &parts, reterr);
	bool is_whole = parts.cnt != 1 || parts.items[0].tuples;

	if (e < 0)
		return e;
	x->wanted = xcalloc(cnt + 1, sizeof(*x->wanted));
	for (size_t i = 0; i < cnt; i++)
		x->wanted[i] = (struct excerpt_wanted){ rows[i]->sid, rows[i]->start_ns, rows[i]->end_ns };
	x->excerpt = excerpt_new(x->wanted, cnt);
	e = is_whole ? read_whole(x, s, r, reterr) : read_windows(x, s, r, rows, cnt, reterr);
	if (e < 0)
		return e;
	excerpt_end(x->excerpt, x->names);
	if (is_whole)
		excerpt_trace(x->excerpt)->host = x->whole->host;
	else
		recorded_note_host(parts.items[0].path, excerpt_trace(x->excerpt));
	*ret = TAKE_PTR(x);
	return 0;
}

struct trace *run_excerpt_trace(struct run_excerpt *x)
{
	return excerpt_trace(x->excerpt);
}

int64_t run_excerpt_first_ns(const struct run_excerpt *x)
{
	return excerpt_first_ns(x->excerpt);
}

void run_excerpt_free(struct run_excerpt *x)
{
	if (!x)
		return;
	excerpt_free(x->excerpt);
	run_windows_free(x->windows);
	trace_free(x->whole);
	free(x->wanted);
	free(x);
}
