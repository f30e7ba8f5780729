/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * interrupts.bpf.h - part of record.bpf.c: what each CPU is doing besides its current task.
 *
 * A disk's interrupt is over when its softirq wakes a thread.  So the device is noted when the request is completed,
 * for as long as the interrupt or softirq lasts.
 *
 * There are too many softirqs to trace the beginning and end of each: five in a request and its answer by loopback.
 * If the kernel's own counters can be found, which say whether one is running, whether it handles received packets,
 * and how many have begun, the program for wakings reads them:
 *
 *	a disk's request is done, softirqs begun: 4711		disk = vda, noted in number 4711
 *	a waking in a softirq, still 4711			by vda
 *	a waking in a softirq, now 4713				nothing is noted of that one
 *	a waking in a softirq, of received packets		by the interface of the last one
 *
 * The kind of a softirq in which nothing was noted is then unknown.  After a second without a packet from outside,
 * packets are no longer watched one by one (packets.bpf.h): then a received one counts as loopback's unless one from
 * outside was noted in that number.
 */
enum { SOFTIRQ_TIMER = 1, SOFTIRQ_NET_RX = 3, SOFTIRQ_HRTIMER = 8, SOFTIRQ_CNT = 10, SOFTIRQ_OF_UNKNOWN_KIND = 255 };

enum { PREEMPT_IN_SOFTIRQ = 0x100 };	/* in the kernel's preempt_count */

/* Set before loading: offsets of the kernel's variables of each CPU, from its run queue, which a task points to. */
const volatile unsigned int run_queue_offset, current_offset, preempt_count_offset, softirqs_offset,
	receiving_offset;		/* 0: unknown */

int softirqs_are_counted;		/* the counters are where they should be (on_try) */
int packets_are_watched = 1;		/* each received one, by on_packet: programs.c */

enum { LOOPBACK = 1 };			/* the interface's index in every network namespace */

/* The first test tells the verifier of a kernel without bpf_rdonly_cast that this code is never reached. */
static __always_inline int may_look(void)
{
	return run_queue_offset && softirqs_are_counted;
}

struct interrupts {			/* what this CPU is doing besides its current task */
	unsigned long long softirq_number;	/* of the softirq in which the fields below were noted */
	unsigned int irq, softirq;	/* number plus one; 0: no */
	unsigned int irq_disk, softirq_disk;	/* plus one */
	unsigned int nic;		/* of the packet received last */
	unsigned int timer;
	unsigned long long arrival_number;	/* of the softirq in which a packet from outside arrived */
	unsigned long long variables;	/* this CPU's copy of the kernel's variables; 0: not read yet */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, int);
	__type(value, struct interrupts);
} interrupted SEC(".maps");

static __always_inline struct interrupts *this_cpu(void)
{
	int zero = 0;

	return bpf_map_lookup_elem(&interrupted, &zero);
}

static __always_inline unsigned long long variables(struct interrupts *c)
{
	if (!c->variables)
		c->variables = (unsigned long long)bpf_get_current_task_btf()->se.cfs_rq->rq - run_queue_offset;
	return c->variables;
}

/* Runs once, before anything else is attached: do the counters there have plausible values? */
SEC("iter/task")
int on_try(struct bpf_iter__task *context)
{
	struct interrupts *c = this_cpu();
	unsigned long long current = 0;

	if (!c || !run_queue_offset || softirqs_are_counted)
		return 0;
	bpf_probe_read_kernel(&current, sizeof(current), (void *)(variables(c) + current_offset));
	softirqs_are_counted = current == bpf_get_current_task();
	return 0;
}

/* Since 6.2, an instruction reads what this points to.  Calling a helper for it takes 30 ns. */
extern void *bpf_rdonly_cast(const void *address, unsigned int type) __ksym __weak;

/* Whether this CPU is in a softirq, of whatever kind.  Read directly, which needs bpf_rdonly_cast. */
static __always_inline int in_softirq_read(struct interrupts *c, int directly)
{
	const void *address;
	const struct upid *number;		/* some structure that begins with an int */
	int preempt_count = 0;

	if (!may_look())
		return c->softirq != 0;
	address = (const void *)(variables(c) + preempt_count_offset);
	if (directly) {
		number = bpf_rdonly_cast(address, bpf_core_type_id_kernel(struct upid));
		preempt_count = number->nr;
	} else {
		bpf_probe_read_kernel(&preempt_count, sizeof(preempt_count), address);
	}
	return preempt_count & PREEMPT_IN_SOFTIRQ;
}

static __always_inline int in_softirq(struct interrupts *c)
{
	return in_softirq_read(c, 0);
}

/* The number of the softirq that this CPU is in.  Only if may_look(). */
static unsigned long long softirq_number(struct interrupts *c)
{
	unsigned long long cnts[SOFTIRQ_CNT / 2] = { 0 }, n = 0;	/* two in each: only a change matters */

	bpf_probe_read_kernel(cnts, sizeof(cnts), (void *)(variables(c) + softirqs_offset));
	for (int i = 0; i < SOFTIRQ_CNT / 2; i++)
		n += cnts[i];
	return n;
}

/* Notes the kind of the current softirq; forgets what was noted in another one.  Only inside a softirq. */
static void look_at_softirq(struct interrupts *c)
{
	unsigned long long n;

	if (!may_look())
		return;
	n = softirq_number(c);
	if (c->softirq_number != n) {
		c->softirq_number = n;
		c->softirq_disk = 0;
		c->softirq = SOFTIRQ_OF_UNKNOWN_KIND + 1;
	}
}

/* Inside a softirq: the interface whose packets it receives; 0: none.  Read directly, as above. */
static __always_inline unsigned int received_by(struct interrupts *c, int directly)
{
	const void *address;
	const struct softnet_data *data;
	_Bool receiving = 0;

	if (!may_look())
		return c->softirq == SOFTIRQ_NET_RX + 1 ? c->nic : 0;
	address = (const void *)(variables(c) + receiving_offset);
	if (directly) {
		data = bpf_rdonly_cast(address - bpf_core_field_offset(struct softnet_data, in_net_rx_action),
				       bpf_core_type_id_kernel(struct softnet_data));
		receiving = data->in_net_rx_action;
	} else {
		bpf_probe_read_kernel(&receiving, sizeof(receiving), address);
	}
	if (receiving && !packets_are_watched && c->nic != LOOPBACK && c->arrival_number != softirq_number(c))
		c->nic = LOOPBACK;
	return receiving ? c->nic : 0;
}

/* The current task is not the cause of what happens here. */
static int in_interrupt(struct interrupts *c)
{
	return c->irq || c->timer || in_softirq(c);
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(on_irq_entry, int irq)
{
	struct interrupts *c = this_cpu();

	if (c) {
		c->irq_disk = 0;
		c->irq = (unsigned int)irq + 1;
	}
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(on_irq_exit)
{
	struct interrupts *c = this_cpu();

	if (c)
		c->irq = c->irq_disk = 0;
	return 0;
}

/* For kernels whose softirqs cannot be counted.  (Else these two are not attached.) */
SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq_entry, unsigned int vector)
{
	struct interrupts *c = this_cpu();

	if (c) {
		c->softirq_disk = c->nic = 0;
		c->softirq = vector + 1;
	}
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_exit)
{
	struct interrupts *c = this_cpu();

	if (c)
		c->softirq = c->softirq_disk = c->nic = 0;
	return 0;
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_timer_entry)
{
	struct interrupts *c = this_cpu();

	if (c)
		c->timer = 1;
	return 0;
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(on_timer_exit)
{
	struct interrupts *c = this_cpu();

	if (c)
		c->timer = 0;
	return 0;
}

/* The same: for the kernel's timers that are no hrtimers. */
SEC("tp_btf/timer_expire_entry")
int BPF_PROG(on_old_timer)
{
	struct interrupts *c = this_cpu();

	if (c && in_softirq(c)) {
		look_at_softirq(c);
		c->softirq = SOFTIRQ_TIMER + 1;
	}
	return 0;
}
