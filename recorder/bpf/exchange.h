/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exchange.h - a request and its answer on one socket, from what the socket layer tells: bytes arrived, the process took some,
 * gave some.  exchanges.bpf.h keeps one such state a socket; tests compare it with its definition.
 *
 *	arrived at 10, read at 14 by T1, sent at 20 by T1, sent at 22	the exchange 10..22
 *	read at 40 by T1						... ends it; the next one begins, at its arrival
 *
 * When an answer is complete only the next request says, or the end of the connection.  What is sent before anything was read
 * answers nothing: it is counted.  A part of a request that arrives, or is read, before the answer belongs to it.
 */
#ifndef RECORDER_BPF_EXCHANGE_H
#define RECORDER_BPF_EXCHANGE_H

enum exchange_phase { EXCHANGE_IDLE, EXCHANGE_ASKED, EXCHANGE_ANSWERED };

struct exchange {
	unsigned long long start_ns;	/* the first byte was in the queue; the first read, where that was not seen */
	unsigned long long first_read_ns, last_read_ns, first_send_ns, last_send_ns;
	unsigned int receiver, sender;	/* threads: of the last read, of the last send */
	unsigned int bytes_in, bytes_out;	/* UINT_MAX: that many or more */
	unsigned int flags;		/* EXCHANGE_... of trace/kernel_format.h */
};

struct exchange_state {
	struct exchange now;		/* but when idle */
	unsigned long long arrival_ns;	/* of what was not read yet; 0: there is nothing */
	unsigned int phase;
	unsigned int unsolicited;	/* sends that answer nothing */
};

static inline unsigned int exchange_sum(unsigned int bytes, unsigned int more)
{
	return bytes + more < bytes ? ~0U : bytes + more;
}

/* Bytes came into the queue. */
static inline void exchange_arrived(struct exchange_state *s, unsigned long long ns)
{
	if (!s->arrival_ns)
		s->arrival_ns = ns;
}

/* The next read, or the end of the connection, ends an exchange: s->now. */
static inline int exchange_is_answered(const struct exchange_state *s)
{
	return s->phase == EXCHANGE_ANSWERED;
}

/* The connection is over. */
static inline void exchange_closed(struct exchange_state *s)
{
	s->phase = EXCHANGE_IDLE;
	s->arrival_ns = 0;
}

/* The process took bytes out of the queue. */
static inline void exchange_read(struct exchange_state *s, unsigned long long ns, unsigned int tid, unsigned int bytes)
{
	struct exchange *x = &s->now;

	if (s->phase == EXCHANGE_ASKED) {
		x->flags |= EXCHANGE_READS;
		x->bytes_in = exchange_sum(x->bytes_in, bytes);
	} else {
		x->start_ns = s->arrival_ns ? s->arrival_ns : ns;
		x->first_read_ns = ns;
		x->first_send_ns = x->last_send_ns = 0;
		x->sender = 0;
		x->flags = s->arrival_ns ? EXCHANGE_ARRIVAL : 0;
		x->bytes_in = bytes;
		x->bytes_out = 0;
	}
	x->last_read_ns = ns;
	x->receiver = tid;
	s->arrival_ns = 0;
	s->phase = EXCHANGE_ASKED;
}

/* The process gave bytes. */
static inline void exchange_sent(struct exchange_state *s, unsigned long long ns, unsigned int tid, unsigned int bytes)
{
	struct exchange *x = &s->now;

	if (s->phase == EXCHANGE_IDLE) {
		s->unsolicited++;
		return;
	}
	if (s->phase == EXCHANGE_ASKED)
		x->first_send_ns = ns;
	else if (x->sender != tid)
		x->flags |= EXCHANGE_SENDERS;
	x->last_send_ns = ns;
	x->sender = tid;
	x->bytes_out = exchange_sum(x->bytes_out, bytes);
	s->phase = EXCHANGE_ANSWERED;
}

#endif
