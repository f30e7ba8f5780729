/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reduced.c - times off the CPU from PERF_RECORD_SWITCH, which needs no privilege.
 *
 * A thread leaves on one CPU and comes back on another, so the records of all rings (perf_rings.c) are sorted by time
 * first; those younger than a millisecond wait for the next time, because another CPU may still write an older one.
 *
 *	CPU 0: 7 out at 100.  CPU 1: 7 in at 180  ->  { RECORD_OFF, tid 7, ns 180, out_ns 100 }
 *
 * There is no waker, no system call and no in_iowait in these records.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/banned.h"
#include "base/map.h"
#include "recorder/bpf/record.h"
#include "recorder/reduced.h"
#include "recorder/stacks/perf_rings.h"

enum { SETTLED_NS = 1000000 };

struct happening {
	uint64_t ns;
	uint32_t order;			/* of appearance */
	uint32_t kind;			/* PERF_RECORD_... */
	uint32_t pid, tid, other;
	bool out, preempted;		/* of a switch */
	char name[16];
};

struct thread {
	uint32_t tid, pid;
	uint64_t out_ns;
	bool off, preempted, is_new;
};

struct reduced {
	struct perf_rings *rings;
	VEC(struct happening) pending;
	VEC(struct thread) threads;
	struct map *thread_of;		/* tid -> index + 1 */
	uint64_t lost;
	uint32_t order;
};

int reduced_open(struct reduced **ret)
{
	const struct perf_event_attr kinds = { .context_switch = 1, .task = 1, .comm = 1, .comm_exec = 1 };
	struct reduced *r = xcalloc(1, sizeof(*r));
	int e = perf_rings_open(&kinds, &r->rings);

	if (e) {
		free(r);
		return e;
	}
	r->thread_of = map_new();
	*ret = r;
	return 0;
}

void reduced_close(struct reduced *r)
{
	if (!r)
		return;
	perf_rings_close(r->rings);
	VEC_RELEASE(&r->pending);
	VEC_RELEASE(&r->threads);
	map_free(r->thread_of);
	free(r);
}

uint64_t reduced_lost(const struct reduced *r)
{
	return r->lost;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Takes one record of a ring; its sizes are the kernel's and can be relied on. */
static void take(void *context, const struct perf_event_header *h, const struct perf_trailer *t)
{
	struct reduced *r = context;
	const uint32_t *words = (const void *)(h + 1);
	struct happening happening = { .ns = t->ns, .kind = h->type, .pid = t->pid, .tid = t->tid,
				       .order = r->order++ };

	switch (h->type) {
	case PERF_RECORD_LOST:
		r->lost += ((const uint64_t *)(const void *)words)[1];
		return;
	case PERF_RECORD_SWITCH:
		happening.out = h->misc & PERF_RECORD_MISC_SWITCH_OUT;
		happening.preempted = h->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:		/* pid, ppid, tid, ptid */
		happening.pid = words[0];
		happening.tid = words[2];
		happening.other = words[3];
		break;
	case PERF_RECORD_COMM:		/* pid, tid, name */
		if (!(h->misc & PERF_RECORD_MISC_COMM_EXEC))
			return;
		happening.pid = words[0];
		happening.tid = words[1];
		memcpy(happening.name, &words[2], strnlen((const char *)&words[2], sizeof(happening.name) - 1));
		break;
	default:
		return;
	}
	VEC_ADD(&r->pending, happening);
}

static struct thread *thread_of(struct reduced *r, uint32_t tid)
{
	uint64_t *index = map_slot(r->thread_of, tid);

	if (!*index) {
		VEC_EXTEND(&r->threads)->tid = tid;
		*index = r->threads.cnt;
	}
	return &r->threads.items[*index - 1];
}

static void write_off(struct writer *w, const struct thread *t, uint64_t ns, unsigned int flags)
{
	struct record_off off = {
		.kind = RECORD_OFF, .tid = t->tid, .pid = t->pid, .ns = ns, .out_ns = t->out_ns,
		.state = t->preempted || t->is_new ? 0 : KERNEL_STATE_INTERRUPTIBLE, .syscall = -1,
		.flags = (unsigned short)(flags | (t->preempted ? OFF_PREEMPTED : 0) |
					  (t->is_new ? OFF_NEW : 0)),
	};

	writer_record(w, &off, sizeof(off));
}

static void write_life(struct writer *w, unsigned int kind, const struct happening *h)
{
	struct record_life life = { .kind = kind, .tid = h->tid, .pid = h->pid, .other = h->other,
				    .ns = h->ns };

	memcpy(life.name, h->name, sizeof(life.name));
	writer_record(w, &life, sizeof(life));
}

static void play(struct reduced *r, struct writer *w, const struct happening *h)
{
	struct thread *t = thread_of(r, h->tid);

	if (h->kind == PERF_RECORD_FORK) {
		*t = (struct thread){ h->tid, h->pid, h->ns, true, false, true };
		write_life(w, RECORD_FORK, h);
	} else if (h->kind == PERF_RECORD_COMM) {
		write_life(w, RECORD_EXEC, h);
	} else if (h->kind == PERF_RECORD_EXIT) {
		t->off = false;
		write_life(w, RECORD_EXIT, h);
	} else if (h->out) {
		*t = (struct thread){ h->tid, h->pid, h->ns, true, h->preempted, false };
	} else if (t->off) {
		write_off(w, t, h->ns, 0);
		t->off = false;
	}
}

static int compare(const void *a, const void *b)
{
	const struct happening *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void reduced_drain(struct reduced *r, struct writer *w, bool last)
{
	uint64_t until_ns = last ? UINT64_MAX : now_ns() - SETTLED_NS, end_ns;
	uint32_t self = (uint32_t)getpid();
	size_t cnt = 0;

	perf_rings_read(r->rings, take, r);
	if (r->pending.cnt)
		qsort(r->pending.items, r->pending.cnt, sizeof(*r->pending.items), compare);
	for (; cnt < r->pending.cnt && r->pending.items[cnt].ns <= until_ns; cnt++)
		if (r->pending.items[cnt].pid != self)
			play(r, w, &r->pending.items[cnt]);
	memmove(r->pending.items, r->pending.items + cnt,
		(r->pending.cnt - cnt) * sizeof(*r->pending.items));
	r->pending.cnt -= cnt;
	end_ns = now_ns();
	for (size_t i = 0; last && i < r->threads.cnt; i++)
		if (r->threads.items[i].off)
			write_off(w, &r->threads.items[i], end_ns, OFF_OPEN);
}
