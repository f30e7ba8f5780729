/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * generate_tuples.c - a trace as tuples, valid as trace/tuples/tuples_check.c has it.
 *
 * Each thread has a clock, a stack of open calls and perhaps an interval.  A step lets its clock go on by a segment,
 * opens or ends a call, begins, ends or hands over an interval.  Requests are alike in real traces, so a script of
 * some steps is played many times, each time with other lengths.  Whatever is open at the end is closed there.
 *
 *	thread 1:  begin request 7 | call f | running 10 | lock 30, woken by 2 | return | end
 */
#include <inttypes.h>
#include <stdbool.h>
#include "base/alloc.h"
#include "base/banned.h"
#include "tests/fuzz/generate.h"
#include "trace/model.h"

enum { THREADS_MAX = 7, DEPTH_MAX = 12, STEPS_MAX = 24, LINES_MAX = 1000 };

enum step_kind {
	STEP_RUN, STEP_CALL, STEP_RETURN, STEP_WAIT, STEP_BEGIN, STEP_END, STEP_HAND, STEP_WORK, STEP_STACK,
	STEP_WAKE, STEP_FALSE_WAKEUP, STEP_ORDER, STEP_KIND_CNT
};

struct step {
	enum step_kind kind;
	unsigned int thread, what, other;
	int64_t ns;
};

struct open_call {
	unsigned int function, site;
	uint64_t sid;
	int64_t start_ns;
};

struct thread {
	uint64_t tid;
	int64_t now_ns, stack_ns;
	struct open_call calls[DEPTH_MAX];
	size_t depth;
	bool has_interval;
	struct {
		uint64_t sid, start_tid;
		unsigned int name;
		int64_t start_ns;
	} interval;
};

struct generator {
	struct choices c;
	struct str *out;
	struct thread threads[THREADS_MAX];
	unsigned int thread_cnt;
	struct step steps[STEPS_MAX];
	size_t step_cnt, lines;
	uint64_t sid, random;
	bool weights;
};

static const char *const functions[] = {
	"main", "serve", "parse", "a%0ab", "operator%20new", "f", "f<int>(f&)", "%1b%5b31mred", "-", "a;b", "%", "wait",
	"\xc3\xa9t\xc3\xa9", "\xff", "\"quoted\"", "&amp;",
};
static const char *const sites[] = { "", "", "", "", "@serve.c:7", "@serve.c:8", "@%0a", "@(disk)" };
static const char *const intervals[] = { "request", "request", "request", "query", "%09", "a,b" };
static const char *const waits[] = { "lock", "cond", "io", "queue", "join", "sleep", "runnable", "other" };
static const char *const works[] = { "rows", "bytes", "%22" };
static const char *const stacks[] = { "main;serve;parse", "main;serve@a.c:3;wait", "main", "main;a;b;c;d;e;f", "<b>;x" };
static const char *const kinds[] = { "thread", "disk", "nic", "timer", "kernel" };

#define ANY(list, number) ((list)[(number) % (sizeof(list) / sizeof(*(list)))])

/* Lengths of one step differ from request to request; this is no choice, or the bytes would not suffice. */
static int64_t varied(struct generator *g, int64_t ns)
{
	g->random = g->random * 6364136223846793005 + 1442695040888963407;
	switch (g->random >> 60) {
	case 0:
		return ns > INT64_MAX / 8 ? ns : 8 * ns;
	case 1:
		return 0;
	default:
		return ns / 2 + (int64_t)((g->random >> 33) % (uint64_t)(ns / 2 + 1));
	}
}

static int64_t later(int64_t now_ns, int64_t ns)
{
	return ns > INT64_MAX - now_ns ? INT64_MAX : now_ns + ns;
}

static uint64_t sid_of(const struct thread *t)
{
	return t->has_interval ? t->interval.sid : SID_NONE;
}

static void add_sid(struct generator *g, uint64_t sid)
{
	if (sid == SID_NONE)
		str_add(g->out, "-");
	else
		str_addf(g->out, "%" PRIu64, sid);
}

static void add_segment(struct generator *g, struct thread *t, int64_t ns, const char *state)
{
	int64_t end_ns = later(t->now_ns, ns);

	str_addf(g->out, "segment %" PRIu64 " ", t->tid);
	add_sid(g, sid_of(t));
	str_addf(g->out, " %" PRId64 " %" PRId64 " %s\n", t->now_ns, end_ns, state);
	t->now_ns = end_ns;
}

static void end_call(struct generator *g, struct thread *t)
{
	const struct open_call *call = &t->calls[--t->depth];

	str_addf(g->out, "invocation %" PRIu64 " ", t->tid);
	add_sid(g, call->sid);
	str_addf(g->out, " %s%s %" PRId64 " %" PRId64 "\n", ANY(functions, call->function), ANY(sites, call->site),
		 call->start_ns, t->now_ns);
}

static void end_interval(struct generator *g, struct thread *t, unsigned int how)
{
	int64_t end_ns = t->now_ns < t->interval.start_ns ? t->interval.start_ns : t->now_ns;

	t->has_interval = false;
	str_addf(g->out, "interval %" PRIu64 " %s %" PRIu64 " %" PRId64 " ", t->interval.sid,
		 ANY(intervals, t->interval.name), t->interval.start_tid, t->interval.start_ns);
	if (how == 255)
		str_add(g->out, "- -\n");
	else
		str_addf(g->out, "%" PRIu64 " %" PRId64 "%s\n", t->tid, end_ns, how == 254 ? " aborted" :
			 how > 240 && g->weights ? " completed 65535" : how > 220 && g->weights ? " completed 3" : "");
}

static void begin_interval(struct generator *g, struct thread *t, unsigned int name)
{
	if (t->has_interval)
		end_interval(g, t, 0);
	t->has_interval = true;
	t->interval.sid = g->sid++;
	t->interval.name = name;
	t->interval.start_tid = t->tid;
	t->interval.start_ns = t->now_ns;
}

/* The other thread goes on with it, as a task or just so. */
static void hand_over(struct generator *g, struct thread *t, struct thread *to, unsigned int what)
{
	if (!t->has_interval || to == t || to->has_interval)
		return;
	if (what % 4)
		str_addf(g->out, "creation %" PRIu64 " %" PRId64 " %" PRIu64 " %" PRId64 "%s\n", t->tid, t->now_ns, to->tid,
			 to->now_ns, what % 4 == 1 ? " task" : "");
	to->has_interval = true;
	to->interval = t->interval;
	t->has_interval = false;
}

/* Woken at the end, a little before it, or at some time. */
static void wait_for(struct generator *g, struct thread *t, const struct thread *waker, const struct step *s, int64_t ns)
{
	int64_t start_ns = t->now_ns, woken_ns;

	add_segment(g, t, ns, ANY(waits, s->what));
	woken_ns = s->what % 16 < 10 ? t->now_ns : start_ns + (t->now_ns - start_ns) / 3;
	if (s->what < 224)
		str_addf(g->out, "wakeup %" PRIu64 " %" PRIu64 " %" PRId64 "\n", t->tid, waker->tid, woken_ns);
}

static void add_stack(struct generator *g, struct thread *t, unsigned int what)
{
	if (t->stack_ns < t->now_ns)
		str_addf(g->out, "stack %" PRIu64 " %" PRId64 " %" PRId64 " %s\n", t->tid, t->stack_ns, t->now_ns,
			 ANY(stacks, what));
	t->stack_ns = t->now_ns;
}

static void play_call(struct thread *t, const struct step *s)
{
	if (t->depth < DEPTH_MAX)
		t->calls[t->depth++] = (struct open_call){ s->what, s->other, sid_of(t), t->now_ns };
}

static void play(struct generator *g, const struct step *s)
{
	struct thread *t = &g->threads[s->thread % g->thread_cnt], *other = &g->threads[s->other % g->thread_cnt];
	int64_t ns = varied(g, s->ns);

	g->lines++;
	switch (s->kind) {
	case STEP_CALL:
		play_call(t, s);
		break;
	case STEP_RETURN:
		if (t->depth)
			end_call(g, t);
		break;
	case STEP_WAIT:
		wait_for(g, t, other, s, ns);
		break;
	case STEP_BEGIN:
		begin_interval(g, t, s->what);
		break;
	case STEP_END:
		if (t->has_interval)
			end_interval(g, t, s->what);
		break;
	case STEP_HAND:
		hand_over(g, t, other, s->what);
		break;
	case STEP_WORK:
		str_addf(g->out, "work %" PRIu64 " %s %s%" PRId64 "\n", t->has_interval ? t->interval.sid : 1,
			 ANY(works, s->what), s->other > 200 ? "-" : "", ns);
		break;
	case STEP_STACK:
		add_stack(g, t, s->what);
		break;
	case STEP_WAKE:
		str_addf(g->out, "wakeup %" PRIu64 " %" PRIu64 " %" PRId64 "\n", other->tid, t->tid, t->now_ns);
		break;
	case STEP_FALSE_WAKEUP:
		str_addf(g->out, "false-wakeup %" PRIu64 " %" PRId64 "\n", t->tid, t->now_ns);
		break;
	case STEP_ORDER:
		str_addf(g->out, "order %" PRIu64 " %" PRId64 " m%u %s", t->tid, t->now_ns, s->what % 3,
			 sync_kind_name((enum sync_kind)(s->other % (SYNC_MEET + 1))));
		if (ns <= t->now_ns)
			str_addf(g->out, " %" PRId64, t->now_ns - ns);
		str_addc(g->out, '\n');
		break;
	default:
		add_segment(g, t, ns, "running");
	}
}

static struct step choose_step(struct generator *g)
{
	/* The usual steps of traces come more often. */
	static const enum step_kind likely[] = {
		STEP_RUN, STEP_CALL, STEP_RETURN, STEP_WAIT, STEP_RUN, STEP_WAIT, STEP_CALL, STEP_RETURN, STEP_BEGIN, STEP_END,
	};
	unsigned int kind = choose_byte(&g->c);

	return (struct step){ kind < 200 ? ANY(likely, kind) : (enum step_kind)(kind % STEP_KIND_CNT),
			      choose_byte(&g->c), choose_byte(&g->c), choose_byte(&g->c), choose_ns(&g->c) };
}

/* A script of some steps, some times; the first step of a script often begins an interval, the last one ends it. */
static void play_script(struct generator *g)
{
	unsigned int times = 1 + choose(&g->c, 40), has_interval = choose(&g->c, 4);

	g->step_cnt = 1 + choose(&g->c, STEPS_MAX);
	for (size_t i = 0; i < g->step_cnt; i++)
		g->steps[i] = choose_step(g);
	if (has_interval && g->step_cnt > 2) {
		g->steps[0].kind = STEP_BEGIN;
		g->steps[g->step_cnt - 1].kind = STEP_END;
		g->steps[g->step_cnt - 1].thread = g->steps[0].thread;
	}
	while (times-- && g->lines < LINES_MAX)
		for (size_t i = 0; i < g->step_cnt; i++)
			play(g, &g->steps[i]);
}

static void make_threads(struct generator *g)
{
	static const uint64_t tids[] = { 1, 2, 3, 0, UINT64_MAX - 1, (uint64_t)1 << 63, 1ULL << 48 | 3ULL << 40 };
	int64_t start_ns = choose_start_ns(&g->c, INT64_MAX);
	unsigned int apart = choose(&g->c, 4);

	g->thread_cnt = 1 + choose(&g->c, THREADS_MAX);
	for (unsigned int i = 0; i < g->thread_cnt; i++) {
		struct thread *t = &g->threads[i];
		unsigned int named = choose_byte(&g->c);

		t->tid = tids[i];
		t->now_ns = t->stack_ns = apart ? start_ns : choose_start_ns(&g->c, INT64_MAX);
		if (named > 128)
			str_addf(g->out, "thread %" PRIu64 " %s%s%s\n", t->tid, named > 200 ? ANY(kinds, named) : "thread",
				 named % 2 ? " worker" : "", named % 8 == 7 ? " open" : "");
	}
}

static void add_calls(struct generator *g)
{
	for (unsigned int cnt = choose(&g->c, 8); cnt > 0; cnt--) {
		unsigned int caller = choose_byte(&g->c), callee = choose_byte(&g->c);

		str_addf(g->out, "call %s %s\n", ANY(functions, caller), ANY(functions, callee));
	}
}

void generate_tuples(const uint8_t *data, size_t len, struct str *ret)
{
	struct generator *g = xcalloc(1, sizeof(*g));
	unsigned int wrong;

	g->c = (struct choices){ data, len, 0 };
	g->out = ret;
	g->weights = choose(&g->c, 3) == 1;
	g->random = choose_byte(&g->c);
	g->sid = choose(&g->c, 16) ? 1 : UINT64_MAX / 2;
	wrong = choose(&g->c, 32);
	str_add(ret, "vprof-tuples 1\n");
	make_threads(g);
	add_calls(g);
	do
		play_script(g);
	while (g->c.at < g->c.len && g->lines < LINES_MAX);
	for (unsigned int i = 0; i < g->thread_cnt; i++) {
		struct thread *t = &g->threads[i];

		while (t->depth)
			end_call(g, t);
		if (t->has_interval)
			end_interval(g, t, 255);
	}
	if (wrong == 31)
		str_addf(ret, "segment 1 - 0 %" PRId64 " running\nsegment 1 - 1 2 lock\n", INT64_MAX);
	free(g);
}
