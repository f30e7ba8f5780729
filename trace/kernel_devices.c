/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_devices.c - what devices did while the run went on.
 *
 * A disk is running while it has a request, of whomsoever, else it is idle (`queue`), until somebody brings the
 * next: a wake-up names him, if he is known.  So is a network interface while it has a packet to send, or while
 * somebody waits for what is to come by it, for that is what it and those beyond it are working on.  Of other devices,
 * and of one of which no request was recorded, only those moments are known when somebody waited for it: running then.
 *
 *	requests of vda: 20..40 brought by 7, 30..50 by 8, 70..80 by 8; the recording 0..100
 *	-> queue 0..20 (wakeup by 7), running 20..50, queue 50..70 (by 8), running 70..80, queue 80..100
 *	eth0 has a packet by 7 in 20..22, for the answer to which 7 waits in 25..60
 *	-> queue 0..20 (by 7), running 20..22, queue 22..25, running 25..60, queue 60..100
 *
 * Of an interrupt of unknown purpose nobody knows what works there: it has a name, as a waker, and no time.
 */
#include "base/banned.h"
#include "base/search.h"
#include "trace/kernel_threads.h"

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

static void name_device(struct kernel_threads *x, uint64_t device)
{
	static const enum thread_kind kinds[WAKER_KIND_CNT] = {
		[WAKER_DISK] = KIND_DISK, [WAKER_NIC] = KIND_NIC, [WAKER_TIMER] = KIND_TIMER,
		[WAKER_IRQ] = KIND_THREAD, [WAKER_SOFTIRQ] = KIND_THREAD,
	};
	const char *name = NULL;

	for (size_t i = 0; i < x->k->names.cnt; i++)
		if (x->k->names.items[i].kind == kind_of(device) &&
		    x->k->names.items[i].number == (uint32_t)device)
			name = arena_strdup(x->t->arena, x->k->names.items[i].name);
	VEC_ADD(&x->t->threads, (struct thread_name){ device, 0, name, kinds[kind_of(device)], false });
}

static void add_segment(struct kernel_threads *x, uint64_t device, int64_t start_ns, int64_t end_ns,
			enum trace_state state)
{
	if (start_ns < end_ns)
		VEC_ADD(&x->t->segments, (struct segment){ device, SID_NONE, start_ns, end_ns, state });
}

/* Requests of one device, in order of issue. */
static void add_requests(struct kernel_threads *x, uint64_t device, const struct kernel_request *r, size_t cnt)
{
	int64_t at_ns = x->k->start_ns;

	for (size_t i = 0; i < cnt; ) {
		const struct kernel_request *first = &r[i];
		int64_t end_ns = first->done_ns;

		while (++i < cnt && r[i].issue_ns <= end_ns)
			if (r[i].done_ns > end_ns)
				end_ns = r[i].done_ns;
		add_segment(x, device, at_ns, first->issue_ns, STATE_QUEUE);
		if (first->tid && at_ns < first->issue_ns)
			VEC_ADD(&x->t->wakeups, (struct wakeup){ device,
				kernel_thread_at(x, first->tid, first->issue_ns), first->issue_ns });
		add_segment(x, device, first->issue_ns > at_ns ? first->issue_ns : at_ns, end_ns, STATE_RUNNING);
		at_ns = end_ns > at_ns ? end_ns : at_ns;
	}
	add_segment(x, device, at_ns, x->k->end_ns, STATE_QUEUE);
}

static const struct kernel_request *requests_of(const struct kernel_trace *k, uint64_t device, size_t *ret_cnt)
{
	const struct kernel_request *r = k->requests.items;
	size_t first = partition_point(i, k->requests.cnt, kernel_device_tid(r[i].kind, r[i].device) < device);

	*ret_cnt = partition_point(i, k->requests.cnt, kernel_device_tid(r[i].kind, r[i].device) <= device) - first;
	return &r[first];
}

/* A network interface: who waits for it keeps it busy as packets do. */
static void add_packets(struct kernel_threads *x, uint64_t device, const struct kernel_request *r, size_t cnt,
			const struct kernel_span *s, size_t span_cnt)
{
	VEC(struct kernel_request) all = { 0 };

	for (size_t i = 0, j = 0; i < cnt || j < span_cnt; ) {
		if (j == span_cnt || (i < cnt && r[i].issue_ns <= s[j].start_ns)) {
			VEC_ADD(&all, r[i++]);
		} else {
			VEC_ADD(&all, (struct kernel_request){ WAKER_NIC, (uint32_t)device, 0, s[j].start_ns,
							       s[j].end_ns });
			j++;
		}
	}
	add_requests(x, device, all.items, all.cnt);
	VEC_RELEASE(&all);
}

/* The spans of one device, joined where they touch. */
static void add_waited(struct kernel_threads *x, const struct kernel_span *s, size_t cnt)
{
	for (size_t i = 0; i < cnt; ) {
		struct kernel_span joined = s[i];

		while (++i < cnt && s[i].start_ns <= joined.end_ns)
			if (s[i].end_ns > joined.end_ns)
				joined.end_ns = s[i].end_ns;
		add_segment(x, joined.device, joined.start_ns, joined.end_ns, STATE_RUNNING);
	}
}

static void add_device(struct kernel_threads *x, const struct kernel_span *s, size_t cnt)
{
	enum kernel_waker kind = kind_of(s->device);
	size_t request_cnt = 0;
	const struct kernel_request *r = NULL;

	name_device(x, s->device);
	if (kind == WAKER_IRQ || kind == WAKER_SOFTIRQ)
		return;
	if (kind == WAKER_DISK || kind == WAKER_NIC)
		r = requests_of(x->k, s->device, &request_cnt);
	if (request_cnt && kind == WAKER_NIC)
		add_packets(x, s->device, r, request_cnt, s, cnt);
	else if (request_cnt)
		add_requests(x, s->device, r, request_cnt);
	else
		add_waited(x, s, cnt);
}

void kernel_devices_add(struct kernel_threads *x, kernel_spans *waited)
{
	struct kernel_span *s = waited->items;

	if (waited->cnt)
		qsort(s, waited->cnt, sizeof(*s), compare_spans);
	for (size_t i = 0, end; i < waited->cnt; i = end) {
		for (end = i + 1; end < waited->cnt && s[end].device == s[i].device; )
			end++;
		add_device(x, &s[i], end - i);
	}
}
