/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tuples.c - reads the text form of a trace (vprof-tuples(5)).
 *
 * One tuple a line, fields split by blanks; a field that begins with '#' opens a comment.
 *
 *	vprof-tuples 1
 *	interval 7 request 1 10 1 70		# SID NAME, begins on thread 1 at 10, ends at 70
 *	segment  1 7 20 50 lock			# thread 1 is blocked for request 7 in [20,50]
 *
 * Names may hold anything: what would end a field is written %XX (hexadecimal), as the writer
 * does for the blanks in "operator new(unsigned long)".  The first '@' of an invocation's
 * function starts its call site.
 *
 * The file may come from anywhere.  Each field is checked by the table of tuple kinds below,
 * then tuples_check.c looks for lines that contradict each other.
 */
#include "trace/tuples/tuples.h"

#include <errno.h>
#include <string.h>
#include "base/file.h"
#include "base/map.h"
#include "base/str.h"
#include "trace/peers.h"
#include "trace/tuples/tuples_check.h"
#include "trace/tuples/tuples_fields.h"
#include "trace/tuples/tuples_ids.h"
#include "base/banned.h"

#define FIELDS_MAX 9			/* of the longest tuple; one more is damage in every kind */

static int parse_file(struct parser *p, const char *text, size_t len, const char *name);
static int parse_line(struct parser *p, const char *line, size_t len, bool *header_seen);

#define PARSER(name) static int parse_##name(struct parser *p, const struct field *f, size_t cnt)
PARSER(interval); PARSER(segment); PARSER(invocation); PARSER(wakeup); PARSER(creation);
PARSER(call); PARSER(work); PARSER(thread); PARSER(false_wakeup); PARSER(stack); PARSER(order);

static const struct tuple_kind {
	const char *name;
	size_t min, max;		/* fields after the name */
	const char *usage;
	int (*parse)(struct parser *p, const struct field *f, size_t cnt);
} tuple_kinds[] = {
	{ "interval", 6, 8, "interval SID NAME START_TID START_NS END_TID END_NS [completed [WEIGHT]|aborted]",
	  parse_interval },
	{ "segment", 5, 5, "segment TID SID START_NS END_NS STATE", parse_segment },
	{ "invocation", 5, 5, "invocation TID SID FUNCTION[@CALLSITE] START_NS END_NS",
	  parse_invocation },
	{ "wakeup", 3, 3, "wakeup TID WAKER_TID TIME_NS", parse_wakeup },
	{ "creation", 4, 5, "creation TID TIME_NS TID2 TIME2_NS [TASK]", parse_creation },
	{ "call", 2, 2, "call CALLER CALLEE", parse_call },
	{ "work", 3, 3, "work SID NAME VALUE", parse_work },
	{ "thread", 2, 4, "thread TID KIND [NAME [open]]", parse_thread },
	{ "false-wakeup", 2, 2, "false-wakeup TID TIME_NS", parse_false_wakeup },
	{ "stack", 4, 4, "stack TID START_NS END_NS FUNCTION[@PLACE];...", parse_stack },
	{ "order", 4, 5, "order TID TIME_NS OBJECT take|share|give|post|meet [SINCE_NS]", parse_order },
	{ "ids", 4, 4, "ids SID TRACE SPAN PARENT", tuples_parse_ids },
	{ "remote-call", 3, 3, "remote-call TID SPAN TIME_NS", tuples_parse_remote_call },
	{ "host", 1, 1, "host NAME", tuples_parse_host },
};

static void parser_init(struct parser *p, struct diag *reterr)
{
	*p = (struct parser) {
		.t = trace_new(), .interval_names = names_new(), .call_sites = names_new(),
		.task_names = names_new(), .work_names = names_new(), .functions = names_new(),
		.thread_names = names_new(), .call_stacks = names_new(), .sync_objects = names_new(),
		.reterr = reterr,
	};
}

static void parser_release(struct parser *p)
{
	trace_free(p->t);
	names_free(p->interval_names);
	names_free(p->call_sites);
	names_free(p->task_names);
	names_free(p->work_names);
	names_free(p->functions);
	names_free(p->thread_names);
	names_free(p->call_stacks);
	names_free(p->sync_objects);
	VEC_RELEASE(&p->origins.files);
	VEC_RELEASE(&p->origins.intervals);
	VEC_RELEASE(&p->origins.segments);
	VEC_RELEASE(&p->origins.invocations);
	VEC_RELEASE(&p->origins.stacks);
	str_release(&p->word);
}

/* r: the result of reading. */
static int parser_finish(struct parser *p, int r, struct trace **ret)
{
	if (r == 0)
		r = tuples_check(p->t, &p->origins, p->reterr);
	if (r == 0)
		*ret = trace_name_peers(TAKE_PTR(p->t));
	parser_release(p);
	return r;
}

int tuples_read(const char *const *paths, size_t path_cnt, struct trace **ret, struct diag *reterr)
{
	struct parser p;
	int r = 0;

	parser_init(&p, reterr);
	for (size_t i = 0; i < path_cnt && r == 0; i++) {
		_cleanup_(freep) char *text = NULL;
		size_t len = 0;

		r = file_read_given(paths[i], &text, &len);
		if (r < 0)
			r = diag_set(reterr, EXIT_DATA, r, "cannot read '%s': %s", paths[i],
				     strerror(-r));
		else
			r = parse_file(&p, text, len, paths[i]);
	}
	return parser_finish(&p, r, ret);
}

int tuples_parse(const char *text, size_t len, const char *name, struct trace **ret,
		 struct diag *reterr)
{
	struct parser p;

	parser_init(&p, reterr);
	return parser_finish(&p, parse_file(&p, text, len, name), ret);
}

static int parse_file(struct parser *p, const char *text, size_t len, const char *name)
{
	bool header_seen = false;
	int r = 0;

	VEC_ADD(&p->origins.files, arena_strdup(p->t->arena, name));
	p->line = 0;
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {	/* what some editors begin a file with */
		text += 3;
		len -= 3;
	}
	while (len > 0 && r == 0) {
		const char *newline = memchr(text, '\n', len);
		size_t line_len = newline ? (size_t)(newline - text) : len;

		p->line++;
		p->usage = NULL;
		r = parse_line(p, text, line_len, &header_seen);
		line_len += newline != NULL;
		text += line_len;
		len -= line_len;
	}
	if (r == 0 && !header_seen) {
		p->line = p->line ? p->line : 1;
		p->usage = NULL;
		r = field_expected(p, "\"vprof-tuples 1\" as the first line", NULL);
	}
	return r;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* Stores up to cap fields, returns how many there are (at most cap + 1). */
static size_t split_fields(const char *line, size_t len, struct field *fields, size_t cap)
{
	const char *p = line, *end = line + len;
	size_t cnt = 0;

	for (;;) {
		const char *start;

		while (p < end && is_blank(*p))
			p++;
		if (p == end || *p == '#')
			return cnt;
		if (cnt == cap)
			return cap + 1;
		start = p;
		while (p < end && !is_blank(*p))
			p++;
		fields[cnt++] = (struct field) { start, (size_t)(p - start) };
	}
}

static int parse_line(struct parser *p, const char *line, size_t len, bool *header_seen)
{
	struct field f[FIELDS_MAX];
	size_t cnt = split_fields(line, len, f, FIELDS_MAX);
	const struct tuple_kind *kind = NULL;

	if (cnt == 0)
		return 0;
	if (!*header_seen) {
		bool is_tuples = cnt == 2 && field_is(&f[0], "vprof-tuples");

		if (!is_tuples || !field_is(&f[1], "1"))
			return field_expected(p, "\"vprof-tuples 1\" as the first line", &f[is_tuples]);
		*header_seen = true;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(tuple_kinds); i++)
		if (field_is(&f[0], tuple_kinds[i].name))
			kind = &tuple_kinds[i];
	if (!kind)
		return field_expected(p, "interval, segment, invocation, wakeup, creation, call, work, thread, "
				"false-wakeup, stack, order, ids, remote-call or host", &f[0]);
	p->usage = kind->usage;
	if (cnt - 1 < kind->min)
		return field_expected(p, "more fields", NULL);
	if (cnt - 1 > kind->max)
		return field_expected(p, "fewer fields", &f[kind->max < FIELDS_MAX - 1 ? kind->max + 1
								       : FIELDS_MAX - 1]);
	return kind->parse(p, f + 1, cnt - 1);
}

static struct origin here(const struct parser *p)
{
	return (struct origin) { (uint32_t)(p->origins.files.cnt - 1), p->line };
}

/* ---- one function a kind of tuple ------------------------------------------- */

static int parse_interval_end(struct parser *p, const struct field *f, size_t cnt,
			      struct interval *iv)
{
	uint64_t weight = 0;
	int r;

	if (cnt >= 7 && !field_is(&f[6], "completed") && !field_is(&f[6], "aborted"))
		return field_expected(p, "completed or aborted", &f[6]);
	if (cnt == 8 && !field_is(&f[6], "completed"))
		return field_expected(p, "a WEIGHT for completed intervals only", &f[7]);
	if (cnt == 8 && (!field_digits(&f[7], UINT16_MAX, &weight) || !weight))
		return field_expected(p, "a whole number from 1 to 65535 as WEIGHT", &f[7]);
	iv->weight = (uint32_t)weight;
	if (field_is(&f[4], "-") && field_is(&f[5], "-")) {
		if (cnt >= 7 && field_is(&f[6], "completed"))
			return field_expected(p, "END_TID and END_NS of a completed interval", &f[4]);
		iv->status = cnt == 7 ? INTERVAL_ABORTED : INTERVAL_OPEN;
		iv->end_ns = -1;		/* before any start: none */
		return 0;
	}
	r = field_id(p, &f[4], "a number as END_TID (or \"-\" for both END_TID and END_NS)",
		     &iv->end_tid);
	if (r == 0)
		r = field_time(p, &f[5], "whole nanoseconds as END_NS", &iv->end_ns);
	if (r == 0 && iv->end_ns < iv->start_ns)
		r = field_expected(p, "END_NS not before START_NS", &f[5]);
	iv->status = cnt == 7 && field_is(&f[6], "aborted") ? INTERVAL_ABORTED : INTERVAL_COMPLETED;
	return r;
}

static int parse_interval(struct parser *p, const struct field *f, size_t cnt)
{
	struct interval iv = { 0 };
	int r = field_id(p, &f[0], "a number as SID", &iv.sid);

	if (r == 0)
		r = field_string(p, &f[1], "a name as NAME", p->interval_names,
				 &p->t->interval_names, &iv.name);
	if (r == 0)
		r = field_id(p, &f[2], "a number as START_TID", &iv.start_tid);
	if (r == 0)
		r = field_time(p, &f[3], "whole nanoseconds as START_NS", &iv.start_ns);
	if (r == 0)
		r = parse_interval_end(p, f, cnt, &iv);
	if (r < 0)
		return r;
	VEC_ADD(&p->t->intervals, iv);
	VEC_ADD(&p->origins.intervals, here(p));
	return 0;
}

static int parse_segment(struct parser *p, const struct field *f, size_t cnt)
{
	struct segment s = { 0 };
	char state[16] = "";
	int r = field_id(p, &f[0], "a number as TID", &s.tid);

	(void)cnt;
	if (r == 0)
		r = field_sid_or_none(p, &f[1], &s.sid);
	if (r == 0)
		r = field_span(p, &f[2], &s.start_ns, &s.end_ns);
	if (r < 0)
		return r;
	if (f[4].len < sizeof(state))
		memcpy(state, f[4].text, f[4].len);
	/* "wakeup" is the part of a wait after its wake-up: computed, never given. */
	if (!trace_state_parse(state, &s.state) || !field_is(&f[4], state) ||
	    s.state == STATE_WAKEUP)
		return field_expected(p, "running, lock, cond, io, queue, join, sleep, runnable or other "
				"as STATE", &f[4]);
	VEC_ADD(&p->t->segments, s);
	VEC_ADD(&p->origins.segments, here(p));
	return 0;
}

static int parse_invocation(struct parser *p, const struct field *f, size_t cnt)
{
	struct invocation inv = { .call_site = CALL_SITE_NONE };
	const char *at = memchr(f[2].text, '@', f[2].len);
	struct field function = f[2], site = { NULL, 0 };
	int r = field_id(p, &f[0], "a number as TID", &inv.tid);

	(void)cnt;
	if (at) {
		function.len = (size_t)(at - f[2].text);
		site = (struct field) { at + 1, f[2].len - function.len - 1 };
	}
	if (r == 0)
		r = field_sid_or_none(p, &f[1], &inv.sid);
	if (r == 0)
		r = field_function(p, &function, "a name as FUNCTION", &inv.function);
	if (r == 0 && at)
		r = field_string(p, &site, "a place after the '@' as CALLSITE", p->call_sites,
				 &p->t->call_sites, &inv.call_site);
	if (r == 0)
		r = field_span(p, &f[3], &inv.start_ns, &inv.end_ns);
	if (r < 0)
		return r;
	if (p->t->invocations.cnt >= UINT32_MAX - 1)
		return field_expected(p, "fewer than 2^32 invocations", &f[2]);
	inv.order = (uint32_t)p->t->invocations.cnt;
	p->t->functions.items[inv.function].probed = true;
	VEC_ADD(&p->t->invocations, inv);
	VEC_ADD(&p->origins.invocations, here(p));
	return 0;
}

static int parse_wakeup(struct parser *p, const struct field *f, size_t cnt)
{
	struct wakeup w = { 0 };
	int r = field_id(p, &f[0], "a number as TID", &w.tid);

	(void)cnt;
	if (r == 0)
		r = field_id(p, &f[1], "a number as WAKER_TID", &w.waker_tid);
	if (r == 0)
		r = field_time(p, &f[2], "whole nanoseconds as TIME_NS", &w.time_ns);
	if (r == 0)
		VEC_ADD(&p->t->wakeups, w);
	return r;
}

static int parse_creation(struct parser *p, const struct field *f, size_t cnt)
{
	struct creation c = { .task = NAME_NONE };
	int r = field_id(p, &f[0], "a number as TID", &c.tid);

	if (r == 0)
		r = field_time(p, &f[1], "whole nanoseconds as TIME_NS", &c.time_ns);
	if (r == 0)
		r = field_id(p, &f[2], "a number as TID2", &c.tid2);
	if (r == 0)
		r = field_time(p, &f[3], "whole nanoseconds as TIME2_NS", &c.time2_ns);
	if (r == 0 && cnt == 5 && !field_is(&f[4], "-"))
		r = field_string(p, &f[4], "a name as TASK", p->task_names, &p->t->task_names,
				 &c.task);
	if (r == 0)
		VEC_ADD(&p->t->creations, c);
	return r;
}

static int parse_call(struct parser *p, const struct field *f, size_t cnt)
{
	struct call c = { .call_site = CALL_SITE_NONE };
	int r = field_function(p, &f[0], "a function as CALLER", &c.caller);

	(void)cnt;
	if (r == 0)
		r = field_function(p, &f[1], "a function as CALLEE", &c.callee);
	if (r == 0)
		VEC_ADD(&p->t->calls, c);
	return r;
}

static int parse_work(struct parser *p, const struct field *f, size_t cnt)
{
	struct work w = { 0 };
	bool negative = f[2].len > 0 && f[2].text[0] == '-';
	struct field magnitude = { f[2].text + negative, f[2].len - negative };
	uint64_t value = 0;
	int r = field_id(p, &f[0], "a number as SID", &w.sid);

	(void)cnt;
	if (r == 0)
		r = field_string(p, &f[1], "a name as NAME", p->work_names, &p->t->work_names,
				 &w.name);
	if (r == 0 && !field_digits(&magnitude, (uint64_t)INT64_MAX + negative, &value))
		r = field_expected(p, "a whole number as VALUE", &f[2]);
	if (r < 0)
		return r;
	w.value = (int64_t)(negative ? -value : value);
	VEC_ADD(&p->t->works, w);
	return 0;
}

static int parse_thread(struct parser *p, const struct field *f, size_t cnt)
{
	struct thread_name t = { 0 };
	char kind[16] = "";
	uint32_t name;
	int r = field_id(p, &f[0], "a number as TID", &t.tid);

	if (r == 0 && f[1].len < sizeof(kind))
		memcpy(kind, f[1].text, f[1].len);
	if (r == 0 && !thread_kind_parse(kind, &t.kind))
		r = field_expected(p, "thread, disk, nic, timer, kernel or peer as KIND", &f[1]);
	if (r == 0 && cnt == 4 && !field_is(&f[3], "open"))
		r = field_expected(p, "open or nothing after NAME", &f[3]);
	t.open_end = cnt == 4;
	if (r == 0 && cnt >= 3 && !field_is(&f[2], "-")) {
		r = field_name(p, &f[2], "a name as NAME", p->thread_names, &name);
		if (r == 0)
			t.name = arena_strdup(p->t->arena, names_get(p->thread_names, name));
	}
	if (r == 0)
		VEC_ADD(&p->t->threads, t);
	return r;
}

static int parse_false_wakeup(struct parser *p, const struct field *f, size_t cnt)
{
	struct false_wakeup w = { 0 };
	int r = field_id(p, &f[0], "a number as TID", &w.tid);

	(void)cnt;
	if (r == 0)
		r = field_time(p, &f[1], "whole nanoseconds as TIME_NS", &w.time_ns);
	if (r == 0)
		VEC_ADD(&p->t->false_wakeups, w);
	return r;
}

/* Keeps the text as it is: an escape in it is part of a function's name. */
static int parse_stack(struct parser *p, const struct field *f, size_t cnt)
{
	struct stack_span s = { 0 };
	int r = field_id(p, &f[0], "a number as TID", &s.tid);

	(void)cnt;
	if (r == 0)
		r = field_span(p, &f[1], &s.start_ns, &s.end_ns);
	if (r < 0)
		return r;
	str_reset(&p->word);
	str_addn(&p->word, f[3].text, f[3].len);
	s.stack = names_add(p->call_stacks, str_cstr(&p->word));
	if (s.stack == p->t->call_stacks.cnt)
		VEC_ADD(&p->t->call_stacks, arena_strdup(p->t->arena, str_cstr(&p->word)));
	VEC_ADD(&p->t->stack_spans, s);
	VEC_ADD(&p->origins.stacks, here(p));
	return 0;
}

static int parse_order(struct parser *p, const struct field *f, size_t cnt)
{
	struct sync_op op = { .order = (uint32_t)p->t->sync_ops.cnt };
	char kind[8] = "";
	int r = field_id(p, &f[0], "a number as TID", &op.tid);

	if (r == 0)
		r = field_time(p, &f[1], "whole nanoseconds as TIME_NS", &op.ns);
	if (r == 0)
		r = field_string(p, &f[2], "a name as OBJECT", p->sync_objects, &p->t->sync_objects, &op.object);
	op.since_ns = op.ns;
	if (r == 0 && cnt == 5)
		r = field_time(p, &f[4], "whole nanoseconds as SINCE_NS", &op.since_ns);
	if (r < 0)
		return r;
	if (op.since_ns > op.ns)
		return field_expected(p, "SINCE_NS not after TIME_NS", &f[4]);
	if (f[3].len < sizeof(kind))
		memcpy(kind, f[3].text, f[3].len);
	if (!sync_kind_parse(kind, &op.kind) || !field_is(&f[3], kind))
		return field_expected(p, "take, share, give, post or meet", &f[3]);
	VEC_ADD(&p->t->sync_ops, op);
	return 0;
}
