/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * packets.bpf.h - part of record.bpf.c: what network interfaces have to do, and who sent it.
 *
 *	net_dev_queue		a thread of the run sends by an interface: it has a packet from now on
 *	net_dev_xmit		the driver has taken it: the record
 *	netif_receive_skb	one is received: who is woken now waited for that interface
 *
 * What others send is not looked at: a packet of ours that waits behind theirs has its own record.  What is sent
 * in an interrupt (the rest of what a window had no room for, acknowledgements) is nobody's.
 *
 * The loopback interface has no device: its receiving end is a softirq that mostly runs in the sender, as soon as
 * it has sent.  So if the current task is in a system call, or in the kernel for good, it let the receiver go on, and
 * whoever it is has a name; else the interface did, and nobody knows who sent (looped_by_current).
 *
 * They run for each packet, and tell of loopback's only that it is loopback's.  So who takes the records out takes them away
 * while none comes from outside and the run sends none there, for a second and longer (programs.c).  What is called by
 * drivers alone stands in for them then, and tells when they are wanted again:
 *
 *	napi_gro_receive_entry, netif_receive_skb_entry and so on	a device has a packet for us
 *
 * A pair of virtual interfaces calls none of these, and is like loopback meanwhile: who sends wakes.
 */

static struct in_flight packets[IN_FLIGHT_CNT];	/* one that is dropped on the way makes room in the end */
unsigned long long outside_packets;	/* received by anybody, sent by the run; about */

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

/* A bystander is in a program of a user's, or empties a queue that somebody else has filled (ksoftirqd). */
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
	f = in_flight(packets, address_of(skb));	/* the address alone: it may be freed by now */
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
