/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * interrupts.bpf.h - part of record.bpf.c: what each CPU is doing besides its current task.
 *
 * Of a disk's interrupt only its softirq wakes somebody, and then the interrupt is over: so the device is
 * noted where the request is completed, for as long as the interrupt or softirq lasts.
 */
enum { SOFTIRQ_TIMER = 1, SOFTIRQ_NET_RX = 3, SOFTIRQ_BLOCK = 4, SOFTIRQ_HRTIMER = 8 };

struct interrupts {			/* what this CPU is doing besides its current task */
	unsigned int irq, softirq;	/* number plus one; 0: no */
	unsigned int irq_disk, softirq_disk;	/* plus one */
	unsigned int nic;
	unsigned int timer;
	int looped_by;			/* the last task that sent by the loopback interface */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, int);
	__type(value, struct interrupts);
} interrupted SEC(".maps");

static struct interrupts *this_cpu(void)
{
	int zero = 0;

	return bpf_map_lookup_elem(&interrupted, &zero);
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
