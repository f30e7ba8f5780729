/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * show_check.c - `vprof check`: whether the interval is what was meant.
 *
 *	▶ 'request' looks right: 1,500 began, 1,500 completed, on 1 thread; 1,500 ended on another thread than they began.
 *
 *	example: interval 711, of median latency (164 µs)
 *	      at      for  thread             what
 *	    0 ns  2.10 µs  logserver (8800)   enqueue_request
 *	 2.10 µs  1.20 µs  logserver (8825)   queue wait
 *
 * Problems come before that, with a remedy.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/order.h"
#include "base/text/table.h"
#include "report/output.h"
#include "report/style.h"
#include "report/views.h"
#include "report/views/longest_pieces.h"
#include "report/words/sentence.h"

#define LOST_MOST 0.02			/* of those that began may be aborted or stay open */
#define NOWHERE_MOST 0.2		/* of the mean may be on no thread for an unknown reason */
#define PIECES_DRAWN 16
#define SHORTEST_NS 1000

struct checked {
	uint64_t began, completed, start_threads, end_threads, moved;
	double nowhere;			/* of the mean latency: on no thread, and no thread is known to have been in the way */
	const struct interval_row *example;
	path_pieces pieces;
	struct arena *arena;
};

struct problem {
	const char *code;
	char *text;
};
typedef VEC(struct problem) problems;

static uint64_t distinct(uint64_t *tids, size_t cnt)
{
	uint64_t found = cnt > 0;

	if (cnt > 1)
		qsort(tids, cnt, sizeof(*tids), compare_uint64);
	for (size_t i = 1; i < cnt; i++)
		found += tids[i] != tids[i - 1];
	return found;
}

static void count_threads(const struct findings *f, struct checked *c)
{
	size_t cnt = f->intervals.cnt;
	_cleanup_(freep) uint64_t *starts = xcalloc(cnt + 1, sizeof(*starts)), *ends = xcalloc(cnt + 1, sizeof(*ends));

	for (size_t i = 0; i < cnt; i++) {
		starts[i] = f->intervals.items[i].start_tid;
		ends[i] = f->intervals.items[i].end_tid;
		c->moved += starts[i] != ends[i];
	}
	c->start_threads = distinct(starts, cnt);
	c->end_threads = distinct(ends, cnt);
}

/* Time in the queue that no function explains. */
static double nowhere_ns(const struct findings *f)
{
	double sum = 0;

	for (size_t i = 0; i < f->nodes.cnt; i++) {
		const struct node *n = &f->nodes.items[i];

		if (n->kind == NODE_WAIT && n->wait == STATE_QUEUE)
			sum += n->mean_ns;
		if (n->kind == NODE_BLAME && n->function && f->nodes.items[n->parent].kind == NODE_WAIT &&
		    f->nodes.items[n->parent].wait == STATE_QUEUE)
			sum -= n->mean_ns;
	}
	return sum;
}

/* The interval of median latency among those whose functions were recorded; NULL: there is none. */
static const struct interval_row *find_example(const struct findings *f)
{
	_cleanup_(freep) size_t *order = findings_by_latency(f);
	size_t cnt = 0;

	for (size_t i = 0; i < f->intervals.cnt; i++)
		if (!f->intervals.items[order[i]].root_only)
			order[cnt++] = order[i];
	return cnt ? &f->intervals.items[order[cnt / 2]] : NULL;
}

static int make_check(const struct view_input *in, void **ret, struct diag *reterr)
{
	const struct findings *f = in->findings;
	struct checked *c = xcalloc(1, sizeof(*c));

	(void)reterr;
	*ret = c;
	c->arena = arena_new();
	c->completed = f->interval.cnt + f->probing.root_only_cnt + f->interval.dropped_bad_path + f->interval.dropped_lost;
	c->began = c->completed + f->interval.dropped_open + f->interval.dropped_aborted;
	c->nowhere = f->interval.mean_ns > 0 ? nowhere_ns(f) / f->interval.mean_ns : 0;
	count_threads(f, c);
	c->example = find_example(f);
	if (c->example)
		explain_interval(in->trace, c->example->sid, c->arena, &c->pieces);
	return 0;
}

static void release_check(void *made)
{
	struct checked *c = made;

	VEC_RELEASE(&c->pieces);
	arena_free(c->arena);
	free(c);
}

/* The functions around the longest stretch on no thread, of the example. */
static void find_gap(const struct checked *c, const char **ret_before, const char **ret_after)
{
	size_t at = c->pieces.cnt;

	*ret_before = *ret_after = NULL;
	for (size_t i = 0; i < c->pieces.cnt; i++) {
		const struct path_piece *p = &c->pieces.items[i], *best = at < c->pieces.cnt ? &c->pieces.items[at] : NULL;

		if (p->depth == 0 && p->state == STATE_QUEUE && (!best || p->end_ns - p->start_ns > best->end_ns - best->start_ns))
			at = i;
	}
	for (size_t i = at; i-- > 0 && !*ret_before; )
		if (c->pieces.items[i].frame_cnt)
			*ret_before = c->pieces.items[i].frames[c->pieces.items[i].frame_cnt - 1];
	for (size_t i = at + 1; i < c->pieces.cnt && !*ret_after; i++)
		if (c->pieces.items[i].frame_cnt && c->pieces.items[i].state != STATE_QUEUE)
			*ret_after = c->pieces.items[i].frames[c->pieces.items[i].frame_cnt - 1];
}

static void add_problem(problems *list, const char *code, char *text)
{
	VEC_ADD(list, (struct problem){ code, text });
}

static void look_at_ends(const struct findings *f, const struct checked *c, problems *ret)
{
	const struct interval_summary *iv = &f->interval;
	char a[TEXT_MAX], b[TEXT_MAX];

	if ((double)iv->dropped_aborted > LOST_MOST * (double)c->began)
		add_problem(ret, "aborted", xasprintf("%s of %s that began were aborted: the next one of the same key began first; is the key that of one "
						      "request, and does --end see each of them?", text_cnt(a, iv->dropped_aborted),
						      text_cnt(b, c->began)));
	if ((double)iv->dropped_open > LOST_MOST * (double)c->began)
		add_problem(ret, "open", xasprintf("%s of %s that began never ended: does every way out come by --end, with the same key?",
						   text_cnt(a, iv->dropped_open), text_cnt(b, c->began)));
	if (iv->has_pairing && (double)iv->unmatched_ends > LOST_MOST * (double)c->began)
		add_problem(ret, "unmatched", xasprintf("%s ends found nothing that had begun with their key", text_cnt(a, iv->unmatched_ends)));
	if (iv->has_pairing && (double)iv->nested > LOST_MOST * (double)c->began)
		add_problem(ret, "nested", xasprintf("%s began inside another one of the same key: --start is called more than once a request",
						     text_cnt(a, iv->nested)));
}

static void look(const struct view_input *in, problems *ret)
{
	const struct findings *f = in->findings;
	const struct checked *c = in->made;
	const char *before, *after;
	char percent[TEXT_MAX], a[TEXT_MAX];

	look_at_ends(f, c, ret);
	if (c->nowhere > NOWHERE_MOST) {
		find_gap(c, &before, &after);
		add_problem(ret, "nowhere", xasprintf("%s of the interval lies between %s and %s on no thread: add --resume %s, where a thread takes "
						      "it up", text_percent(percent, c->nowhere), before ? before : "its start",
						      after ? after : "its end", after ? after : "FUNCTION"));
	}
	if (f->interval.cnt && f->interval.mean_ns < SHORTEST_NS)
		add_problem(ret, "short", xasprintf("it takes %s on average: that is less than a request to a server does; does it begin and end "
						    "where one is read and answered?", text_ns(a, f->interval.mean_ns, true)));
	if (f->interval.cnt < TAIL_INTERVALS_MIN)
		add_problem(ret, "few", xasprintf("only %s completed: run longer, or see that the load reaches the server",
						  text_cnt(a, f->interval.cnt)));
}

static void release_problems(problems *list)
{
	for (size_t i = 0; i < list->cnt; i++)
		free(list->items[i].text);
	VEC_RELEASE(list);
}

static char *answer_text(const struct findings *f, const struct checked *c, size_t problem_cnt)
{
	char began[TEXT_MAX], completed[TEXT_MAX], threads[TEXT_MAX], moved[TEXT_MAX];
	struct str s = STR_INIT;

	if (problem_cnt)
		str_addf(&s, "'%s' does not look right (%zu thing%s to look at): ", f->interval.name, problem_cnt, plural(problem_cnt));
	else
		str_addf(&s, "'%s' looks right: ", f->interval.name);
	str_addf(&s, "%s began, %s completed, on %s thread%s", text_cnt(began, c->began), text_cnt(completed, c->completed),
		 text_cnt(threads, c->start_threads), plural(c->start_threads));
	if (c->moved)
		str_addf(&s, "; %s ended on another thread than they began", text_cnt(moved, c->moved));
	str_addc(&s, '.');
	return str_take(&s);
}

static const char *thread_name(const struct trace *t, uint64_t tid)
{
	for (size_t i = 0; i < t->threads.cnt; i++)
		if (t->threads.items[i].tid == tid && t->threads.items[i].name)
			return t->threads.items[i].name;
	return "thread";
}

static void add_piece(struct table *t, const struct style *s, const struct view_input *in, const struct checked *c,
		      const struct path_piece *p)
{
	const char *function = p->frame_cnt ? p->frames[p->frame_cnt - 1] : p->state == STATE_RUNNING ? "(no probed function)" : NULL;
	char text[TEXT_MAX];

	table_cell(t, "%s", text_ns(text, (double)(p->start_ns - c->example->start_ns), s->utf8));
	table_cell(t, "%s", text_ns(text, (double)(p->end_ns - p->start_ns), s->utf8));
	table_cell(t, "%s (%" PRIu64 ")", thread_name(in->trace, p->tid), p->tid);
	if (p->state == STATE_RUNNING)
		table_cell(t, "%s%s", p->depth ? "  " : "", function);
	else
		table_cell(t, "%s%s%s%s", p->depth ? "  " : "", function ? function : "", function ? glyphs_of(s)->then : "",
			   wait_text(p->state));
}

static void print_example(const struct style *s, const struct view_input *in, const struct checked *c)
{
	_cleanup_(table_freep) struct table *t = table_new();
	_cleanup_(freep) bool *longest = longest_pieces(&c->pieces, PIECES_DRAWN);
	size_t hidden = 0;
	char a[TEXT_MAX];

	fprintf(s->out, "\nexample: interval %" PRIu64 ", of median latency (%s)\n", c->example->sid,
		text_ns(a, (double)(c->example->end_ns - c->example->start_ns), s->utf8));
	table_column(t, "at", TABLE_RIGHT);
	table_column(t, "for", TABLE_RIGHT);
	table_column(t, "thread", TABLE_LEFT);
	table_column(t, "what", TABLE_SHRINKS);
	for (size_t i = 0; i < c->pieces.cnt; i++) {
		if (longest[i])
			add_piece(t, s, in, c, &c->pieces.items[i]);
		else
			hidden++;
	}
	table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
	if (hidden)
		fprintf(s->out, "%s %zu shorter pieces (vprof show critical-path --interval %" PRIu64 " --all)\n", glyphs_of(s)->ellipsis,
			hidden, c->example->sid);
}

static void check_text(const struct style *s, const struct view_input *in)
{
	const struct checked *c = in->made;
	_cleanup_(release_problems) problems list = { NULL, 0, 0 };
	_cleanup_(freep) char *answer = NULL;

	look(in, &list);
	answer = answer_text(in->findings, c, list.cnt);
	print_answer(s, answer);
	for (size_t i = 0; i < list.cnt; i++) {
		_cleanup_(freep) char *line = xasprintf("  %s", list.items[i].text);

		table_line(s->out, line);
	}
	if (c->example)
		print_example(s, in, c);
}

static json_t *check_json(const struct view_input *in)
{
	const struct checked *c = in->made;
	_cleanup_(release_problems) problems list = { NULL, 0, 0 };
	json_t *o = json_results("check", in), *found = json_array();

	look(in, &list);
	for (size_t i = 0; i < list.cnt; i++) {
		json_t *problem = json_object();

		json_set(problem, "code", json_text(list.items[i].code));
		json_set(problem, "text", json_text(list.items[i].text));
		json_add(found, problem);
	}
	json_set(o, "began", json_u64(c->began));
	json_set(o, "completed", json_u64(c->completed));
	json_set(o, "open", json_u64(in->findings->interval.dropped_open));
	json_set(o, "aborted", json_u64(in->findings->interval.dropped_aborted));
	json_set(o, "start_threads", json_u64(c->start_threads));
	json_set(o, "end_threads", json_u64(c->end_threads));
	json_set(o, "moved", json_u64(c->moved));
	json_set(o, "nowhere", json_number(c->nowhere));
	json_set(o, "example", c->example ? json_u64(c->example->sid) : json_null());
	json_set(o, "problems", found);
	return o;
}

static void check_csv(FILE *out, const struct view_input *in)
{
	_cleanup_(release_problems) problems list = { NULL, 0, 0 };

	look(in, &list);
	csv_line(out, "tt", "code", "text");
	for (size_t i = 0; i < list.cnt; i++)
		csv_line(out, "tt", list.items[i].code, list.items[i].text);
}

const struct view view_check = {
	.name = "check", .summary = "whether the interval is what was meant, with an example",
	.needs = NEEDS_FINDINGS | NEEDS_TRACE, .make = make_check, .release = release_check,
	.text = check_text, .json = check_json, .csv = check_csv,
};
