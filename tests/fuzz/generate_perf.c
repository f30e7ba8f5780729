/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * generate_perf.c - what perf script prints of a machine with a few processors.
 *
 * Tasks are off, woken or on a processor.  A step lets time pass and does one thing on one processor: its task gives
 * way to another that is not on any, wakes one, enters a system call, makes a task or ends; or an interrupt comes.
 * So most threads that leave have come before, which is what the reader asks for.
 */
#include <inttypes.h>
#include <stdbool.h>
#include "base/banned.h"
#include "tests/fuzz/generate.h"

enum { CPUS_MAX = 4, TASKS_MAX = 12, EVENTS_MAX = 1200 };

struct task {
	unsigned int tid, pid, name;
	bool is_on;
};

struct machine {
	struct choices c;
	struct str *out;
	struct task tasks[TASKS_MAX];
	unsigned int task_cnt, cpu_cnt, next_tid;
	unsigned int on[CPUS_MAX];		/* which task; 0: the idle one, which is on all processors */
	int64_t now_ns, last_ns;
	unsigned int events;
	bool micro, is_ftrace, has_waking;
};

static const char *const names[] = { "swapper", "w", "dd", "worker/1", "a b", "x [0] 1.1: b:", "kworker/0:1", "%s" };
static const char *const states[] = { "S", "D", "R", "R+", "t", "X", "I" };
static const unsigned int system_calls[] = { 0, 1, 7, 35, 61, 202, 230, 232, 23, 16, 74, 400 };
static const char *const irqs[] = { "name=nvme0q1", "name=eth0-rx-1", "name=i8042", "name=virtio0-input.0", "" };
static const unsigned int vectors[] = { 1, 3, 4, 0, 99 };

#define ANY(list, number) ((list)[(number) % (sizeof(list) / sizeof(*(list)))])

/* "  w 11/10 [001] 12.000000345: " */
static void add_head(struct machine *m, unsigned int cpu)
{
	const struct task *t = &m->tasks[m->on[cpu]];
	int64_t part_ns = m->now_ns % 1000000000;

	m->events++;
	if (m->is_ftrace)
		str_addf(m->out, "%16s-%u (%u) [%03u] d..2. %" PRId64 ".%06" PRId64 ": ", ANY(names, t->name), t->tid, t->pid, cpu,
			 m->now_ns / 1000000000, part_ns / 1000);
	else if (m->micro)
		str_addf(m->out, "%16s %u/%u [%03u] %" PRId64 ".%06" PRId64 ": ", ANY(names, t->name), t->pid, t->tid, cpu,
			 m->now_ns / 1000000000, part_ns / 1000);
	else
		str_addf(m->out, "%16s %u/%u [%03u] %" PRId64 ".%09" PRId64 ": ", ANY(names, t->name), t->pid, t->tid, cpu,
			 m->now_ns / 1000000000, part_ns);
}

/* One that is on no processor; the idle one always may. */
static unsigned int choose_off(struct machine *m)
{
	unsigned int first = choose(&m->c, m->task_cnt);

	for (unsigned int i = 0; i < m->task_cnt; i++)
		if (!m->tasks[(first + i) % m->task_cnt].is_on)
			return (first + i) % m->task_cnt;
	return 0;
}

static void switch_task(struct machine *m, unsigned int cpu)
{
	unsigned int from = m->on[cpu], to = choose_off(m), state = choose_byte(&m->c);
	const struct task *prev = &m->tasks[from], *next = &m->tasks[to];

	if (from == to)
		return;
	add_head(m, cpu);
	str_addf(m->out, "sched:sched_switch: prev_comm=%s prev_pid=%u prev_prio=120 prev_state=%s ==> "
		 "next_comm=%s next_pid=%u next_prio=120\n", ANY(names, prev->name), prev->tid,
		 from ? ANY(states, state) : "R", ANY(names, next->name), next->tid);
	m->tasks[from].is_on = false;
	m->tasks[to].is_on = to != 0;
	m->on[cpu] = to;
}

static void wake(struct machine *m, unsigned int cpu)
{
	const struct task *t = &m->tasks[choose_off(m)];

	if (t == m->tasks)
		return;
	add_head(m, cpu);
	str_addf(m->out, "sched:%s: comm=%s pid=%u prio=120 target_cpu=%03u\n", m->has_waking ? "sched_waking" : "sched_wakeup",
		 ANY(names, t->name), t->tid, choose(&m->c, m->cpu_cnt));
}

static void make_task(struct machine *m, unsigned int cpu)
{
	unsigned int number = m->task_cnt < TASKS_MAX ? m->task_cnt++ : choose_off(m);
	const struct task *parent = &m->tasks[m->on[cpu]];

	if (number == 0 || m->on[cpu] == 0)
		return;
	add_head(m, cpu);
	m->tasks[number] = (struct task){ m->next_tid++, parent->pid, parent->name, false };
	str_addf(m->out, "sched:sched_process_fork: comm=%s pid=%u child_comm=%s child_pid=%u\n", ANY(names, parent->name),
		 parent->tid, ANY(names, parent->name), m->tasks[number].tid);
}

static void add_interrupt(struct machine *m, unsigned int cpu)
{
	unsigned int kind = choose_byte(&m->c), what = choose_byte(&m->c);

	add_head(m, cpu);
	switch (kind % 4) {
	case 0:
		str_addf(m->out, "irq:irq_handler_entry: irq=%u %s\n", what, ANY(irqs, what));
		wake(m, cpu);
		add_head(m, cpu);
		str_addf(m->out, "irq:irq_handler_exit: irq=%u ret=handled\n", what);
		break;
	case 1:
		str_addf(m->out, "irq:softirq_entry: vec=%u [action=X]\n", ANY(vectors, what));
		wake(m, cpu);
		add_head(m, cpu);
		str_addf(m->out, "irq:softirq_exit: vec=%u [action=X]\n", ANY(vectors, what));
		break;
	case 2:
		str_addf(m->out, "timer:hrtimer_expire_entry: hrtimer=0xff function=hrtimer_wakeup now=1\n");
		wake(m, cpu);
		add_head(m, cpu);
		str_add(m->out, "timer:hrtimer_expire_exit: hrtimer=0xff\n");
		break;
	default:
		str_addf(m->out, "block:block_rq_complete: %u,0 RM () 0 + 8 [0]\n", what);
	}
}

static void end_task(struct machine *m, unsigned int cpu)
{
	const struct task *t = &m->tasks[m->on[cpu]];

	add_head(m, cpu);
	str_addf(m->out, "sched:sched_process_exit: comm=%s pid=%u prio=120\n", ANY(names, t->name), t->tid);
}

static void step(struct machine *m)
{
	unsigned int kind = choose_byte(&m->c), cpu = choose(&m->c, m->cpu_cnt);
	int64_t ns = choose_ns(&m->c);

	m->now_ns = ns > m->last_ns - m->now_ns ? m->last_ns : m->now_ns + ns;
	if (kind < 128) {
		switch_task(m, cpu);
	} else if (kind < 192) {
		wake(m, cpu);
	} else if (kind < 224) {
		add_head(m, cpu);
		str_addf(m->out, "raw_syscalls:sys_enter: NR %u (1, 0, 0, 0, 0, 0)\n", ANY(system_calls, kind));
	} else if (kind < 246) {
		add_interrupt(m, cpu);
	} else if (kind < 252) {
		make_task(m, cpu);
	} else if (kind < 254) {
		end_task(m, cpu);
	} else {
		add_head(m, cpu);
		str_addf(m->out, "sched:sched_stat_iowait: comm=w pid=%u delay=%" PRId64 " [ns]\n", m->tasks[1].tid, ns);
	}
}

void generate_perf(const uint8_t *data, size_t len, struct str *ret)
{
	struct machine m = { .c = { data, len, 0 }, .out = ret, .next_tid = 100 };
	unsigned int form = choose_byte(&m.c), wrong = choose(&m.c, 32);

	m.micro = form % 4 == 1;
	m.is_ftrace = form % 8 == 7;
	m.has_waking = form % 16 != 5;
	m.last_ns = INT64_MAX / 8 / 1000000000 * 1000000000 + 999999999;	/* the last that perf_line.c takes */
	m.now_ns = choose_start_ns(&m.c, m.last_ns);
	m.cpu_cnt = 1 + choose(&m.c, CPUS_MAX);
	m.task_cnt = 3 + choose(&m.c, TASKS_MAX - 3);
	for (unsigned int i = 0; i < m.task_cnt; i++)
		m.tasks[i] = (struct task){ i ? 10 + i : 0, i ? 10 + i / 3 * 3 : 0, i, false };
	for (unsigned int cpu = 0; cpu < m.cpu_cnt; cpu++)	/* what there is without any choice */
		for (unsigned int i = 0; i < 2; i++)
			switch_task(&m, cpu);
	while (m.c.at < m.c.len && m.events < EVENTS_MAX)
		step(&m);
	for (unsigned int cpu = 0; cpu < m.cpu_cnt; cpu++)
		for (unsigned int i = 0; i < 2; i++)
			switch_task(&m, cpu);
	if (wrong == 31)
		str_add(ret, "w 1/1 [000] 1.5: sched:sched_switch: prev_comm=w prev_pid=\n");
}
