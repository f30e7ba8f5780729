/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * requests.c - exchanges become intervals; requests.h has the rules.
 */
#include "trace/kernel/requests.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/banned.h"
#include "base/search.h"
#include "base/sort.h"
#include "trace/kernel/upstreams.h"

/* If the next request overtakes an answer by more than this, the client did not wait for the answer. */
#define OVERTAKEN_NS 200000

/* Multiples of the smallest size that came a few times: this many different ones, and this share of all, are no chance. */
#define BURST_SHARE 0.95
enum { BURST_UNIT = 8, BURST_SEEN = 3, BURST_KINDS = 4 };

static uint32_t name_of_port(struct trace *t, const struct kernel_trace *k, uint32_t port)
{
	char name[160];

	if (port >= EXCHANGE_CALLS)
		snprintf(name, sizeof(name), "%.150s", k->calls.cnt ? k->calls.items[0] : "(unknown)");
	else if (port < EXCHANGE_PATH)
		snprintf(name, sizeof(name), "port %u", port);
	else
		snprintf(name, sizeof(name), "unix %.140s",
			 port - EXCHANGE_PATH < k->paths.cnt ? k->paths.items[port - EXCHANGE_PATH] : "(unknown)");
	return trace_add_string(t, &t->interval_names, name);
}

static uint64_t first_free_sid(const struct trace *t)
{
	uint64_t sid = 0;

	for (size_t i = 0; i < t->intervals.cnt; i++)
		if (t->intervals.items[i].sid > sid && t->intervals.items[i].sid < SID_SHARED)
			sid = t->intervals.items[i].sid;
	for (size_t i = 0; i < t->segments.cnt; i++)
		if (t->segments.items[i].sid > sid && t->segments.items[i].sid < SID_SHARED)
			sid = t->segments.items[i].sid;
	return sid + 1;
}

/* The first wake-up of the thread in (after, before) by that waker, or by anybody (0); INT64_MIN: there is none. */
static int64_t first_waking(const struct trace *t, uint64_t tid, uint64_t waker, int64_t after_ns, int64_t before_ns)
{
	const struct wakeup *w = t->wakeups.items;
	size_t i = partition_point(j, t->wakeups.cnt, w[j].tid < tid || (w[j].tid == tid && w[j].time_ns <= after_ns));

	for (; i < t->wakeups.cnt && w[i].tid == tid && w[i].time_ns < before_ns; i++)
		if (!waker || w[i].waker_tid == waker)
			return w[i].time_ns;
	return INT64_MIN;
}

struct answer {				/* the last piece of one, by thread and time */
	uint64_t tid;
	int64_t ns;
};
typedef VEC(struct answer) answers;

static int by_thread(const void *a, const void *b)
{
	const struct answer *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->ns > y->ns) - (x->ns < y->ns);
}

static int64_t thread_key(const void *item, unsigned int rank)
{
	const struct answer *x = item;

	return rank ? x->ns : (int64_t)x->tid;
}

/* The thread's last answer before that moment. */
static int64_t answer_before(const answers *all, uint64_t tid, int64_t ns)
{
	const struct answer *a = all->items;
	size_t after = partition_point(i, all->cnt, a[i].tid < tid || (a[i].tid == tid && a[i].ns < ns));

	return after && a[after - 1].tid == tid ? a[after - 1].ns : INT64_MIN;
}

/* Since when the worker has it. */
static int64_t taken_up_ns(const struct trace *t, const answers *all, const struct kernel_exchange *x,
			   const struct request_owner *o)
{
	int64_t before_ns = answer_before(all, o->sender, x->first_send_ns), woken_ns;

	if (before_ns > x->last_read_ns)
		return before_ns;
	woken_ns = first_waking(t, o->sender, o->receiver, x->last_read_ns, x->first_send_ns);
	if (woken_ns == INT64_MIN)
		woken_ns = first_waking(t, o->sender, 0, x->last_read_ns, x->first_send_ns);
	return woken_ns == INT64_MIN ? x->last_read_ns : woken_ns;
}

static void add_creation(struct trace *t, uint64_t tid, uint64_t tid2, int64_t ns, int64_t ns2, uint64_t sid)
{
	VEC_ADD(&t->creations, (struct creation){ tid, tid2, ns, ns2, NAME_NONE, sid, 0 });
}

void request_add_ways(struct trace *t, const struct kernel_exchange *x, const struct request_owner *o, uint64_t sid, int64_t read_ns)
{
	if (x->start_ns < read_ns)
		add_creation(t, o->receiver, o->receiver, x->start_ns, read_ns, sid);
	if (o->sender != o->receiver)
		add_creation(t, o->receiver, o->sender, x->last_read_ns, o->from_ns, sid);
}

static void add_interval(struct trace *t, const struct kernel_trace *k, const struct kernel_exchange *x,
			 const struct request_owner *o)
{
	VEC_ADD(&t->intervals, (struct interval){
		.sid = o->sid, .name = name_of_port(t, k, x->port), .status = INTERVAL_COMPLETED, .start_tid = o->receiver,
		.end_tid = o->sender, .start_ns = x->start_ns, .end_ns = x->last_send_ns });
	t->look.requests++;
	if (x->port < EXCHANGE_CALLS)
		VEC_ADD(&t->requests, (struct request){ o->sid, x->connection, x->port < EXCHANGE_PATH ? x->port : 0, x->bytes_in,
							x->bytes_out });
	request_add_ways(t, x, o, o->sid, x->first_read_ns);
}

static bool is_whole(const struct kernel_trace *k, const struct kernel_exchange *x)
{
	return x->flags & EXCHANGE_ARRIVAL && x->last_read_ns <= x->last_send_ns && x->start_ns >= k->start_ns;
}

void request_owners_find(struct trace *t, const struct kernel_trace *k, struct kernel_threads *threads, struct request_owner *owners)
{
	uint64_t sid = first_free_sid(t);
	answers all = { NULL, 0, 0 };

	for (size_t i = 0; i < k->exchanges.cnt; i++) {
		const struct kernel_exchange *x = &k->exchanges.items[i];

		owners[i].receiver = kernel_thread_at(threads, x->receiver, x->last_read_ns);
		owners[i].sender = kernel_thread_at(threads, x->sender, x->last_send_ns);
		owners[i].sid = is_whole(k, x) ? sid++ : 0;
		VEC_ADD(&all, (struct answer){ owners[i].sender, x->last_send_ns });
	}
	sort_items(all.items, all.cnt, sizeof(*all.items), thread_key, 2, by_thread);
	for (size_t i = 0; i < k->exchanges.cnt; i++)
		owners[i].from_ns = owners[i].sender == owners[i].receiver ? k->exchanges.items[i].first_read_ns :
				    taken_up_ns(t, &all, &k->exchanges.items[i], &owners[i]);
	VEC_RELEASE(&all);
}

void segment_add_piece(segment_list *list, const struct segment *of, int64_t start_ns, int64_t end_ns, uint64_t sid, enum trace_state state)
{
	struct segment piece = *of;

	piece.start_ns = start_ns;
	piece.end_ns = end_ns;
	piece.sid = sid;
	piece.state = state;
	if (start_ns < end_ns)
		VEC_ADD(list, piece);
}

static int by_connection(const void *a, const void *b)
{
	const struct kernel_exchange *x = *(struct kernel_exchange *const *)a, *y = *(struct kernel_exchange *const *)b;

	if (x->connection != y->connection)
		return x->connection < y->connection ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static int64_t connection_key(const void *item, unsigned int rank)
{
	(void)rank;			/* they begin in the order in which they are */
	return (*(struct kernel_exchange *const *)item)->connection;
}

const struct kernel_exchange **exchanges_by_connection(const struct kernel_trace *k)
{
	size_t cnt = k->exchanges.cnt;
	const struct kernel_exchange **order = xcalloc(cnt + 1, sizeof(const struct kernel_exchange *));

	for (size_t i = 0; i < cnt; i++)
		order[i] = &k->exchanges.items[i];
	sort_items(order, cnt, sizeof(*order), connection_key, 1, by_connection);
	return order;
}

struct size {				/* of requests, by port and bytes */
	uint32_t port, bytes;
};

static int by_size(const void *a, const void *b)
{
	const struct size *x = a, *y = b;

	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static int64_t size_key(const void *item, unsigned int rank)
{
	const struct size *s = item;

	return rank ? s->bytes : s->port;
}

static size_t alike_from(const struct size *sizes, size_t at, size_t cnt)
{
	size_t end = at + 1;

	while (end < cnt && by_size(&sizes[at], &sizes[end]) == 0)
		end++;
	return end - at;
}

/* The bursts among one port's sizes. */
static uint64_t count_bursts(const struct size *sizes, size_t cnt)
{
	uint32_t unit = 0;
	uint64_t bursts = 0, multiples = 0;
	size_t kinds = 0, alike;

	for (size_t i = 0; i < cnt; i += alike) {
		alike = alike_from(sizes, i, cnt);
		if (!unit && alike >= BURST_SEEN && sizes[i].bytes >= BURST_UNIT)
			unit = sizes[i].bytes;
		if (!unit || sizes[i].bytes % unit)
			continue;
		multiples += alike;
		if (sizes[i].bytes == unit)
			continue;
		bursts += alike;
		kinds += alike >= BURST_SEEN;
	}
	return kinds >= BURST_KINDS && (double)multiples >= BURST_SHARE * (double)cnt ? bursts : 0;
}

/*
 * Requests of one size that are sent together arrive as one, of a multiple of it (HTTP/2, pipelining):
 *
 *	23, 23, 69, 230, 230, 207, 46, 92, ...	all but the first two hold several
 */
static uint64_t bursts_by_size(const struct kernel_trace *k)
{
	size_t cnt = k->calls.cnt ? 0 : k->exchanges.cnt, first = 0;
	_cleanup_(freep) struct size *sizes = xcalloc(cnt + 1, sizeof(*sizes));
	uint64_t bursts = 0;

	for (size_t i = 0; i < cnt; i++)
		sizes[i] = (struct size){ k->exchanges.items[i].port, k->exchanges.items[i].bytes_in };
	sort_items(sizes, cnt, sizeof(*sizes), size_key, 2, by_size);
	for (size_t i = 1; i <= cnt; i++)
		if (i == cnt || sizes[i].port != sizes[first].port) {
			bursts += count_bursts(sizes + first, i - first);
			first = i;
		}
	return bursts;
}

/* Sums up what each connection had besides requests and answers in turn. */
static void sum_connections(struct trace *t, const struct kernel_trace *k)
{
	uint64_t bursts = bursts_by_size(k);
	size_t cnt = k->exchanges.cnt;
	_cleanup_(freep) const struct kernel_exchange **order = exchanges_by_connection(k);

	for (size_t i = 0; i < cnt; i++) {
		bool is_last = i + 1 == cnt || order[i + 1]->connection != order[i]->connection;

		t->look.answers++;
		t->look.unseen_arrivals += !is_whole(k, order[i]);
		t->look.connections += is_last && !k->calls.cnt;
		t->look.unsolicited += is_last ? order[i]->unsolicited : 0;
		if (!is_last && !k->calls.cnt && order[i + 1]->start_ns + OVERTAKEN_NS < order[i]->first_send_ns)
			t->look.several++;
	}
	if (bursts > t->look.several)
		t->look.several = bursts;
	/* Connections without a request have no exchange that could say so. */
	if (k->unasked > t->look.unsolicited)
		t->look.unsolicited = k->unasked;
}

void requests_add(struct trace *t, const struct kernel_trace *k, struct kernel_threads *x)
{
	_cleanup_(freep) struct request_owner *owners = xcalloc(k->exchanges.cnt + 1, sizeof(*owners));
	_cleanup_(freep) uint64_t *peers = NULL;
	struct request_frames frames = { NULL, false };
	request_answers answered = { NULL, 0, 0 };

	trace_sort(t);
	t->look.is_one = true;
	t->look.sample_ns = t->invocations.cnt ? 0 : k->sample_ns;	/* probes know better */
	t->look.sample_cost_ns = k->sample_cost_ns;
	t->look.cost_ns = k->exchange_cost_ns;
	t->look.is_of_calls = k->calls.cnt != 0;
	t->look.without_start = k->calls_without_start;
	t->look.duration_ns = k->watched_ns ? k->watched_ns : k->end_ns - k->start_ns;
	peers = upstreams_add(t, k, x);
	trace_sort(t);
	request_owners_find(t, k, x, owners);
	sum_connections(t, k);
	request_frames_add(&frames, t, k, x, owners);
	request_answers_find(k, owners, peers, x, &answered);
	request_turns_add(t, k, owners, &frames, &answered);
	request_answers_add(t, owners, &answered);
	for (size_t i = 0; i < k->exchanges.cnt; i++)
		if (owners[i].sid)
			add_interval(t, k, &k->exchanges.items[i], &owners[i]);
	VEC_RELEASE(&answered);
	request_frames_release(&frames);
	trace_sort(t);
}
