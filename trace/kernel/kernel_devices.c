/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_devices.c - what devices did while the run went on.
 *
 * A disk is running while it has a request of any process, else idle (`queue`) until the next request; a
 * wake-up names the thread that made that one, if known.  A network interface is running while it has a
 * packet to send, or while a thread waits for data from it, since it and the machines beyond it work on that.
 * A device of any other kind, or without a recorded request, is known to run only while a thread waits for
 * it.
 *
 *	requests of vda: 20..40 brought by 7, 30..50 by 8, 70..80 by 8; the run 0..100
 *	-> queue 0..20 (wakeup by 7), running 20..50, queue 50..70 (by 8), running 70..80, queue 80..100
 *	eth0 has a packet by 7 in 20..22, for the answer to which 7 waits in 25..60
 *	-> queue 0..20 (by 7), running 20..22, queue 22..25, running 25..60, queue 60..100
 *
 * Devices have no segments before the first thread of the run and after the last: that time belongs to the
 * recording, not to the run.
 *
 * An interrupt of unknown purpose has a name, as a waker, but no segments, since it is unknown what works
 * there.
 */
#include "base/banned.h"
#include "base/search.h"
#include "trace/kernel/kernel_threads.h"

static int compare_spans(const void *a, const void *b)
{
	const struct kernel_span *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

static enum kernel_waker kind_of(uint64_t device)
{
	return (enum kernel_waker)(device >> 40 & 0xff);
}

static bool has_thread(const struct trace *t, uint64_t tid)
{
	for (size_t i = 0; i < t->threads.cnt; i++)
		if (t->threads.items[i].tid == tid)
			return true;
	return false;
}

static void name_device(struct kernel_threads *x, uint64_t device)
{
	static const enum thread_kind kinds[WAKER_KIND_CNT] = {
		[WAKER_DISK] = KIND_DISK, [WAKER_NIC] = KIND_NIC, [WAKER_TIMER] = KIND_TIMER,
		[WAKER_IRQ] = KIND_THREAD, [WAKER_SOFTIRQ] = KIND_THREAD,
	};
	const char *name = NULL;

	if (has_thread(x->t, device))		/* the runtime already named the timer */
		return;
	for (size_t i = 0; i < x->k->names.cnt; i++)
		if (x->k->names.items[i].kind == kind_of(device) &&
		    x->k->names.items[i].number == (uint32_t)device)
			name = arena_strdup(x->t->arena, x->k->names.items[i].name);
	VEC_ADD(&x->t->threads, (struct thread_name){ device, 0, name, kinds[kind_of(device)], false, 0 });
}

struct stretch {			/* the span of time that is wanted of a device */
	struct kernel_threads *x;
	uint64_t device;
	int64_t low_ns, until_ns;
};

static void add_segment(const struct stretch *d, int64_t start_ns, int64_t end_ns, enum trace_state state)
{
	if (start_ns < d->x->first_ns)
		start_ns = d->x->first_ns;
	if (end_ns > d->until_ns)
		end_ns = d->until_ns;
	if (end_ns > d->x->last_ns)
		end_ns = d->x->last_ns;
	if (start_ns < end_ns)
		VEC_ADD(&d->x->t->segments, (struct segment){ d->device, SID_NONE, start_ns, end_ns, state, 0 });
}

/* Adds the requests of one device, in order of issue.  at_ns: the device is idle from then to the first request. */
static void add_requests(const struct stretch *d, int64_t at_ns, const struct kernel_request *r, size_t cnt)
{
	for (size_t i = 0; i < cnt; ) {
		const struct kernel_request *first = &r[i];
		int64_t end_ns = first->done_ns;

		while (++i < cnt && r[i].issue_ns <= end_ns)
			if (r[i].done_ns > end_ns)
				end_ns = r[i].done_ns;
		add_segment(d, at_ns, first->issue_ns, STATE_QUEUE);
		if (first->tid && at_ns < first->issue_ns && first->issue_ns <= d->x->last_ns &&
		    first->issue_ns >= d->low_ns)	/* else a segment has it already */
			VEC_ADD(&d->x->t->wakeups, (struct wakeup){ d->device,
				kernel_thread_at(d->x, first->tid, first->issue_ns), first->issue_ns });
		add_segment(d, first->issue_ns > at_ns ? first->issue_ns : at_ns, end_ns, STATE_RUNNING);
		at_ns = end_ns > at_ns ? end_ns : at_ns;
	}
	add_segment(d, at_ns, d->x->last_ns, STATE_QUEUE);
}

static const struct kernel_request *requests_of(const struct kernel_trace *k, uint64_t device, size_t *ret_cnt)
{
	const struct kernel_request *r = k->requests.items;
	size_t first = partition_point(i, k->requests.cnt, kernel_device_tid(r[i].kind, r[i].device) < device);

	*ret_cnt = partition_point(i, k->requests.cnt, kernel_device_tid(r[i].kind, r[i].device) <= device) - first;
	return VEC_AT(&k->requests, first);
}

/* A network interface: a thread that waits for it keeps it as busy as packets do. */
static void add_packets(const struct stretch *d, int64_t at_ns, const struct kernel_request *r, size_t cnt,
			const struct kernel_span *s, size_t span_cnt)
{
	VEC(struct kernel_request) all = { 0 };

	for (size_t i = 0, j = 0; i < cnt || j < span_cnt; ) {
		if (j == span_cnt || (i < cnt && r[i].issue_ns <= s[j].start_ns)) {
			VEC_ADD(&all, r[i++]);
		} else {
			VEC_ADD(&all, (struct kernel_request){ WAKER_NIC, (uint32_t)d->device, 0, s[j].start_ns,
							       s[j].end_ns });
			j++;
		}
	}
	add_requests(d, at_ns, all.items, all.cnt);
	VEC_RELEASE(&all);
}

/* The spans of one device, joined where they touch. */
static void add_waited(const struct stretch *d, const struct kernel_span *s, size_t cnt)
{
	for (size_t i = 0; i < cnt; ) {
		struct kernel_span joined = s[i];

		while (++i < cnt && s[i].start_ns <= joined.end_ns)
			if (s[i].end_ns > joined.end_ns)
				joined.end_ns = s[i].end_ns;
		add_segment(d, joined.start_ns, joined.end_ns, STATE_RUNNING);
	}
}

static void add_device(const struct stretch *d, const struct kernel_span *s, size_t cnt)
{
	enum kernel_waker kind = kind_of(d->device);
	const struct kernel_request *r = NULL;
	size_t all = 0, first, end;
	int64_t at_ns;

	if (kind == WAKER_IRQ || kind == WAKER_SOFTIRQ)
		return;
	if (kind == WAKER_DISK || kind == WAKER_NIC)
		r = requests_of(d->x->k, d->device, &all);
	if (!all) {
		add_waited(d, s, cnt);
		return;
	}
	first = d->low_ns == INT64_MIN ? 0 : partition_point(i, all, r[i].done_ns < d->low_ns);
	end = partition_point(i, all, r[i].issue_ns <= d->until_ns);
	at_ns = first ? r[first - 1].done_ns : d->x->first_ns;
	if (kind == WAKER_NIC)
		add_packets(d, at_ns, &r[first], end - first, s, cnt);
	else
		add_requests(d, at_ns, &r[first], end - first);
}

static size_t spans_until(const kernel_spans *spans, uint64_t device)
{
	return partition_point(i, spans->cnt, spans->items[i].device <= device);
}

static bool is_named(const struct kernel_devices *d, uint64_t device)
{
	for (size_t i = 0; i < d->named.cnt; i++)
		if (d->named.items[i] == device)
			return true;
	return false;
}

void kernel_devices_add(struct kernel_devices *d, kernel_spans *waited, int64_t low_ns, int64_t until_ns)
{
	struct kernel_span *s = waited->items;
	size_t known = d->named.cnt;

	if (waited->cnt)
		qsort(s, waited->cnt, sizeof(*s), compare_spans);
	for (size_t i = 0; i < waited->cnt; i++)
		if ((i == 0 || s[i - 1].device != s[i].device) && !is_named(d, s[i].device)) {
			VEC_ADD(&d->named, s[i].device);
			name_device(d->x, s[i].device);
		}
	for (size_t i = 0; i < d->named.cnt; i++) {
		struct stretch asked = { d->x, d->named.items[i], i < known ? low_ns : INT64_MIN, until_ns };
		size_t first = spans_until(waited, asked.device - 1);

		add_device(&asked, s ? &s[first] : NULL, spans_until(waited, asked.device) - first);
	}
}

void kernel_devices_release(struct kernel_devices *d)
{
	VEC_RELEASE(&d->named);
}

void kernel_join_requests(struct kernel_trace *k)
{
	struct kernel_request *r = k->requests.items;
	size_t joined = 0;

	for (size_t i = 0; i < k->requests.cnt; i++) {
		struct kernel_request *before = joined ? &r[joined - 1] : NULL;

		if (!before || before->kind != r[i].kind || before->device != r[i].device ||
		    r[i].issue_ns > before->done_ns)
			r[joined++] = r[i];
		else if (r[i].done_ns > before->done_ns)
			before->done_ns = r[i].done_ns;
	}
	k->requests.cnt = joined;
}
