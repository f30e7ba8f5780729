/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * packets.bpf.h - part of record.bpf.c: the work of network interfaces, and which thread caused it.
 *
 *	net_dev_queue		a thread of the run sends by an interface: it has a packet from now on
 *	net_dev_xmit		the driver has taken it: the record
 *	netif_receive_skb	one is received: a thread that is woken now waited for that interface
 *
 * Packets of other processes are ignored: a packet of ours that waits for theirs has its own record.  A packet sent
 * in an interrupt (the rest of what a window had no room for, acknowledgements) has no thread.
 *
 * The loopback interface has no device: its receiving end is a softirq that mostly runs in the sender, as soon as it
 * has sent.  So if the current task is in a system call, or is a kernel thread, it is the waker and has a name; else
 * the interface is, and the sender is unknown (looped_by_current).
 *
 * These programs run for each packet, and learn of a loopback packet only that it is one.  So the recorder detaches
 * them when for a second no packet came from outside and the run sent none there (packet_watch.h).  Tracepoints that
 * only drivers reach replace them then, and tell when they are needed again:
 *
 *	napi_gro_receive_entry, netif_receive_skb_entry and so on	a device has a packet for us
 *
 * A pair of virtual interfaces calls none of these, and is like loopback meanwhile: who sends wakes.
 */

static struct in_flight packets[IN_FLIGHT_CNT];	/* a packet that is dropped on the way is evicted in the end */
unsigned long long outside_packets;	/* received by any process, sent by the run; approximate */

SEC("tp_btf/net_dev_queue")
int BPF_PROG(on_send, struct sk_buff *skb)
{
	struct interrupts *c;
	struct task_state *s;

	if (skb->dev->ifindex == LOOPBACK)
		return 0;
	c = this_cpu();
	if (!c || in_interrupt(c))
		return 0;
	s = state_of(bpf_get_current_task_btf());
	if (s && s->follow >= FOLLOW_RUN) {
		outside_packets++;
		add_in_flight(packets, address_of(skb), s->tid, bpf_ktime_get_ns());
	}
	return 0;
}

/* A bystander is in user code, or empties a queue that another task has filled (ksoftirqd). */
static __always_inline int looped_by_current(struct task_struct *current)
{
	struct pt_regs___x86_64 *regs;

	if (!current->pid)
		return 0;
	if (current->flags & KERNEL_THREAD)
		return current->comm[0] != 'k' || current->comm[1] != 's' || current->comm[2] != 'o';
	if (!bpf_core_field_exists(struct pt_regs___x86_64, orig_ax))
		return 1;
	regs = (void *)bpf_task_pt_regs(current);
	return (long)regs->orig_ax >= 0;
}

SEC("tp_btf/net_dev_xmit")
int BPF_PROG(on_sent, struct sk_buff *skb, int result, struct net_device *nic)
{
	struct in_flight *f;

	if (nic->ifindex == LOOPBACK)
		return 0;
	f = in_flight(packets, address_of(skb));	/* only the address is used: the packet may be freed by now */
	if (!f)
		return 0;
	write_request(WAKER_NIC, (unsigned int)nic->ifindex, f);
	f->what = 0;
	return 0;
}

static __always_inline void arrive(struct sk_buff *skb)
{
	struct interrupts *c = this_cpu();

	outside_packets++;
	if (!c || packets_are_watched || !may_look())
		return;
	c->nic = (unsigned int)skb->dev->ifindex;
	c->arrival_number = softirq_number(c);
}

SEC("tp_btf/napi_gro_receive_entry")
int BPF_PROG(on_arrival_gro, struct sk_buff *skb)
{
	arrive(skb);
	return 0;
}

SEC("tp_btf/napi_gro_frags_entry")
int BPF_PROG(on_arrival_frags, struct sk_buff *skb)
{
	arrive(skb);
	return 0;
}

SEC("tp_btf/netif_receive_skb_entry")
int BPF_PROG(on_arrival, struct sk_buff *skb)
{
	arrive(skb);
	return 0;
}

SEC("tp_btf/netif_receive_skb_list_entry")
int BPF_PROG(on_arrival_list, struct sk_buff *skb)
{
	arrive(skb);
	return 0;
}

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(on_packet, struct sk_buff *skb)
{
	struct interrupts *c = this_cpu();
	unsigned int nic = (unsigned int)skb->dev->ifindex;

	if (nic != LOOPBACK)
		outside_packets++;
	if (c)
		c->nic = nic;
	return 0;
}
