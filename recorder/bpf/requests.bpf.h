/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requests.bpf.h - part of record.bpf.c: the work of disks, and which thread caused it.
 *
 *	block_io_start		its thread: the one whose system call it is (some kernels do not report this)
 *	block_rq_issue		the disk has it
 *	block_rq_complete	a part is done; the last one writes the record
 *
 * A request made in an interrupt, or by a thread that is not followed, has tid 0.
 *
 * Requests in flight are in a table, at one of four places that follow from their addresses: an LRU hash map takes
 * half a microsecond for each change, and a request has three.
 */
enum { IN_FLIGHT_BITS = 11, IN_FLIGHT_ALIKE = 4, IN_FLIGHT_CNT = IN_FLIGHT_ALIKE << IN_FLIGHT_BITS };

struct in_flight {
	unsigned long long what;	/* the address of a request or packet; 0: free */
	unsigned long long ns;		/* issued; 0: not yet */
	unsigned int tid;
};

static struct in_flight requests[IN_FLIGHT_CNT];

static unsigned int in_flight_place(unsigned long long what)
{
	return (unsigned int)(what * 0x9e3779b97f4a7c15ULL >> (64 - IN_FLIGHT_BITS)) * IN_FLIGHT_ALIKE;
}

static __always_inline struct in_flight *in_flight(struct in_flight *table, unsigned long long what)
{
	unsigned int first = in_flight_place(what);

	for (unsigned int i = 0; i < IN_FLIGHT_ALIKE; i++) {
		struct in_flight *f = &table[(first + i) & (IN_FLIGHT_CNT - 1)];

		if (f->what == what)
			return f;
	}
	return 0;
}

/* If no place is free an old request is evicted, mostly one whose end was not seen. */
static __always_inline void add_in_flight(struct in_flight *table, unsigned long long what, unsigned int tid,
					  unsigned long long ns)
{
	unsigned int first = in_flight_place(what);
	struct in_flight *f = in_flight(table, what);

	for (unsigned int i = 0; i < IN_FLIGHT_ALIKE && !f; i++) {
		struct in_flight *free = &table[(first + i) & (IN_FLIGHT_CNT - 1)];

		if (__sync_val_compare_and_swap(&free->what, 0, what) == 0)
			f = free;
	}
	if (!f)
		f = &table[(first + (what >> 8) % IN_FLIGHT_ALIKE) & (IN_FLIGHT_CNT - 1)];
	f->what = what;
	f->ns = ns;
	f->tid = tid;
}

static struct gendisk *disk_of(struct request *rq)
{
	struct request___before_5_17 *old = (void *)rq;

	if (bpf_core_field_exists(old->rq_disk))
		return old->rq_disk;
	return rq->q->disk;
}

static unsigned int number_of_disk(const struct gendisk *disk)
{
	return (unsigned int)disk->major << 20 | (unsigned int)disk->first_minor;
}

static unsigned int brought_by(struct request *rq)
{
	struct interrupts *c = this_cpu();
	struct task_state *s = state_of(bpf_get_current_task_btf());
	struct gendisk *disk;

	if (!c || !s || s->follow < FOLLOW_RUN || in_interrupt(c))
		return 0;
	disk = wants_device_waits ? disk_of(rq) : 0;
	if (disk)
		s->disk_asked = number_of_disk(disk) + 1;
	return s->tid;
}

SEC("tp_btf/block_io_start")
int BPF_PROG(on_request, struct request *rq)
{
	add_in_flight(requests, address_of(rq), brought_by(rq), 0);
	return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(on_issue, struct request *rq)
{
	unsigned long long address = address_of(rq);
	struct in_flight *known = in_flight(requests, address);

	if (!known)
		add_in_flight(requests, address, brought_by(rq), bpf_ktime_get_ns());
	else if (!known->ns)		/* else it is issued again: the disk was full */
		known->ns = bpf_ktime_get_ns();
	return 0;
}

static void write_request(unsigned int kind, unsigned int number, const struct in_flight *f)
{
	struct reserved reserved;
	struct record_request *r = reserve(&reserved);

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
	commit(&reserved);
}

static void request_done(struct request *rq, unsigned int disk)
{
	struct in_flight *f = in_flight(requests, address_of(rq));

	if (!f)
		return;
	if (f->ns)
		write_request(WAKER_DISK, disk, f);
	f->what = 0;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_disk, struct request *rq, int error, unsigned int bytes)
{
	struct interrupts *c = this_cpu();
	struct gendisk *disk = disk_of(rq);
	unsigned int number;

	if (!c || !disk)
		return 0;
	number = number_of_disk(disk);
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
