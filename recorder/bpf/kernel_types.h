/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_types.h - the few fields of the kernel's structures that record.bpf.c reads.
 *
 * Only names and types count: where a field lies is looked up in the running kernel's BTF when the programs are
 * loaded (CO-RE).  A suffix after three underscores means the same structure in another kernel; a field that may be
 * missing is tested for before it is read.
 */
#ifndef RECORDER_BPF_KERNEL_TYPES_H
#define RECORDER_BPF_KERNEL_TYPES_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct upid {
	int nr;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct rq;

struct cfs_rq {
	struct rq *rq;
};

struct sched_entity {
	unsigned long long sum_exec_runtime;
	struct cfs_rq *cfs_rq;
};

struct mm_struct {
	unsigned long start_stack;
};

struct thread_struct {
	unsigned long fsbase;			/* of x86-64 */
};

struct task_struct {
	unsigned int flags;
	unsigned int __state;			/* since 5.14 */
	unsigned int in_iowait : 1;
	int pid, tgid;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	char comm[16];
	struct sched_entity se;
	struct mm_struct *mm;
	struct thread_struct thread;
	unsigned long nvcsw;			/* times that it waited */
	void *worker_private;			/* since 5.17 */
};

struct task_struct___before_5_14 {
	long state;
};

struct task_struct___before_5_17 {		/* since 5.12 */
	void *pf_io_worker;
};

struct pt_regs___x86_64 {
	unsigned long bp, di, si, dx, orig_ax, ip, sp;
};

struct gendisk {
	int major, first_minor;
};

struct request_queue {
	struct gendisk *disk;			/* since 5.17 */
};

struct request {
	struct request_queue *q;
	unsigned int __data_len;
};

struct request___before_5_17 {
	struct gendisk *rq_disk;
};

struct net_device {
	int ifindex;
};

struct softnet_data {
	_Bool in_net_rx_action;
};

struct sk_buff {
	struct net_device *dev;
};

struct in6_addr {
	unsigned char in6_u[16];
};

struct sock_common {
	unsigned int skc_daddr;			/* the other end's address and port, as on the wire */
	unsigned short skc_dport;
	struct in6_addr skc_v6_daddr;		/* if the kernel has IPv6 */
	unsigned short skc_num;			/* its own port */
	unsigned short skc_family;
	volatile unsigned char skc_state;
};

struct sock {
	struct sock_common __sk_common;
	unsigned short sk_type;
};

struct unix_address {
	int len;				/* of what follows: 2 bytes of the family, the path */
};

struct unix_sock {
	struct unix_address *addr;
	struct sock *peer;
};

struct bpf_iter__task {
	struct task_struct *task;
};

#pragma clang attribute pop

#endif
