/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perf_tasks.c - times off the CPU, put together from switch, wake-up and switch.
 *
 *	5.10 switch  prev 40 S		thread 40 is off
 *	5.17 waking  40, by 41		it may go on
 *	5.19 switch  next 40		off 5.10..5.19, woken at 5.17 by 41
 *
 * The waking may be noted before the switch that it undoes, because the waker runs on another CPU.  So it is
 * kept until the thread is back.  A thread whose first event is its return was off since the recording began,
 * for an unknown reason; one whose first event finds it running, ran.  Between its exit and its last switch a
 * thread is dead: it is off and on the CPU again, and that is no life any more.
 */
#include <ctype.h>
#include <string.h>
#include "base/banned.h"
#include "base/map.h"
#include "trace/perf/perf_tasks.h"

enum { COMM_MAX = 63, NO_SYSCALL = -1 };
enum { STATE_BIT_OTHER = 4 };		/* stopped, idle, parked: no state with a meaning here */

struct task {
	uint32_t tid, pid;
	char comm[COMM_MAX + 1];
	size_t life, end;		/* in k->lives: its beginning; its end, + 1 */
	size_t parent;			/* index into tasks, + 1; 0: unknown */
	bool chosen, dead, gone;	/* gone: its number may belong to another thread now */
	bool off, is_new, iowait, missed;
	int64_t end_ns;			/* set when dead */
	int64_t out_ns;
	uint32_t state, flags;
	int64_t woken_ns;		/* with has_waker */
	bool has_waker;
	struct perf_waker waker;
	int32_t syscall;
	uint64_t argument[3];
	VEC(size_t) offs;		/* its entries in k->offs, which get the pid when it is known */
};

struct perf_tasks {
	struct kernel_trace *k;
	struct perf_choice choice;
	struct map *by_tid;		/* tid -> index into tasks, + 1 */
	VEC(struct task) tasks;
	size_t missed;
};

struct perf_tasks *perf_tasks_new(struct kernel_trace *k, const struct perf_choice *choice)
{
	struct perf_tasks *t = xcalloc(1, sizeof(*t));

	t->k = k;
	if (choice)
		t->choice = *choice;
	t->by_tid = map_new();
	return t;
}

void perf_tasks_free(struct perf_tasks *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->tasks.cnt; i++)
		VEC_RELEASE(&t->tasks.items[i].offs);
	VEC_RELEASE(&t->tasks);
	map_free(t->by_tid);
	free(t);
}

size_t perf_tasks_missed(const struct perf_tasks *t)
{
	return t->missed;
}

size_t perf_tasks_cnt(const struct perf_tasks *t)
{
	return t->tasks.cnt;
}

/* "b" of the name "a\nb", which the line feed cut in two. */
static bool is_end_of_name(const char *name, struct perf_text end)
{
	const char *last = strrchr(name, '\n');

	return last && strlen(last + 1) == end.len && memcmp(last + 1, end.at, end.len) == 0;
}

static void rename_task(const struct perf_tasks *t, struct task *task, struct perf_text comm)
{
	if (!comm.len || comm.at[0] == ':' || perf_text_is(comm, "<...>"))	/* ":40": perf does not know it either */
		return;
	if (is_end_of_name(task->comm, comm))
		return;
	if (comm.len > COMM_MAX)
		comm.len = COMM_MAX;
	memcpy(task->comm, comm.at, comm.len);
	task->comm[comm.len] = '\0';
	for (size_t i = 0; i < t->choice.comm_cnt; i++)
		if (strcmp(task->comm, t->choice.comms[i]) == 0)
			task->chosen = true;
}

static struct task *begin_task(struct perf_tasks *t, uint32_t tid, enum kernel_record_kind kind, int64_t ns)
{
	struct task *task = VEC_EXTEND(&t->tasks);

	task->tid = tid;
	task->syscall = NO_SYSCALL;
	task->life = t->k->lives.cnt;
	VEC_ADD(&t->k->lives, (struct kernel_life){ .kind = kind, .tid = tid, .ns = ns, .name = "" });
	*map_slot(t->by_tid, tid) = t->tasks.cnt;
	return task;
}

static struct task *known_task(struct perf_tasks *t, uint32_t tid)
{
	uint64_t *slot = map_slot(t->by_tid, tid);

	return *slot ? &t->tasks.items[*slot - 1] : NULL;
}

/* A thread from before the recording, when its first event comes. */
static struct task *task_of(struct perf_tasks *t, uint32_t tid, bool off)
{
	struct task *task = known_task(t, tid);
	int64_t since_ns = task ? task->end_ns : t->k->start_ns;

	if (task && !task->gone)
		return task;
	task = begin_task(t, tid, KERNEL_SEEN, since_ns);
	t->k->lives.items[task->life].other = 1;
	if (off) {
		task->off = true;
		task->out_ns = since_ns;
		task->state = STATE_BIT_OTHER;
	}
	return task;
}

void perf_tasks_seen(struct perf_tasks *t, const struct perf_line *l)
{
	struct task *task;

	if (!l->tid)
		return;
	task = task_of(t, l->tid, false);
	rename_task(t, task, l->comm);
	if (l->pid != l->tid || !task->pid)
		task->pid = l->pid;
}

static void add_off(struct perf_tasks *t, struct task *task, int64_t ns, uint32_t flags)
{
	struct kernel_off o = {
		.out_ns = task->out_ns, .in_ns = ns, .tid = task->tid,
		.flags = flags | task->flags, .state = task->state, .syscall = task->syscall,
		.after_loss = task->missed,
	};
	bool interrupt;

	if (task->is_new)
		o.flags |= OFF_NEW;
	if (o.state && task->syscall != NO_SYSCALL) {
		o.flags |= OFF_ARGUMENTS;
		memcpy(o.argument, task->argument, sizeof(o.argument));
	}
	if (o.state && task->has_waker) {
		o.flags |= OFF_WOKEN;
		o.woken_ns = task->woken_ns;
		o.waker_kind = task->waker.kind;
		o.waker = task->waker.number;
		if (o.waker_kind == WAKER_TASK && o.waker)
			o.flags |= OFF_TASK_WAKER;
	}
	/* A device's interrupt ends an uninterruptible sleep: that is what iowait means, and older
	 * kernels do not print. */
	interrupt = o.flags & OFF_WOKEN && o.waker_kind != WAKER_TIMER && !task->waker.is_doubtful &&
		    (o.waker_kind != WAKER_TASK || !o.waker);
	if (task->iowait || (interrupt && o.state == KERNEL_STATE_UNINTERRUPTIBLE))
		o.flags |= OFF_IOWAIT;
	VEC_ADD(&task->offs, t->k->offs.cnt);
	VEC_ADD(&t->k->offs, o);
}

/* As a number, decimal or hexadecimal: 1 is S, 2 is D, and so on; false: it is letters. */
static bool state_number(struct perf_text state, uint64_t *ret)
{
	struct perf_text t = state;

	*ret = 0;
	if (t.len < 3 || t.at[0] != '0' || t.at[1] != 'x')
		return perf_take_number(&t, UINT32_MAX, ret) && t.len == 0;
	for (size_t i = 2; i < t.len && i < 10; i++) {
		if (!isxdigit((unsigned char)t.at[i]))
			return false;
		*ret = *ret << 4 | (uint64_t)(isdigit((unsigned char)t.at[i]) ? t.at[i] - '0' : (t.at[i] | 32) - 'a' + 10);
	}
	return true;
}

enum { NUMBER_DEAD = 16 | 32, NUMBER_PREEMPTED = ~255 };

/* The first letter is the state; "D|K" and "S|W" add how it may be woken. */
static uint32_t state_bits(struct perf_text state)
{
	uint64_t number;
	char letter = state.len ? state.at[0] : 'R';

	if (state_number(state, &number))
		letter = number & 1 ? 'S' : number & 2 ? 'D' : number & 255 ? 'T' : 'R';
	switch (letter) {
	case 'R':
	case '+':
		return 0;
	case 'S':
		return KERNEL_STATE_INTERRUPTIBLE;
	case 'D':
		return KERNEL_STATE_UNINTERRUPTIBLE;
	default:
		return STATE_BIT_OTHER;
	}
}

static bool has_ended(struct perf_text state)
{
	uint64_t number;

	if (state_number(state, &number))
		return number & NUMBER_DEAD;
	return state.len && (state.at[0] == 'X' || state.at[0] == 'Z' || state.at[0] == 'x');
}

static bool is_preempted(struct perf_text state)
{
	uint64_t number;

	if (state_number(state, &number))
		return number & (uint32_t)NUMBER_PREEMPTED && !(number & 255);
	return state.len > 1 && state.at[state.len - 1] == '+';
}

void perf_tasks_switch_out(struct perf_tasks *t, uint32_t tid, struct perf_text comm,
			   struct perf_text prev_state, int64_t ns)
{
	bool ended = has_ended(prev_state);
	struct task *task = known_task(t, tid);

	if (ended) {
		if (task && !task->dead)
			perf_tasks_exit(t, tid, ns);
		if (task)
			task->gone = true;
		return;
	}
	task = task_of(t, tid, false);
	if (task->dead)
		return;
	rename_task(t, task, comm);
	if (task->off) {
		t->missed++;
		task->missed = true;
	}
	task->off = true;
	task->out_ns = ns;
	task->state = state_bits(prev_state);
	task->flags = is_preempted(prev_state) ? OFF_PREEMPTED : 0;
}

void perf_tasks_switch_in(struct perf_tasks *t, uint32_t tid, struct perf_text comm, int64_t ns)
{
	struct task *task = task_of(t, tid, true);

	if (task->dead)
		return;
	rename_task(t, task, comm);
	if (task->off)
		add_off(t, task, ns, 0);
	task->off = task->is_new = task->has_waker = task->iowait = task->missed = false;
}

void perf_tasks_woken(struct perf_tasks *t, uint32_t tid, struct perf_waker waker, int64_t ns)
{
	struct task *task = task_of(t, tid, true);

	if (task->off && task->has_waker && task->woken_ns >= task->out_ns)
		return;
	task->has_waker = true;
	task->waker = waker;
	task->woken_ns = ns;
}

void perf_tasks_iowait(struct perf_tasks *t, uint32_t tid)
{
	task_of(t, tid, true)->iowait = true;
}

void perf_tasks_fork(struct perf_tasks *t, uint32_t tid, uint32_t parent, struct perf_text comm, int64_t ns)
{
	struct task *task = known_task(t, tid);

	if (task && task->is_new)
		return;				/* a fork, which is now woken for the first time */
	if (task && !task->dead)
		perf_tasks_exit(t, tid, ns);
	task = begin_task(t, tid, KERNEL_FORK, ns);
	task->parent = parent ? *map_slot(t->by_tid, parent) : 0;
	rename_task(t, task, comm);
	t->k->lives.items[task->life].other = parent;
	task->off = task->is_new = true;
	task->out_ns = ns;
}

void perf_tasks_exit(struct perf_tasks *t, uint32_t tid, int64_t ns)
{
	struct task *task = known_task(t, tid);

	if (!task || task->dead)
		return;
	VEC_ADD(&t->k->lives, (struct kernel_life){ .kind = KERNEL_EXIT, .tid = tid, .ns = ns, .name = "" });
	task->end = t->k->lives.cnt;
	task->dead = true;
	task->off = false;
	task->end_ns = ns;
}

/* "NR 202 (7f50d74ce740, 80, 2, 0, 0, 0)"; sys_exit: "NR 202 = 0" */
void perf_tasks_syscall(struct perf_tasks *t, const struct perf_line *l, bool enter)
{
	struct task *task = task_of(t, l->tid, false);
	const char *at = l->text.at, *end = at + l->text.len;
	struct perf_text number = l->text;
	uint64_t syscall;

	task->syscall = NO_SYSCALL;
	while (number.len && !isdigit((unsigned char)*number.at))
		number = (struct perf_text){ number.at + 1, number.len - 1 };
	if (!enter || !perf_take_number(&number, INT32_MAX, &syscall))
		return;
	task->syscall = (int32_t)syscall;
	memset(task->argument, 0, sizeof(task->argument));
	for (at = number.at; at < end && *at != '('; at++)
		;
	for (int i = 0; i < 3; i++) {
		for (at++; at < end && isblank((unsigned char)*at); at++)
			;
		for (; at < end && isxdigit((unsigned char)*at); at++)
			task->argument[i] = task->argument[i] << 4 |
				(uint64_t)(isdigit((unsigned char)*at) ? *at - '0' : (*at | 32) - 'a' + 10);
	}
}

static bool is_chosen(const struct perf_tasks *t, const struct task *task)
{
	const struct perf_choice *choice = &t->choice;

	if (task->chosen || (task->parent && t->tasks.items[task->parent - 1].chosen))
		return true;
	for (size_t i = 0; i < choice->pid_cnt; i++)
		if (task->pid == choice->pids[i])
			return true;
	return choice->comm_cnt + choice->pid_cnt == 0;
}

/* Processes and names are known best at the end: perf learns them as it goes. */
static void finish_task(struct perf_tasks *t, struct task *task)
{
	struct kernel_life *l = &t->k->lives.items[task->life];

	l->pid = task->pid;
	if (task->end && task->chosen)
		t->k->lives.items[task->end - 1].pid = task->pid;
	l->name = arena_strdup(t->k->arena, task->comm);
	if (!task->chosen) {
		l->kind = KERNEL_SEEN;
		l->other = 0;
	}
	for (size_t i = 0; i < task->offs.cnt; i++) {
		struct kernel_off *o = &t->k->offs.items[task->offs.items[i]];

		o->pid = task->pid;
		if (!task->chosen)
			o->in_ns = o->out_ns;		/* none */
	}
}

/* Drops ends of lives outside the selection. */
static void drop_ends(struct perf_tasks *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->k->lives.cnt; i++)
		if (t->k->lives.items[i].pid)
			t->k->lives.items[kept++] = t->k->lives.items[i];
	t->k->lives.cnt = kept;
}

size_t perf_tasks_end(struct perf_tasks *t, int64_t ns)
{
	size_t chosen = 0;

	t->k->end_ns = ns;
	for (size_t i = 0; i < t->tasks.cnt; i++) {
		struct task *task = &t->tasks.items[i];

		if (!task->pid)
			task->pid = task->tid;
		task->chosen = is_chosen(t, task);
		if (known_task(t, task->tid) == task && task->off)
			add_off(t, task, ns, OFF_OPEN);
		finish_task(t, task);
		chosen += task->chosen;
	}
	drop_ends(t);
	return chosen;
}
