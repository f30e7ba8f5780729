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

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "base/file.h"
#include "base/map.h"
#include "base/str.h"
#include "trace/peers.h"
#include "trace/tuples/tuples_check.h"
#include "base/banned.h"

#define FIELDS_MAX 9			/* of the longest tuple; one more is damage in every kind */

struct field {
	const char *text;
	size_t len;
};

struct parser {
	struct trace *t;
	struct names *interval_names, *call_sites, *task_names, *work_names, *functions, *thread_names, *call_stacks;
	struct origins origins;
	uint32_t line;
	const char *usage;		/* of the tuple being read */
	struct str word;		/* scratch: a name, decoded */
	struct diag *reterr;
};

static int parse_file(struct parser *p, const char *text, size_t len, const char *name);
static int parse_line(struct parser *p, const char *line, size_t len, bool *header_seen);

#define PARSER(name) static int parse_##name(struct parser *p, const struct field *f, size_t cnt)
PARSER(interval); PARSER(segment); PARSER(invocation); PARSER(wakeup); PARSER(creation);
PARSER(call); PARSER(work); PARSER(thread); PARSER(false_wakeup); PARSER(stack);

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
};

static void parser_init(struct parser *p, struct diag *reterr)
{
	*p = (struct parser) {
		.t = trace_new(), .interval_names = names_new(), .call_sites = names_new(),
		.task_names = names_new(), .work_names = names_new(), .functions = names_new(),
		.thread_names = names_new(), .call_stacks = names_new(),
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

/* "FILE:LINE: expected WHAT in "segment TID ...", found "x"".  Always -EBADMSG. */
static int expected(const struct parser *p, const char *what, const struct field *found)
{
	char shown[64] = "nothing";
	size_t len = 0;

	if (found) {
		shown[len++] = '"';
		for (size_t i = 0; i < found->len && len < sizeof(shown) - 2; i++)
			shown[len++] = isprint((unsigned char)found->text[i]) ? found->text[i] : '?';
		shown[len++] = '"';
		shown[len] = '\0';
	}
	return diag_set(p->reterr, EXIT_DATA, -EBADMSG, "%s:%" PRIu32 ": expected %s%s%s%s, found %s",
			p->origins.files.items[p->origins.files.cnt - 1], p->line, what,
			p->usage ? " in \"" : "", p->usage ? p->usage : "", p->usage ? "\"" : "",
			shown);
}

static int parse_file(struct parser *p, const char *text, size_t len, const char *name)
{
	bool header_seen = false;
	int r = 0;

	VEC_ADD(&p->origins.files, arena_strdup(p->t->arena, name));
	p->line = 0;
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
		r = expected(p, "\"vprof-tuples 1\" as the first line", NULL);
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

static bool field_is(const struct field *f, const char *word)
{
	return f->len == strlen(word) && memcmp(f->text, word, f->len) == 0;
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
			return expected(p, "\"vprof-tuples 1\" as the first line", &f[is_tuples]);
		*header_seen = true;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(tuple_kinds); i++)
		if (field_is(&f[0], tuple_kinds[i].name))
			kind = &tuple_kinds[i];
	if (!kind)
		return expected(p, "interval, segment, invocation, wakeup, creation, call, work, thread, "
				"false-wakeup or stack", &f[0]);
	p->usage = kind->usage;
	if (cnt - 1 < kind->min)
		return expected(p, "more fields", NULL);
	if (cnt - 1 > kind->max)
		return expected(p, "fewer fields", &f[kind->max < FIELDS_MAX - 1 ? kind->max + 1
								       : FIELDS_MAX - 1]);
	return kind->parse(p, f + 1, cnt - 1);
}

/* ---- fields --------------------------------------------------------------- */

static bool digits(const struct field *f, uint64_t max, uint64_t *ret)
{
	uint64_t value = 0;

	if (f->len == 0)
		return false;
	for (size_t i = 0; i < f->len; i++) {
		unsigned int digit = (unsigned int)(f->text[i] - '0');

		if (digit > 9 || value > (max - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*ret = value;
	return true;
}

static int field_id(struct parser *p, const struct field *f, const char *what, uint64_t *ret)
{
	/* The largest number stands for "none" inside. */
	if (digits(f, UINT64_MAX, ret))
		return *ret < UINT64_MAX ? 0 : expected(p, "a number below 18446744073709551615", f);
	return expected(p, what, f);
}

static int field_sid_or_none(struct parser *p, const struct field *f, uint64_t *ret)
{
	if (field_is(f, "-")) {
		*ret = SID_NONE;
		return 0;
	}
	return field_id(p, f, "a number or \"-\" as SID", ret);
}

static int field_time(struct parser *p, const struct field *f, const char *what, int64_t *ret)
{
	uint64_t value;

	if (!digits(f, INT64_MAX, &value))
		return expected(p, what, f);
	*ret = (int64_t)value;
	return 0;
}

/* START_NS END_NS, in this order and possible. */
static int field_span(struct parser *p, const struct field *f, int64_t *ret_start, int64_t *ret_end)
{
	int r = field_time(p, &f[0], "whole nanoseconds as START_NS", ret_start);

	if (r == 0)
		r = field_time(p, &f[1], "whole nanoseconds as END_NS", ret_end);
	if (r == 0 && *ret_end < *ret_start)
		r = expected(p, "END_NS not before START_NS", &f[1]);
	return r;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes %XX into p->word and numbers the name; a NUL can be part of no name. */
static int field_name(struct parser *p, const struct field *f, const char *what,
		      struct names *names, uint32_t *ret)
{
	str_reset(&p->word);
	for (size_t i = 0; i < f->len; i++) {
		char c = f->text[i];

		if (c == '%' && i + 2 < f->len && hex_digit(f->text[i + 1]) >= 0 &&
		    hex_digit(f->text[i + 2]) >= 0) {
			c = (char)(hex_digit(f->text[i + 1]) << 4 | hex_digit(f->text[i + 2]));
			i += 2;
		}
		if (c == '\0')
			return expected(p, what, f);
		str_addc(&p->word, c);
	}
	if (p->word.len == 0)
		return expected(p, what, f);
	*ret = names_add(names, str_cstr(&p->word));
	return 0;
}

static int field_string(struct parser *p, const struct field *f, const char *what,
			struct names *names, strings *list, uint32_t *ret)
{
	int r = field_name(p, f, what, names, ret);

	if (r == 0 && *ret == list->cnt)
		VEC_ADD(list, arena_strdup(p->t->arena, names_get(names, *ret)));
	return r;
}

static int field_function(struct parser *p, const struct field *f, const char *what, uint32_t *ret)
{
	int r = field_name(p, f, what, p->functions, ret);

	if (r == 0 && *ret == p->t->functions.cnt)
		VEC_EXTEND(&p->t->functions)->name =
			arena_strdup(p->t->arena, names_get(p->functions, *ret));
	return r;
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
		return expected(p, "completed or aborted", &f[6]);
	if (cnt == 8 && !field_is(&f[6], "completed"))
		return expected(p, "a WEIGHT for completed intervals only", &f[7]);
	if (cnt == 8 && (!digits(&f[7], UINT16_MAX, &weight) || !weight))
		return expected(p, "a whole number from 1 to 65535 as WEIGHT", &f[7]);
	iv->weight = (uint32_t)weight;
	if (field_is(&f[4], "-") && field_is(&f[5], "-")) {
		if (cnt >= 7 && field_is(&f[6], "completed"))
			return expected(p, "END_TID and END_NS of a completed interval", &f[4]);
		iv->status = cnt == 7 ? INTERVAL_ABORTED : INTERVAL_OPEN;
		iv->end_ns = -1;		/* before any start: none */
		return 0;
	}
	r = field_id(p, &f[4], "a number as END_TID (or \"-\" for both END_TID and END_NS)",
		     &iv->end_tid);
	if (r == 0)
		r = field_time(p, &f[5], "whole nanoseconds as END_NS", &iv->end_ns);
	if (r == 0 && iv->end_ns < iv->start_ns)
		r = expected(p, "END_NS not before START_NS", &f[5]);
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
		return expected(p, "running, lock, cond, io, queue, join, sleep, runnable or other "
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
		return expected(p, "fewer than 2^32 invocations", &f[2]);
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
	if (r == 0 && !digits(&magnitude, (uint64_t)INT64_MAX + negative, &value))
		r = expected(p, "a whole number as VALUE", &f[2]);
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
		r = expected(p, "thread, disk, nic, timer or peer as KIND", &f[1]);
	if (r == 0 && cnt == 4 && !field_is(&f[3], "open"))
		r = expected(p, "open or nothing after NAME", &f[3]);
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
