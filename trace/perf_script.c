/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perf_script.c - the lines of `perf script`, in order of time, to perf_tasks.c and perf_cpus.c.
 *
 *	swapper  0 [001] 5.000019000: sched:sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120
 *		prev_state=R ==> next_comm=dd next_pid=40 next_prio=120
 *
 * libtraceevent's plugins print another form of the same events ("swapper/1:0 [120] R ==> dd:40 [120]",
 * "dd:40 [120] CPU:001"); both are read.  Events of other kinds, stacks and comments are passed over.
 */
#include "trace/perf_script.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "trace/perf_cpus.h"
#include "trace/perf_line.h"
#include "trace/perf_tasks.h"
#include "base/banned.h"

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

/* "dd:40 [120] ...": *ret is behind it. */
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

struct sides {
	uint32_t prev, next;
	struct perf_text prev_comm, next_comm, state;
};

static bool parse_short_switch(const struct perf_line *l, struct sides *ret)
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
	struct sides x = { .prev = 0 };
	bool read = perf_field_number(l, "prev_pid", &x.prev) && perf_field_number(l, "next_pid", &x.next) &&
		    perf_field(l, "prev_state", &x.state) &&
		    perf_field_until(l, "prev_comm", "prev_pid", &x.prev_comm) &&
		    perf_field_until(l, "next_comm", "next_pid", &x.next_comm);

	if (!read && !parse_short_switch(l, &x))
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

static void take_wakeup(struct script *s, const struct perf_line *l)
{
	if (!s->has_waking)
		take_waking(s, l);
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

static int add_lines(struct script *s, const char *text, size_t len, const char *name)
{
	const char *end = text + len;
	size_t line = 0;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((newline ? newline : end) - text);
		struct event e = { .order = s->events.cnt };

		line++;
		switch (perf_line_parse(text, length, &e.line)) {
		case PERF_EVENT:
			VEC_ADD(&s->events, e);
			break;
		case PERF_DAMAGED:
			diag_set(s->reterr, EXIT_DATA, -EBADMSG, "%s:%zu: expected COMM TID [CPU] SECONDS: EVENT: ..., "
				 "as perf script prints it", name, line);
			return diag_remedy(s->reterr, -EBADMSG,
					   "perf script --ns --show-lost-events -F comm,pid,tid,cpu,time,event,trace");
		case PERF_NOTHING:
			break;
		}
		text = newline ? newline + 1 : end;
	}
	return 0;
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
		diag_set(s->reterr, EXIT_DATA, -ENODATA, "there is no sched_switch in it: nobody knows who was off the CPU");
		return diag_remedy(s->reterr, -ENODATA, "perf record -a -e 'sched:*' ...");
	}
	if (!s->stats.chosen) {
		diag_set(s->reterr, EXIT_DATA, -ENODATA, "none of its %zu threads has such a name or process",
			 s->stats.tasks);
		return diag_remedy(s->reterr, -ENODATA, "without --comm and --pid all threads are taken");
	}
	if (missed * 4 < s->stats.switches)
		return 0;
	diag_set(s->reterr, EXIT_DATA, -ENODATA, "of %zu switches %zu have a thread leave the CPU that had not come back: "
		 "it is not of the whole machine, or most events were lost", s->stats.switches, missed);
	return diag_remedy(s->reterr, -ENODATA, "perf record -a -m 1024 -e 'sched:*' ...");
}

static int take_events(struct script *s)
{
	struct event *e = s->events.items;

	if (s->events.cnt)
		qsort(e, s->events.cnt, sizeof(*e), compare_events);
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

		r = file_read(paths[i], &text, &len);
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
