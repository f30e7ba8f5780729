/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requests.bpf.h - part of record.bpf.c: what disks have to do, and who brought it.
 *
 *	block_io_start		who brings it: the thread whose system call it is (some kernels do not say)
 *	block_rq_issue		the disk has it
 *	block_rq_complete	a part is done; with the last one the record
 *
 * Brought in an interrupt, or by a thread that is not followed: by nobody known (tid 0).
 */
struct in_flight {
	unsigned long long ns;		/* issued; 0: not yet */
	unsigned int tid;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);	/* one whose end is not seen makes room in the end */
	__uint(max_entries, 8192);
	__type(key, struct request *);
	__type(value, struct in_flight);
} requests SEC(".maps");

static struct gendisk *disk_of(struct request *rq)
{
	struct request___before_5_17 *old = (void *)rq;

	if (bpf_core_field_exists(old->rq_disk))
		return old->rq_disk;
	return rq->q->disk;
}

static unsigned int brought_by(void)
{
	struct interrupts *c = this_cpu();
	struct task_state *s = state_of(bpf_get_current_task_btf());

	return c && s && s->follow >= FOLLOW_RUN && !in_interrupt(c) ? s->tid : 0;
}

SEC("tp_btf/block_io_start")
int BPF_PROG(on_request, struct request *rq)
{
	struct in_flight f = { .tid = brought_by() };

	bpf_map_update_elem(&requests, &rq, &f, BPF_ANY);
	return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(on_issue, struct request *rq)
{
	struct in_flight *known = bpf_map_lookup_elem(&requests, &rq), f = { .ns = bpf_ktime_get_ns() };

	if (known && known->ns)		/* once more: the disk was full */
		return 0;
	f.tid = known ? known->tid : brought_by();
	bpf_map_update_elem(&requests, &rq, &f, BPF_ANY);
	return 0;
}

static void write_request(unsigned int kind, unsigned int number, const struct in_flight *f)
{
	struct record_request *r = bpf_ringbuf_reserve(&records, sizeof(*r), 0);

	if (!r) {
		__sync_fetch_and_add(&lost_records, 1);
		return;
	}
	r->kind = RECORD_REQUEST;
	r->tid = f->tid;
	r->device_kind = kind;
	r->device = number;
	r->ns = bpf_ktime_get_ns();
	r->issue_ns = f->ns;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

static void request_done(struct request *rq, unsigned int disk)
{
	struct in_flight *f = bpf_map_lookup_elem(&requests, &rq);

	if (f && f->ns)
		write_request(WAKER_DISK, disk, f);
	bpf_map_delete_elem(&requests, &rq);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_disk, struct request *rq, int error, unsigned int bytes)
{
	struct interrupts *c = this_cpu();
	struct gendisk *disk = disk_of(rq);
	unsigned int number;

	if (!c || !disk)
		return 0;
	number = (unsigned int)disk->major << 20 | (unsigned int)disk->first_minor;
	if (c->irq)
		c->irq_disk = number + 1;
	else if (in_softirq(c)) {
		look_at_softirq(c);
		c->softirq_disk = number + 1;
	}
	if (bytes >= rq->__data_len)
		request_done(rq, number);
	return 0;
}
