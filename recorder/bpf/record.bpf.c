/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record.bpf.c - runs in the kernel: why the threads of a run were off the CPU, and who woke them.
 *
 * Each thread's state says whether it belongs to the run (tasks.bpf.h).  vprof's own entry says that its children do;
 * what they fork does, too.  A kernel thread that woke a thread of the run is followed from then on (jbd2, which
 * waits for the disk on behalf of fsync); other processes that did so only get a name.
 *
 * A thread's entry remembers when it was switched out and why, and who woke it; sched_switch makes one record of that
 * when it is back (record.h).  Nothing is written while it is away, but at the end of the recording.
 *
 *	sched_switch out	out_ns, state, in_iowait, system call
 *	sched_waking		woken_ns, waker: on the waker's CPU, in the waker's context
 *	sched_switch in		the record
 *
 * Waking may be seen before the switch it belongs to: the waker runs on another CPU and is early, one time in a
 * hundred.  So a waking counts if it came after the thread was last switched in; of several while it is off, the
 * first counts, because it made the thread runnable.
 *
 * The kernel does not report every switch: on the machine where this was tested it omits switches away from some
 * threads of a monitoring program, here and for perf.  If a thread leaves without having come back, its return was
 * not reported; when it came back follows from its CPU time (task_state.h).
 *
 * In an interrupt the current task is a bystander.  What a CPU is doing besides is kept per CPU, by the entry and
 * exit of interrupts; the device comes from the request or packet that it completes.
 *
 * Stacks, if requested, are copied and not interpreted: registers and the top of the user's stack, return addresses
 * of the kernel's.
 *
 * Only BTF tracepoints, and a clock for samples: some kernels refuse fentry and kprobes.
 */
#include <linux/types.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "recorder/bpf/kernel_types.h"
#include "recorder/bpf/record.h"
#include "recorder/bpf/task_state.h"
#include "trace/kernel_format.h"
#include "runtime/shared/device_wait.h"
#include "recorder/bpf/exchange.h"

char LICENSE[] SEC("license") = "GPL";

/* PF_KTHREAD of task_struct.flags; and PF_IO_WORKER (5.12) or PF_USER_WORKER (6.4), of threads made by io_uring or vhost. */
enum { KERNEL_THREAD = 0x00200000, WORKER = 0x00000010 | 0x00004000 };
enum { TASK_IS_DEAD = 0x80 };		/* in the state that sched_switch passes */
#include "recorder/bpf/interrupts.bpf.h"

/* System calls of x86-64 whose arguments tell what the thread waits for: poll, select, fcntl, futex, pselect6, ppoll,
 * futex_waitv, futex_wait. */
enum { SYS_POLL = 7, SYS_SELECT = 23, SYS_FCNTL = 72, SYS_FUTEX = 202, SYS_PSELECT6 = 270,
       SYS_PPOLL = 271, SYS_FUTEX_WAITV = 449, SYS_FUTEX_WAIT = 455 };

/* Set before loading. */
const volatile int follow_threads;	/* of a process that ran already: its threads have no entry yet */

unsigned long long lost_records;

unsigned int image_cnt = 1;		/* the first is the process that ran already */

#include "recorder/bpf/tasks.bpf.h"
#include "recorder/bpf/segments.bpf.h"

/* As the thread itself sees it: its number in the innermost namespace. */
static unsigned int number_of(struct pid *pid)
{
	unsigned int level = 0;
	unsigned long offset = bpf_core_field_offset(struct pid, numbers);
	unsigned int size = bpf_core_type_size(struct upid);
	int nr = 0;

	bpf_probe_read_kernel(&level, sizeof(level),
			      (char *)pid + bpf_core_field_offset(struct pid, level));
	bpf_probe_read_kernel(&nr, sizeof(nr), (char *)pid + offset + (unsigned long)level * size +
			      bpf_core_field_offset(struct upid, nr));
	return (unsigned int)nr;
}

static void write_life_of(unsigned int kind, const char *name, const struct task_state *s, unsigned int other,
			  unsigned long long ns)
{
	struct reserved reserved;
	struct record_life *r = reserve(&reserved);

	if (!r) {
		__sync_fetch_and_add(&lost_records, 1);
		return;
	}
	r->kind = kind;
	r->tid = s->tid;
	r->pid = s->pid;
	r->other = other;
	r->ns = ns;
	bpf_probe_read_kernel_str(r->name, sizeof(r->name), name);
	commit(&reserved);
}

static void write_life(unsigned int kind, struct task_struct *task, const struct task_state *s, unsigned int other,
		       unsigned long long ns)
{
	write_life_of(kind, task->comm, s, other, ns);
}

/* A thread that executes no user code.  Before 5.12, one of its flags was that of a virtual CPU. */
static int is_worker(struct task_struct *task)
{
	struct task_struct___before_5_17 *old = (void *)task;

	if (!bpf_core_field_exists(task->worker_private) && !bpf_core_field_exists(old->pf_io_worker))
		return 0;
	return (task->flags & WORKER) != 0;
}

static void number_task(struct task_state *s, struct task_struct *task)
{
	s->tid = number_of(task->thread_pid);
	s->pid = number_of(task->group_leader->thread_pid);
	s->kernel_thread = task->flags & KERNEL_THREAD || is_worker(task);
}

/* Adds a thread that is seen for the first time. */
static struct task_state *add_task(struct task_struct *task, unsigned int follow,
				   unsigned long long ns)
{
	struct task_state *s = new_state(task);

	if (!s)
		return 0;
	s->follow = follow;
	number_task(s, task);
	write_life(RECORD_SEEN, task, s, follow >= FOLLOW_RUN, ns);
	return s;
}

/* One that recorder.c put in task storage. */
static __noinline struct task_state *tell_seen(const struct task_state *put, struct task_struct *task)
{
	struct task_state *s = new_state(task);

	if (!s)
		return 0;
	s->follow = put->follow;
	s->image = put->image;
	number_task(s, task);
	write_life(RECORD_SEEN, task, s, 1, bpf_ktime_get_ns());
	return s;
}

static __always_inline struct task_state *if_followed(struct task_state *s, struct task_struct *task)
{
	if (!s || s->follow < FOLLOW_RUN)
		return 0;
	return s->tid ? s : tell_seen(s, task);
}

/* The state of a thread whose times are recorded, or NULL.  Inlined where it is called for each switch and waking:
 * with the kernel's protection against speculation, a return takes ten times as long. */
static __always_inline struct task_state *followed(struct task_struct *task)
{
	return if_followed(state_of(task), task);
}

static __always_inline struct task_state *quickly_followed(struct task_struct *task)
{
	return if_followed(quick_state_of(task), task);
}

/* The same for a thread of a process that ran already: only the process has an entry, put there by recorder.c. */
static struct task_state *adopted(struct task_struct *task, unsigned long long ns)
{
	struct task_state *leader, *s;

	if (follow_threads && !state_of(task)) {
		leader = state_of(task->group_leader);
		s = leader && leader->follow == FOLLOW_RUN ? add_task(task, FOLLOW_RUN, ns) : 0;
		if (s)
			s->image = leader->image;
	}
	return followed(task);
}

static int has_arguments(int syscall)
{
	return syscall == SYS_FUTEX || syscall == SYS_POLL || syscall == SYS_SELECT ||
	       syscall == SYS_FCNTL || syscall == SYS_PSELECT6 || syscall == SYS_PPOLL ||
	       syscall == SYS_FUTEX_WAITV || syscall == SYS_FUTEX_WAIT;
}

/* A page fault has no system call: the kernel stores -1 there. */
static void note_syscall(struct task_state *s, struct task_struct *task)
{
	struct pt_regs___x86_64 *regs;

	s->syscall = -1;
	s->has_arguments = 0;
	if (s->kernel_thread || !bpf_core_field_exists(struct pt_regs___x86_64, orig_ax))
		return;
	regs = (void *)bpf_task_pt_regs(task);
	s->syscall = (int)regs->orig_ax;
	if (has_arguments(s->syscall)) {
		s->has_arguments = 1;
		s->argument[0] = regs->di;
		s->argument[1] = regs->si;
		s->argument[2] = regs->dx;
	}
}

#include "recorder/bpf/device_waits.bpf.h"

static unsigned int state_now(struct task_struct *task)
{
	struct task_struct___before_5_14 *old = (void *)task;

	if (bpf_core_field_exists(task->__state))
		return task->__state;
	return (unsigned int)old->state;
}

#include "recorder/bpf/stacks.bpf.h"
#include "recorder/bpf/requests.bpf.h"
#include "recorder/bpf/packets.bpf.h"
#include "recorder/bpf/exchanges.bpf.h"
#include "recorder/bpf/calls.bpf.h"

static unsigned int flags_of(const struct task_state *s)
{
	unsigned int flags = 0;

	if (s->iowait)
		flags |= OFF_IOWAIT;
	if (s->preempted)
		flags |= OFF_PREEMPTED;
	if (s->is_new)
		flags |= OFF_NEW;
	if (s->kernel_thread)
		flags |= OFF_KERNEL_THREAD;
	if (s->state && s->has_arguments && !s->is_new)
		flags |= OFF_ARGUMENTS;
	return flags;
}

/* Called in a switch, or as the last program that is attached. */
static __always_inline void write_off(struct task_state *s, unsigned int flags, unsigned long long ns)
{
	struct reserved reserved;
	struct record_off *r = reserve_alone(&reserved);

	if (!r) {
		s->lost++;
		__sync_fetch_and_add(&lost_records, 1);
		return;
	}
	r->kind = RECORD_OFF;
	r->tid = s->tid;
	r->pid = s->pid;
	r->state = s->state;
	r->ns = ns;
	r->out_ns = s->out_ns;
	r->flags = flags | flags_of(s);
	r->woken_ns = 0;
	r->waker_kind = WAKER_TASK;
	r->waker = 0;
	if (s->state && s->woken_ns > s->in_ns) {
		r->flags |= OFF_WOKEN;
		if (s->waker_followed)
			r->flags |= OFF_TASK_WAKER;
		r->woken_ns = s->woken_ns < ns ? s->woken_ns : ns;	/* once more, on another CPU, just now */
		r->waker_kind = s->waker_kind;
		r->waker = s->waker;
	}
	r->syscall = s->syscall;
	r->argument[0] = s->argument[0];
	r->argument[1] = s->argument[1];
	r->argument[2] = s->argument[2];
	r->stack = s->stack;
	r->waker_stack = r->flags & OFF_WOKEN ? s->waker_stack : 0;
	r->lost = s->lost;
	s->lost = 0;
	commit(&reserved);
}

static __always_inline void came_back(struct task_state *s, unsigned int flags, unsigned long long ns)
{
	if (s->off)
		write_off(s, flags, ns);
	s->off = 0;
	s->is_new = 0;
	s->in_ns = ns;
}

static __noinline void came_back_untold(struct task_state *s, unsigned long long executed_ns, unsigned long long ns)
{
	came_back(s, 0, untold_return_ns(s, executed_ns, ns));
}

static __always_inline void switched_out(void *context, struct task_struct *task, struct task_state *s,
					 unsigned int preempted, unsigned int state, unsigned long long ns)
{
	unsigned long long executed_ns;

	if (!s || s->dead)
		return;
	executed_ns = task->se.sum_exec_runtime;
	if (s->off)
		came_back_untold(s, executed_ns, ns);
	if (state & TASK_IS_DEAD) {	/* its last switch: it has woken its parent already */
		s->dead = 1;
		if (wants_device_waits)
			device_wait_remove(s);
		write_life(RECORD_EXIT, task, s, 0, ns);
		return;
	}
	s->executed_ns = executed_ns;
	s->preempted = preempted != 0;
	s->state = preempted ? 0 : state;
	s->iowait = 0;
	if (s->state) {
		s->iowait = BPF_CORE_READ_BITFIELD(task, in_iowait) != 0;
		note_syscall(s, task);
	}
	s->out_ns = ns;
	s->off = 1;
	if (wants_device_waits)
		device_wait_begins(s);
	s->stack = context ? tell_stack(context, s, task, STACK_OUT, ns) : 0;
}

/* Most switches are between threads of other processes: finding that out must not take the time to read the clock. */
static __always_inline void switched(void *context, struct task_struct *prev, unsigned int preempted,
				     unsigned int state, struct task_struct *next)
{
	struct task_state *out = quickly_followed(prev), *in = quickly_followed(next);
	unsigned long long ns;

	if (!out) {
		barrier_var(in);	/* the verifier knows nothing of "out | in" */
		if (!in)
			return;
	}
	ns = bpf_ktime_get_ns();
	switched_out(context, prev, out, preempted, state, ns);
	if (in && !in->dead)
		came_back(in, prev->pid ? 0 : OFF_FROM_IDLE, ns);
}

/* Since 5.18 sched_switch passes the state in which the task was; its current state may be another one.  One of the
 * two versions is loaded, by the running kernel's BTF. */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, _Bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	switched(ctx, prev, preempt, prev_state, next);
	return 0;
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(on_switch_before_5_18, _Bool preempt, struct task_struct *prev, struct task_struct *next)
{
	switched(ctx, prev, preempt, state_now(prev), next);
	return 0;
}

/* Runs once, when the recording begins: finds the threads of the process that ran already, and those that are off. */
SEC("iter/task")
int on_begin(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	unsigned long long ns = bpf_ktime_get_ns();
	struct task_state *s = task ? adopted(task, ns) : 0;
	unsigned int state;

	if (!s || s->follow != FOLLOW_RUN || s->off || s->in_ns)
		return 0;
	state = state_now(task);
	if (state && !(state & TASK_IS_DEAD))
		switched_out(0, task, s, 0, state, ns);
	return 0;
}

unsigned long long end_ns;		/* the end of the recording: all threads that are off then are so until this
					 * moment */

/* Runs once, when the recording ends and nothing else is attached: writes the threads that are off. */
SEC("iter/task")
int on_end(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct task_state *s = task ? state_of(task) : 0;

	if (s && s->follow >= FOLLOW_RUN && s->off && !s->dead)
		write_off(s, OFF_OPEN, end_ns);
	return 0;
}

static __always_inline void waker_is(struct task_state *s, unsigned int kind, unsigned int number)
{
	s->waker_kind = kind;
	s->waker = number;
	s->waker_followed = 0;
	s->waker_stack = 0;
}

static __always_inline void woken_by_task(struct task_state *s, struct task_struct *current, unsigned long long ns)
{
	struct task_state *waker = state_of(current);

	if (!current->pid) {		/* idle: in an interrupt without a tracepoint */
		waker_is(s, WAKER_TASK, 0);
		return;
	}
	if (!waker)
		waker = add_task(current, current->flags & KERNEL_THREAD ? FOLLOW_HELPER :
				 FOLLOW_NAME, ns);
	waker_is(s, WAKER_TASK, waker ? waker->tid : 0);
	s->waker_followed = waker && waker->follow == FOLLOW_RUN;
}

static __always_inline void woken_in_softirq(struct task_state *s, struct interrupts *c, struct task_struct *current,
					     int read_directly, unsigned long long ns)
{
	unsigned int nic = received_by(c, read_directly), vector;

	if (nic == LOOPBACK && looped_by_current(current)) {
		woken_by_task(s, current, ns);
		return;
	}
	if (nic) {
		waker_is(s, WAKER_NIC, nic);
		return;
	}
	look_at_softirq(c);
	vector = c->softirq - 1;
	if (c->softirq_disk)
		waker_is(s, WAKER_DISK, c->softirq_disk - 1);
	else if (vector == SOFTIRQ_TIMER || vector == SOFTIRQ_HRTIMER)
		waker_is(s, WAKER_TIMER, 0);
	else
		waker_is(s, WAKER_SOFTIRQ, vector);
}

static __always_inline unsigned int tell_waker_stack(void *context, struct task_struct *current, unsigned long long ns)
{
	struct task_state *waker = user_stacks || kernel_stacks ? followed(current) : 0;

	return waker ? tell_stack(context, waker, current, STACK_WAKER, ns) : 0;
}

static __always_inline void woken(void *context, struct task_struct *task, int read_directly)
{
	struct task_state *s = quickly_followed(task);
	struct task_struct *current;
	struct interrupts *c;
	unsigned long long ns;

	if (!s || (s->off && s->woken_ns >= s->out_ns))
		return;
	c = this_cpu();
	if (!c)
		return;
	ns = bpf_ktime_get_ns();
	current = bpf_get_current_task_btf();
	if (c->irq && c->irq_disk)
		waker_is(s, WAKER_DISK, c->irq_disk - 1);
	else if (c->irq)
		waker_is(s, WAKER_IRQ, c->irq - 1);
	else if (c->timer)
		waker_is(s, WAKER_TIMER, 0);
	else if (in_softirq_read(c, read_directly))
		woken_in_softirq(s, c, current, read_directly, ns);
	else
		woken_by_task(s, current, ns);
	s->woken_ns = ns;
	if (wants_device_waits)
		device_wait_ends(s, disk_behind(s, current), ns);
	if (s->waker_kind == WAKER_TASK)
		s->waker_stack = tell_waker_stack(context, current, ns);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	woken(ctx, task, 1);
	return 0;
}

SEC("?tp_btf/sched_waking")
int BPF_PROG(on_waking_before_6_2, struct task_struct *task)
{
	woken(ctx, task, 0);
	return 0;
}

/* p: the process or thread that created it.  NULL: no memory. */
static struct task_state *begin_life(struct task_struct *child, const struct task_state *p, unsigned int parent_tid)
{
	struct task_state *s = new_state(child);

	if (!s) {
		__sync_fetch_and_add(&lost_records, 1);
		return 0;
	}
	s->follow = FOLLOW_RUN;
	number_task(s, child);
	s->image = p->image ? p->image : __sync_fetch_and_add(&image_cnt, 1) + 1;	/* it shares its parent's code
											 * until exec */
	s->is_new = 1;
	s->off = 1;
	s->state = KERNEL_STATE_UNINTERRUPTIBLE;	/* until sched_wakeup_new */
	s->syscall = -1;
	s->out_ns = bpf_ktime_get_ns();
	device_wait_add(s);
	write_life(RECORD_FORK, child, s, parent_tid, s->out_ns);
	return s;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct task_state *p = state_of(parent);
	unsigned int thread = parent->tgid == child->tgid;

	if (!p && follow_threads)
		p = adopted(parent, bpf_ktime_get_ns());
	if (p && (p->follow == FOLLOW_RUN || (p->follow == FOLLOW_CHILDREN && !thread)))
		begin_life(child, p, p->tid ? p->tid : number_of(parent->thread_pid));
	return 0;
}

/* The kernel creates workers without sched_process_fork. */
static struct task_state *begin_worker(struct task_struct *task)
{
	struct task_state *p = is_worker(task) ? state_of(task->group_leader) : 0;

	return p && p->follow == FOLLOW_RUN ? begin_life(task, p, number_of(task->group_leader->thread_pid)) : 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *task)
{
	struct task_state *s = state_of(task);

	if (!s)
		s = begin_worker(task);
	if (!s || s->follow < FOLLOW_RUN)
		return 0;
	s->woken_ns = bpf_ktime_get_ns();
	woken_by_task(s, bpf_get_current_task_btf(), s->woken_ns);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_pid)
{
	struct task_state *s;

	renumber_place(task, old_pid);
	s = state_of(task);
	if (!s || s->follow < FOLLOW_RUN)
		return 0;
	if (wants_device_waits)
		device_wait_remove(s);
	number_task(s, task);		/* a thread that is not the first takes over the first one's number */
	device_wait_add(s);
	s->image = __sync_fetch_and_add(&image_cnt, 1) + 1;
	write_life(RECORD_EXEC, task, s, 0, bpf_ktime_get_ns());
	return 0;
}

/* Most threads of a server set their name while they run, and may live on when the recording ends. */
SEC("tp_btf/task_rename")
int BPF_PROG(on_rename, struct task_struct *task, const char *name)
{
	struct task_state *s = state_of(task);

	if (s && s->tid && s->follow >= FOLLOW_RUN)
		write_life_of(RECORD_SEEN, name, s, 1, bpf_ktime_get_ns());
	return 0;
}

/* A tick of this CPU's clock, if samples are requested; sampler.c opens the clocks. */
SEC("perf_event")
int on_sample(struct bpf_perf_event_data *context)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct task_state *s = state_of(current);

	if (s && s->tid && s->follow == FOLLOW_RUN && !s->dead)
		write_stack(context, s, current, STACK_SAMPLE, bpf_ktime_get_ns());
	return 0;
}
