/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * show_critical_path.c - how single intervals spent their time, piece by piece.
 *
 *	       at      for  thread    what
 *	 0.000 ms   353 µs  worker-1  handle_request › hash_payload
 *	 0.353 ms  12.5 ms  flusher     flush_log: sleep wait
 *	12.853 ms   285 ms  vda           at work
 *
 * A piece that explains a wait is indented by how many wake-ups away its thread, or device, is.  Text shows the
 * longest pieces, in order of time, and sums up the others; JSON and CSV have all of them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/text/table.h"
#include "report/output.h"
#include "report/style.h"
#include "report/views.h"
#include "report/views/longest_pieces.h"
#include "report/words/sentence.h"

#define PIECES_SHOWN 40
#define INDENT_MAX 8

const struct thread_name *path_thread(const struct trace *t, uint64_t tid)
{
	for (size_t i = 0; t && i < t->threads.cnt; i++)
		if (t->threads.items[i].tid == tid && t->threads.items[i].name)
			return &t->threads.items[i];
	return NULL;
}

static enum thread_kind kind_of(const struct thread_name *n)
{
	return n ? n->kind : KIND_THREAD;
}

/* Its name, else its number; a device's number is internal. */
static void add_thread(struct str *to, const struct thread_name *n, uint64_t tid)
{
	if (!n)
		str_addf(to, "%" PRIu64, tid);
	else if (kind_is_thread(n->kind))
		str_addf(to, "%s (%" PRIu64 ")", n->name, tid);
	else
		str_add(to, n->name);
}

static void add_frames(struct str *to, const struct path_piece *p, const char *separator)
{
	for (size_t i = 0; i < p->frame_cnt; i++)
		str_addf(to, "%s%s", i ? separator : "", p->frames[i]);
}

static const char *device_does(enum thread_kind kind, enum trace_state state)
{
	if (kind == KIND_TIMER)
		return "until the time it was set to";
	if (kind == KIND_PEER)
		return "was waited for";
	return state == STATE_RUNNING ? "at work" : "idle";
}

/* "main › f", "f: lock wait", "queue wait" */
static void add_what(struct str *to, const struct path_piece *p, enum thread_kind kind, const struct style *s)
{
	for (uint32_t i = 0; i < p->depth && i < INDENT_MAX; i++)
		str_add(to, "  ");
	if (!kind_is_thread(kind)) {
		str_add(to, device_does(kind, p->state));
		return;
	}
	add_frames(to, p, glyphs_of(s)->then);
	if (p->state != STATE_RUNNING)
		str_addf(to, "%s%s", p->frame_cnt ? ": " : "", wait_text(p->state));
	else if (p->frame_cnt == 0)
		str_add(to, "running in no probed function");
}

static int64_t length_ns(const struct path_piece *p)
{
	return p->end_ns - p->start_ns;
}

static int64_t whole_ns(const path_pieces *pieces)
{
	return pieces->cnt ? pieces->items[pieces->cnt - 1].end_ns - pieces->items[0].start_ns : 0;
}

/* When a piece begins, in the unit of the whole latency: 20.243 ms, so that the column adds up. */
static const char *text_offset(char buf[TEXT_MAX], int64_t offset_ns, int64_t latency_ns, bool utf8)
{
	static const struct { int64_t ns; const char *name; } units[] = {
		{ 1000000000, "s" }, { 1000000, "ms" }, { 1000, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (latency_ns < units[i].ns)
			continue;
		snprintf(buf, TEXT_MAX, "%.3f %s", (double)offset_ns / (double)units[i].ns,
			 units[i].name ? units[i].name : utf8 ? "µs" : "us");
		return buf;
	}
	snprintf(buf, TEXT_MAX, "%" PRId64 " ns", offset_ns);
	return buf;
}

static const struct thread_name *thread_of(const struct view_input *in, const struct path_piece *p)
{
	const struct explained_paths *made = in->made;

	return path_thread(made->names, p->tid);
}

static void add_piece(struct table *t, const struct style *s, const struct view_input *in,
		      const struct explained *e, const struct path_piece *p)
{
	_cleanup_(str_release) struct str thread = STR_INIT, what = STR_INIT;
	const struct thread_name *n = thread_of(in, p);
	char text[TEXT_MAX];

	add_thread(&thread, n, p->tid);
	add_what(&what, p, kind_of(n), s);
	table_cell(t, "%s", text_offset(text, p->start_ns - e->row->start_ns,
					e->row->end_ns - e->row->start_ns, s->utf8));
	table_cell(t, "%s", text_ns(text, (double)length_ns(p), s->utf8));
	table_cell(t, "%s", str_cstr(&thread));
	table_cell(t, "%s", str_cstr(&what));
	table_style(t, p->state == STATE_RUNNING ? "" : style_wait(s));
	table_where(t, s, p->file, p->line);
}

static void print_pieces(const struct style *s, const struct view_input *in,
			 const struct explained *e)
{
	_cleanup_(table_freep) struct table *t = table_new();
	/* If there are many, the longest, and none below a thousandth of the whole. */
	_cleanup_(freep) bool *longest = longest_pieces(&e->pieces, in->options.ranking.all ? SIZE_MAX : PIECES_SHOWN);
	int64_t least_ns = in->options.ranking.all ? 0 : whole_ns(&e->pieces) / 1000, hidden_ns = 0;
	size_t hidden = 0;
	char text[TEXT_MAX];

	table_column(t, "at", TABLE_RIGHT);
	table_column(t, "for", TABLE_RIGHT);
	table_column(t, "thread", TABLE_SHRINKS);
	table_column(t, "what", TABLE_SHRINKS);
	table_column(t, "where", TABLE_SPARE);
	for (size_t i = 0; i < e->pieces.cnt; i++) {
		const struct path_piece *p = &e->pieces.items[i];

		if (longest[i] && length_ns(p) >= least_ns) {
			add_piece(t, s, in, e, p);
			continue;
		}
		hidden++;
		hidden_ns += length_ns(p);
	}
	table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
	if (hidden)
		fprintf(s->out, "%s %zu shorter piece%s, together %s (--all)\n",
			glyphs_of(s)->ellipsis, hidden, plural(hidden),
			text_ns(text, (double)hidden_ns, s->utf8));
}

/* The longest piece is the answer. */
static char *sentence_of(const struct style *s, const struct view_input *in,
			 const struct explained *e)
{
	const struct path_piece *longest = NULL;
	const struct thread_name *n;
	int64_t latency_ns = e->row->end_ns - e->row->start_ns;
	_cleanup_(str_release) struct str what = STR_INIT, thread = STR_INIT;
	char a[TEXT_MAX], b[TEXT_MAX], rank[TEXT_MAX], cnt[TEXT_MAX];

	for (size_t i = 0; i < e->pieces.cnt; i++)
		if (!longest || length_ns(&e->pieces.items[i]) > length_ns(longest))
			longest = &e->pieces.items[i];
	if (!longest)
		return xasprintf("%s %" PRIu64 " took %s", in->findings->interval.name, e->row->sid,
				 text_ns(a, (double)latency_ns, s->utf8));
	n = thread_of(in, longest);
	add_what(&what, longest, kind_of(n), s);
	add_thread(&thread, n, longest->tid);
	return xasprintf("%s %" PRIu64 " took %s (rank %s of %s); its longest piece is"
			 " %s on %s %s: %s", in->findings->interval.name, e->row->sid,
			 text_ns(a, (double)latency_ns, s->utf8), text_cnt(rank, e->rank),
			 text_cnt(cnt, in->findings->interval.cnt), text_ns(b, (double)length_ns(longest), s->utf8),
			 thread_kind_name(kind_of(n)), str_cstr(&thread), str_cstr(&what) + strspn(str_cstr(&what), " "));
}

static void critical_path_text(const struct style *s, const struct view_input *in)
{
	const struct explained_paths *made = in->made;

	for (size_t i = 0; i < made->paths.cnt; i++) {
		_cleanup_(freep) char *sentence = sentence_of(s, in, &made->paths.items[i]);

		if (i)
			fputc('\n', s->out);
		print_answer(s, sentence);
		print_pieces(s, in, &made->paths.items[i]);
	}
}

/* ---- JSON and CSV ---- */

static json_t *pieces_json(const struct explained *e)
{
	json_t *list = json_array();

	for (size_t i = 0; i < e->pieces.cnt; i++) {
		const struct path_piece *p = &e->pieces.items[i];
		json_t *piece = json_object(), *frames = json_array();

		for (size_t j = 0; j < p->frame_cnt; j++)
			json_add(frames, json_text(p->frames[j]));
		json_set(piece, "thread", json_u64(p->tid));
		json_set(piece, "start_ns", json_integer(p->start_ns));
		json_set(piece, "end_ns", json_integer(p->end_ns));
		json_set(piece, "state", json_text(trace_state_name(p->state)));
		json_set(piece, "depth", json_integer(p->depth));
		json_set(piece, "frames", frames);
		json_add(list, piece);
	}
	return list;
}

static void set_path(json_t *o, const struct explained *e)
{
	json_set(o, "sid", json_u64(e->row->sid));
	json_set(o, "rank", json_integer((json_int_t)e->rank));
	json_set(o, "start_ns", json_integer(e->row->start_ns));
	json_set(o, "end_ns", json_integer(e->row->end_ns));
	json_set(o, "latency_ns", json_integer(e->row->end_ns - e->row->start_ns));
	json_set(o, "pieces", pieces_json(e));
}

/* The first interval stands at the top level (vprof-formats(5)); several also in "paths". */
static json_t *critical_path_json(const struct view_input *in)
{
	const struct explained_paths *made = in->made;
	json_t *o = json_results("critical-path", in), *paths;

	if (made->paths.cnt)
		set_path(o, &made->paths.items[0]);
	else
		json_set(o, "pieces", json_array());
	if (made->paths.cnt < 2)
		return o;
	paths = json_array();
	for (size_t i = 0; i < made->paths.cnt; i++) {
		json_t *path = json_object();

		set_path(path, &made->paths.items[i]);
		json_add(paths, path);
	}
	json_set(o, "paths", paths);
	return o;
}

static void critical_path_csv(FILE *out, const struct view_input *in)
{
	const struct explained_paths *made = in->made;

	csv_line(out, "ttttttt", "interval", "thread", "start_ns", "end_ns", "state", "depth",
		 "frames");
	for (size_t i = 0; i < made->paths.cnt; i++) {
		const struct explained *e = &made->paths.items[i];

		for (size_t j = 0; j < e->pieces.cnt; j++) {
			const struct path_piece *p = &e->pieces.items[j];
			_cleanup_(str_release) struct str frames = STR_INIT;

			add_frames(&frames, p, ";");
			csv_line(out, "uuiitut", e->row->sid, p->tid, p->start_ns, p->end_ns,
				 trace_state_name(p->state), (uint64_t)p->depth, str_cstr(&frames));
		}
	}
}

/* ---- the view ---- */

/* The interval with the SID that was asked for, or the slowest ones. */
static void choose_rows(const struct view_input *in, struct explained_paths *made)
{
	const struct findings *f = in->findings;
	_cleanup_(freep) size_t *order = findings_by_latency(f);
	size_t wanted = in->options.slowest ? in->options.slowest : 1, rank = 1;

	for (size_t i = 0; i < f->intervals.cnt && made->paths.cnt < wanted; i++) {
		const struct interval_row *row = &f->intervals.items[order[i]];

		if (in->sid ? row->sid == *in->sid : !row->root_only)
			VEC_ADD(&made->paths, (struct explained){ .row = row, .rank = rank });
		rank += !row->root_only;
	}
}

static int make_critical_path(const struct view_input *in, void **ret, struct diag *reterr)
{
	struct explained_paths *made = *ret = xcalloc(1, sizeof(*made));
	_cleanup_(freep) const struct interval_row **rows = NULL;
	_cleanup_(freep) path_pieces *pieces = NULL;
	int r;

	made->arena = arena_new();
	choose_rows(in, made);
	if (!made->paths.cnt)
		return 0;
	rows = xcalloc(made->paths.cnt, sizeof(*rows));
	pieces = xcalloc(made->paths.cnt, sizeof(*pieces));
	for (size_t i = 0; i < made->paths.cnt; i++)
		rows[i] = made->paths.items[i].row;
	r = in->explain(in->explainer, rows, made->paths.cnt, made->arena, pieces, &made->names, reterr);
	for (size_t i = 0; i < made->paths.cnt; i++)
		made->paths.items[i].pieces = pieces[i];
	return r;
}

static void release_critical_path(void *ret)
{
	struct explained_paths *made = ret;

	for (size_t i = 0; i < made->paths.cnt; i++)
		VEC_RELEASE(&made->paths.items[i].pieces);
	VEC_RELEASE(&made->paths);
	arena_free(made->arena);
	free(made);
}

static const struct option_desc options[] = {
	{ 0, "slowest", "N", OPT_COUNT, &view_given.slowest,
	  "critical-path, intervals: show the N slowest (default 1 and 20)" },
	OPT_END
};

const struct view view_critical_path = {
	.name = "critical-path", .summary = "where one interval spent its time (--interval SID, --slowest N)",
	.needs = NEEDS_FINDINGS | NEEDS_SID | NEEDS_PATHS, .options = options,
	.make = make_critical_path, .release = release_critical_path,
	.text = critical_path_text, .json = critical_path_json, .csv = critical_path_csv,
};
