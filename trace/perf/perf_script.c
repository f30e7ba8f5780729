/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perf_script.c - the lines of `perf script`, in order of time, to perf_tasks.c and perf_cpus.c.
 *
 *	swapper  0 [001] 5.000019000: sched:sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120
 *		prev_state=R ==> next_comm=dd next_pid=40 next_prio=120
 *
 * libtraceevent's plugins print another form of the same events ("swapper/1:0 [120] R ==> dd:40 [120]",
 * "dd:40 [120] CPU:001"); both are read, also as ftrace prints them.  Events of other kinds, stacks and comments are
 * passed over.
 */
#include "trace/perf/perf_script.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "trace/perf/perf_cpus.h"
#include "trace/perf/perf_line.h"
#include "trace/perf/perf_tasks.h"
#include "base/banned.h"

#define RELATIVE_MAX_NS 1000000000LL
enum {
	COMM_BYTES = 15,		/* a name of the kernel's */
	CUT_TEXT_MAX = 1024		/* an event's text is shorter, however often names cut it */
};

struct event {
	struct perf_line line;
	size_t order;
};

struct script {
	VEC(struct event) events;
	VEC(char *) texts;
	struct kernel_trace *k;
	struct perf_cpus *cpus;
	struct perf_tasks *tasks;
	struct perf_script_stats stats;
	bool has_waking;		/* sched_waking, that is: sched_wakeup may be on another CPU */
	struct diag *reterr;
};

/* "dd:40 [120] ...": *ret is after it. */
static bool take_short(struct perf_text *t, struct perf_text *ret_comm, uint32_t *ret_tid)
{
	for (size_t i = 1; i + 1 < t->len; i++) {
		struct perf_text number = { t->at + i + 1, t->len - i - 1 };
		uint64_t tid;

		if (t->at[i] != ':' || !perf_take_number(&number, UINT32_MAX, &tid) || number.len < 2 ||
		    number.at[0] != ' ' || number.at[1] != '[')
			continue;
		*ret_comm = (struct perf_text){ t->at, i };
		*ret_tid = (uint32_t)tid;
		while (number.len && *number.at != ']')
			number = (struct perf_text){ number.at + 1, number.len - 1 };
		for (int skip = 0; skip < 2 && number.len; skip++)	/* "] " */
			number = (struct perf_text){ number.at + 1, number.len - 1 };
		*t = number;
		return true;
	}
	return false;
}

static bool parse_short_switch(const struct perf_line *l, struct perf_switch *ret)
{
	static const char arrow[] = " ==> ";
	struct perf_text t = l->text;

	if (!take_short(&t, &ret->prev_comm, &ret->prev))
		return false;
	ret->state = t;
	for (ret->state.len = 0; ret->state.len < t.len && t.at[ret->state.len] != ' ';)
		ret->state.len++;
	if (t.len < ret->state.len + sizeof(arrow) ||
	    memcmp(t.at + ret->state.len, arrow, sizeof(arrow) - 1) != 0)
		return false;
	t = (struct perf_text){ t.at + ret->state.len + sizeof(arrow) - 1,
				t.len - ret->state.len - (sizeof(arrow) - 1) };
	return take_short(&t, &ret->next_comm, &ret->next);
}

static void take_switch(struct script *s, const struct perf_line *l)
{
	struct perf_switch x = { .prev = 0 };

	if (!perf_switch_fields(l, &x) && !parse_short_switch(l, &x))
		return;
	s->stats.switches++;
	perf_cpus_switched(s->cpus, l);
	if (x.prev)
		perf_tasks_switch_out(s->tasks, x.prev, x.prev_comm, x.state, l->ns);
	if (x.next)
		perf_tasks_switch_in(s->tasks, x.next, x.next_comm, l->ns);
}

static bool woken_thread(const struct perf_line *l, struct perf_text *ret_comm, uint32_t *ret_tid)
{
	struct perf_text t = l->text;

	if (perf_field_number(l, "pid", ret_tid) && perf_field_until(l, "comm", "pid", ret_comm))
		return *ret_tid != 0;
	return take_short(&t, ret_comm, ret_tid) && *ret_tid;
}

static void take_waking(struct script *s, const struct perf_line *l)
{
	struct perf_text comm;
	uint32_t tid;

	s->stats.no_waking = false;
	if (woken_thread(l, &comm, &tid))
		perf_tasks_woken(s->tasks, tid, perf_cpus_waker(s->cpus, l), l->ns);
}

/* "success=0": the thread was awake already.  Looked for after the thread, since its name may contain anything. */
static bool has_failed(const struct perf_line *l)
{
	struct perf_text pid, success;

	if (!perf_field(l, "success", &success) || !perf_text_is(success, "0"))
		return false;
	return !perf_field(l, "pid", &pid) || pid.at < success.at;
}

/* CPU of the woken thread: "target_cpu=001", "CPU:001". */
static bool target_cpu(const struct perf_line *l, uint32_t *ret)
{
	static const char key[] = "CPU:";
	size_t len = sizeof(key) - 1;
	struct perf_text t = l->text;
	uint64_t cpu;

	if (perf_field_number(l, "target_cpu", ret))
		return true;
	for (size_t i = t.len; i-- > len;) {
		struct perf_text number = { t.at + i, t.len - i };

		if (memcmp(t.at + i - len, key, len) == 0 && perf_take_number(&number, UINT32_MAX, &cpu)) {
			*ret = (uint32_t)cpu;
			return true;
		}
	}
	return false;
}

/*
 * Without sched_waking: the waker of a thread on another CPU may leave the rest to that CPU, which then
 * prints sched_wakeup in an interrupt.  So the thread found on the woken thread's CPU may have nothing to do
 * with it.
 */
static void take_wakeup(struct script *s, const struct perf_line *l)
{
	struct perf_waker waker;
	struct perf_text comm;
	uint32_t tid, cpu;

	if (s->has_waking || has_failed(l))
		return;
	s->stats.no_waking = false;
	s->stats.wakeup_only = true;
	if (!woken_thread(l, &comm, &tid))
		return;
	waker = perf_cpus_waker(s->cpus, l);
	if (waker.kind == WAKER_TASK && waker.number && (!target_cpu(l, &cpu) || cpu == l->cpu)) {
		waker = (struct perf_waker){ .kind = WAKER_TASK, .is_doubtful = true };
		s->stats.doubtful++;
	}
	perf_tasks_woken(s->tasks, tid, waker, l->ns);
}

static void take_new(struct script *s, const struct perf_line *l)
{
	struct perf_text comm;
	uint32_t tid;

	if (woken_thread(l, &comm, &tid))
		perf_tasks_fork(s->tasks, tid, l->tid, comm, l->ns);
}

static void take_fork(struct script *s, const struct perf_line *l)
{
	struct perf_text comm = { "", 0 };
	uint32_t tid;

	if (!perf_field_number(l, "child_pid", &tid) || !tid)
		return;
	perf_field_until(l, "child_comm", "child_pid", &comm);
	perf_tasks_fork(s->tasks, tid, l->tid, comm, l->ns);
}

static void take_exit(struct script *s, const struct perf_line *l)
{
	if (l->tid)
		perf_tasks_exit(s->tasks, l->tid, l->ns);
}

static void take_iowait(struct script *s, const struct perf_line *l)
{
	uint32_t tid;

	if (perf_field_number(l, "pid", &tid) && tid)
		perf_tasks_iowait(s->tasks, tid);
}

static void take_sys_enter(struct script *s, const struct perf_line *l)
{
	s->stats.no_syscalls = false;
	if (l->tid)
		perf_tasks_syscall(s->tasks, l, true);
}

static void take_sys_exit(struct script *s, const struct perf_line *l)
{
	if (l->tid)
		perf_tasks_syscall(s->tasks, l, false);
}

/* "lost 12": events that the kernel had no room for. */
static void take_lost(struct script *s, const struct perf_line *l)
{
	struct perf_text t = l->text;
	uint64_t cnt;

	while (t.len && (*t.at < '0' || *t.at > '9'))
		t = (struct perf_text){ t.at + 1, t.len - 1 };
	if (perf_take_number(&t, UINT32_MAX, &cnt))
		s->k->lost += cnt;
}

static void take_lost_record(struct script *s, const struct perf_line *l)
{
	if (perf_text_is(l->event, "PERF_RECORD_LOST") || perf_text_is(l->event, "PERF_RECORD_LOST_SAMPLES"))
		take_lost(s, l);
}

static const struct event_kind {
	const char *name;
	void (*take)(struct script *s, const struct perf_line *l);
} event_kinds[] = {
	{ "sched_switch", take_switch },
	{ "sched_waking", take_waking },
	{ "sched_wakeup", take_wakeup },
	{ "sched_wakeup_new", take_new },
	{ "sched_process_fork", take_fork },
	{ "sched_process_exit", take_exit },
	{ "sched_stat_iowait", take_iowait },
	{ "sys_enter", take_sys_enter },
	{ "sys_exit", take_sys_exit },
	{ "PERF_RECORD_LOST", take_lost },
	{ "PERF_RECORD_LOST_SAMPLES", take_lost },
	{ NULL, NULL }
};

static void take_event(struct script *s, const struct perf_line *l)
{
	perf_tasks_seen(s->tasks, l);
	if (perf_cpus_event(s->cpus, l)) {
		s->stats.no_interrupts = false;
		return;
	}
	for (const struct event_kind *e = event_kinds; e->name; e++)
		if (perf_text_is(l->event, e->name)) {
			e->take(s, l);
			break;
		}
}

/* sched_switch ends with the second thread, other events with one.  If that is missing, a line feed in a name
 * has cut the line. */
static bool is_cut(const struct perf_line *l)
{
	struct perf_text t;

	if (perf_text_is(l->event, "sched_switch"))
		return perf_field(l, "prev_comm", &t) && !perf_field(l, "next_prio", &t);
	return (perf_field(l, "comm", &t) || perf_field(l, "child_comm", &t)) && !perf_field(l, "pid", &t) &&
	       !perf_field(l, "child_pid", &t);
}

struct place {				/* in a file */
	const char *name;
	size_t line, damaged;		/* damaged: a line that makes no sense unless the next one shows why; 0: none */
	size_t damaged_len;
	bool in_stack;			/* an event, or frames, stand just before */
	struct perf_line *last;		/* NULL: no event yet */
};

static int damage(struct script *s, const struct place *p)
{
	diag_set(s->reterr, EXIT_DATA, -EBADMSG, "%s:%zu: expected COMM TID [CPU] SECONDS: EVENT: ..., "
		 "as perf script prints it", p->name, p->damaged);
	return diag_remedy(s->reterr, -EBADMSG, "perf script --ns --show-lost-events -F comm,pid,tid,cpu,time,event,trace");
}

/* A line feed in a name puts the beginning on a line of its own, before the event or in the middle of its text. */
static void take_odd_line(struct place *p, const char *text, size_t len)
{
	if (p->last && p->last->text.len < CUT_TEXT_MAX && is_cut(p->last)) {
		p->last->text.len = (size_t)(text + len - p->last->text.at);
	} else if (!(p->in_stack && perf_line_may_be_frame(text, len)) && !p->damaged) {
		p->damaged = p->line;
		p->damaged_len = len;
	}
}

static int add_lines(struct script *s, const char *text, size_t len, const char *name)
{
	struct place p = { .name = name };
	const char *end = text + len;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((newline ? newline : end) - text);
		struct event e = { .order = s->events.cnt };

		p.line++;
		switch (perf_line_parse(text, length, &e.line)) {
		case PERF_EVENT:
			if (p.damaged && p.damaged_len + 1 + e.line.comm.len > COMM_BYTES)
				return damage(s, &p);
			VEC_ADD(&s->events, e);
			p.last = &s->events.items[s->events.cnt - 1].line;
			p.damaged = 0;
			p.in_stack = true;
			break;
		case PERF_DAMAGED:
			take_odd_line(&p, text, length);
			break;
		case PERF_NOTHING:
			p.in_stack &= length > 0;
			break;
		}
		text = newline ? newline + 1 : end;
	}
	return p.damaged ? damage(s, &p) : 0;
}

static int compare_events(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->line.ns != y->line.ns)
		return x->line.ns < y->line.ns ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static int check(const struct script *s)
{
	size_t missed = perf_tasks_missed(s->tasks);

	if (!s->stats.switches) {
		diag_set(s->reterr, EXIT_NO_EVIDENCE, -ENODATA, "the input has no sched_switch: when threads were off the CPU is unknown");
		return diag_remedy(s->reterr, -ENODATA, "perf record -a -e 'sched:*' ...");
	}
	if (!s->stats.chosen) {
		diag_set(s->reterr, EXIT_NO_EVIDENCE, -ENODATA, "none of its %zu threads has such a name or process",
			 s->stats.tasks);
		return diag_remedy(s->reterr, -ENODATA, "without --comm and --pid all threads are taken");
	}
	if (missed * 4 < s->stats.switches)
		return 0;
	diag_set(s->reterr, EXIT_NO_EVIDENCE, -ENODATA, "of %zu switches %zu are of threads that had left the CPU already: it does "
		 "not cover the whole machine, or most events were lost", s->stats.switches, missed);
	return diag_remedy(s->reterr, -ENODATA, "perf record -a -m 1024 -e 'sched:*' ...");
}

static bool is_record(const struct perf_line *l)
{
	static const char prefix[] = "PERF_RECORD_";

	return l->event.len >= sizeof(prefix) - 1 && memcmp(l->event.at, prefix, sizeof(prefix) - 1) == 0;
}

/*
 * perf's events about threads that existed before have the time 0.  Other events have it by mistake, unless
 * it is the zero of the recording (perf script --reltime).  None of them has a time.
 */
static void drop_timeless(struct script *s)
{
	struct event *e = s->events.items;
	size_t zero = 0, kept = 0;
	bool relative;

	while (zero < s->events.cnt && e[zero].line.ns == 0)
		zero++;
	relative = zero == s->events.cnt || e[zero].line.ns < RELATIVE_MAX_NS;
	for (size_t i = 0; i < s->events.cnt; i++) {
		bool timeless = i < zero && (is_record(&e[i].line) || !relative);

		if (timeless && is_record(&e[i].line))
			take_lost_record(s, &e[i].line);
		s->stats.timeless += timeless && !is_record(&e[i].line);
		if (!timeless)
			e[kept++] = e[i];
	}
	s->events.cnt = kept;
}

static int take_events(struct script *s)
{
	struct event *e = s->events.items;

	if (s->events.cnt)
		qsort(e, s->events.cnt, sizeof(*e), compare_events);
	drop_timeless(s);
	for (size_t i = 0; i < s->events.cnt && !s->has_waking; i++)
		s->has_waking = perf_text_is(e[i].line.event, "sched_waking");
	s->k->start_ns = s->events.cnt ? e[0].line.ns : 0;
	for (size_t i = 0; i < s->events.cnt; i++)
		take_event(s, &e[i].line);
	s->stats.chosen = perf_tasks_end(s->tasks, s->events.cnt ? e[s->events.cnt - 1].line.ns : 0);
	s->stats.tasks = perf_tasks_cnt(s->tasks);
	kernel_sort(s->k);
	return check(s);
}

static void script_init(struct script *s, struct kernel_trace *k, const struct perf_choice *choice,
			struct diag *reterr)
{
	k->arena = arena_new();
	*s = (struct script){
		.k = k, .cpus = perf_cpus_new(k), .tasks = perf_tasks_new(k, choice), .reterr = reterr,
		.stats = { .no_waking = true, .no_interrupts = true, .no_syscalls = true },
	};
}

static void script_release(struct script *s)
{
	for (size_t i = 0; i < s->texts.cnt; i++)
		free(s->texts.items[i]);
	VEC_RELEASE(&s->texts);
	VEC_RELEASE(&s->events);
	perf_cpus_free(s->cpus);
	perf_tasks_free(s->tasks);
}

int perf_script_parse(const char *text, size_t len, const char *name, const struct perf_choice *choice,
		      struct kernel_trace *k, struct perf_script_stats *ret, struct diag *reterr)
{
	struct script s;
	int r;

	script_init(&s, k, choice, reterr);
	r = add_lines(&s, text, len, name);
	if (r == 0)
		r = take_events(&s);
	*ret = s.stats;
	script_release(&s);
	return r;
}

int perf_script_read(const char *const *paths, size_t path_cnt, const struct perf_choice *choice,
		     struct kernel_trace *k, struct perf_script_stats *ret, struct diag *reterr)
{
	struct script s;
	int r = 0;

	script_init(&s, k, choice, reterr);
	for (size_t i = 0; i < path_cnt && r == 0; i++) {
		char *text = NULL;
		size_t len;

		r = file_read_given(paths[i], &text, &len);
		if (r < 0) {
			r = diag_set(reterr, EXIT_DATA, r, "cannot read '%s': %s", paths[i], strerror(-r));
			break;
		}
		VEC_ADD(&s.texts, text);
		r = add_lines(&s, text, len, paths[i]);
	}
	if (r == 0)
		r = take_events(&s);
	*ret = s.stats;
	script_release(&s);
	return r;
}
