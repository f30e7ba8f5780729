/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * request_answers.c - what servers answered to the requests that had asked them, and how long these were put aside for it.
 *
 *	a request is read at 10, asks A at 12, is put aside; A's answer arrives at 60, is read at 70, and asks B
 *							-> from 12 to 60 the request waits for A, from 70 on the thread works for it
 *
 * A thread that waits for the answer itself has not put the request aside: that is a wait of the request's own (upstreams.h).
 */
#include "trace/kernel/requests.h"

#include "base/banned.h"
#include "base/search.h"

/* The exchange on the connection that had been read by then, and was not answered before end_ns; NULL: there is none. */
static const struct kernel_exchange *exchange_at(const struct kernel_exchange *const *order, size_t cnt, uint32_t connection, int64_t ns,
						 int64_t end_ns)
{
	size_t after = partition_point(i, cnt, order[i]->connection < connection ||
				       (order[i]->connection == connection && order[i]->first_read_ns <= ns));
	const struct kernel_exchange *last = after ? order[after - 1] : NULL;

	return last && last->connection == connection && end_ns <= last->last_send_ns ? last : NULL;
}

void request_answers_find(const struct kernel_trace *k, const struct request_owner *owners, const uint64_t *peers, struct kernel_threads *x,
			  request_answers *ret)
{
	_cleanup_(freep) const struct kernel_exchange **order = exchanges_by_connection(k);

	for (size_t i = 0; i < k->upstreams.cnt; i++) {
		const struct kernel_upstream *u = &k->upstreams.items[i];
		const struct kernel_exchange *of =
			u->connection && peers[i] ? exchange_at(order, k->exchanges.cnt, u->connection, u->sent_ns, u->ns) : NULL;
		uint32_t number = of ? (uint32_t)(of - k->exchanges.items) : 0;
		const struct request_owner *o = of ? &owners[number] : NULL;

		if (o && o->sid && o->sender == o->receiver && kernel_thread_at(x, u->tid, u->ns) == o->sender)
			VEC_ADD(ret, (struct request_answer){ number, peers[i], u->sent_ns, u->arrival_ns, u->ns });
	}
}

/* Whether the thread did anything in that time, or waited, that was not for the request. */
static bool was_put_aside(const struct trace *t, const struct request_owner *o, int64_t start_ns, int64_t end_ns)
{
	const struct segment *s = t->segments.items;
	size_t i = partition_point(j, t->segments.cnt, s[j].tid < o->sender || (s[j].tid == o->sender && s[j].end_ns <= start_ns));

	for (; i < t->segments.cnt && s[i].tid == o->sender && s[i].start_ns < end_ns; i++)
		if (s[i].sid != o->sid && s[i].sid != SID_SHARED)
			return true;
	return false;
}

void request_answers_add(struct trace *t, const struct request_owner *owners, const request_answers *answers)
{
	for (size_t i = 0; i < answers->cnt; i++) {
		const struct request_answer *a = &answers->items[i];
		const struct request_owner *o = &owners[a->exchange];

		if (a->sent_ns < a->arrival_ns && was_put_aside(t, o, a->sent_ns, a->arrival_ns))
			VEC_ADD(&t->creations, (struct creation){ .tid = o->sender, .tid2 = o->sender, .time_ns = a->sent_ns,
								  .time2_ns = a->arrival_ns, .task = NAME_NONE, .sid = o->sid, .peer = a->peer });
	}
}
