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
 *
 * A subscriber asks once, and is sent something for hours.  A piece is late if its thread turned to something else after the piece
 * before: it read another's request, or waited.  An answer may have a few of them.  Many small ones, or some over a time that is far
 * longer than the answer took up to there, are no part of it: the answer ended before the first late one, and they answer nothing.
 *
 *	read at 14, sent 10 bytes at 20, then 30 times 50 bytes, the thread being elsewhere in between	an answer at 20; 30 unsolicited
 */
#ifndef RECORDER_BPF_EXCHANGE_H
#define RECORDER_BPF_EXCHANGE_H

enum { LATE_MANY = 16, LATE_SOME = 4, LATE_BYTES = 4096, LATE_TIMES = 100 };

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
	unsigned int late;		/* pieces of the answer */
	unsigned int early_bytes, early_sender;	/* of what was sent before the first of them */
	unsigned long long early_ns;	/* the end of that */
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

/* What follows the first late piece is no answer. */
static inline int exchange_streams(const struct exchange_state *s)
{
	const struct exchange *x = &s->now;

	if (s->late < LATE_SOME || x->bytes_out - s->early_bytes > (unsigned long long)s->late * LATE_BYTES)
		return 0;
	return s->late >= LATE_MANY || x->last_send_ns - s->early_ns > LATE_TIMES * (s->early_ns - x->start_ns);
}

/* The exchange as it ended; returns the number of sends on the connection that answered nothing up to then. */
static inline unsigned int exchange_whole(const struct exchange_state *s, struct exchange *ret)
{
	*ret = s->now;
	if (!exchange_streams(s))
		return s->unsolicited;
	ret->last_send_ns = s->early_ns;
	ret->bytes_out = s->early_bytes;
	ret->sender = s->early_sender;
	ret->flags &= ~(unsigned int)EXCHANGE_SENDERS;
	return s->unsolicited + s->late;
}

/* Another one begins, or the connection is over: late pieces of the last one are counted. */
static inline void exchange_counted(struct exchange_state *s)
{
	if (s->phase == EXCHANGE_ANSWERED && exchange_streams(s))
		s->unsolicited += s->late;
	s->late = 0;
}

/* The connection is over. */
static inline void exchange_closed(struct exchange_state *s)
{
	exchange_counted(s);
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
		exchange_counted(s);
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

/* Another thread's piece is late as well. */
static inline void exchange_note_late(struct exchange_state *s)
{
	const struct exchange *x = &s->now;

	if (!s->late) {
		s->early_ns = x->last_send_ns;
		s->early_bytes = x->bytes_out;
		s->early_sender = x->sender;
	}
	s->late = exchange_sum(s->late, 1);
}

/* The process gave bytes; turned: since the last time the thread has read another's request, or waited. */
static inline void exchange_sent(struct exchange_state *s, unsigned long long ns, unsigned int tid, unsigned int bytes, int turned)
{
	struct exchange *x = &s->now;

	if (s->phase == EXCHANGE_IDLE) {
		s->unsolicited++;
		return;
	}
	if (s->phase == EXCHANGE_ANSWERED && (turned || x->sender != tid))
		exchange_note_late(s);
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
