/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_stacks.c - from stacks at moments to what a thread was in meanwhile.
 *
 *	left the CPU	until it was back
 *	woke somebody	that nanosecond
 *	sample		what it ran since the sample before, but two periods of it at most: of many short
 *			stretches few have a sample in them, and each sample stands for all of a period
 *
 *	samples every 10; off 20..30 in f; samples: g at 10, h at 37
 *	-> g 0..10, f 20..30, h 10..20 and 30..37
 */
#include "base/banned.h"
#include "trace/kernel/kernel_threads.h"

struct stretch {			/* of running time */
	int64_t start_ns, end_ns;
};

struct spreading {
	struct trace *t;
	const struct kernel_part *part;
	int64_t running_ns;		/* since when, at the moment looked at */
	VEC(struct stretch) waiting;	/* for a sample */
	int64_t most_ns;		/* the longest time that a sample represents */
};

static void add_span(struct spreading *s, int64_t start_ns, int64_t end_ns, uint32_t stack)
{
	if (start_ns < s->part->from_ns)
		start_ns = s->part->from_ns;
	if (end_ns > s->part->to_ns)
		end_ns = s->part->to_ns;
	if (start_ns < end_ns)
		VEC_ADD(&s->t->stack_spans, (struct stack_span){ s->part->tid, start_ns, end_ns, stack });
}

/* The time that it ran up to ns is pending until a sample comes. */
static void ran_until(struct spreading *s, int64_t ns)
{
	if (s->running_ns < ns)
		VEC_ADD(&s->waiting, (struct stretch){ s->running_ns, ns });
	if (s->running_ns < ns)
		s->running_ns = ns;
}

static void give_to_sample(struct spreading *s, uint32_t stack)
{
	int64_t left_ns = s->most_ns;

	while (s->waiting.cnt && left_ns > 0) {
		struct stretch w = s->waiting.items[--s->waiting.cnt];

		if (w.end_ns - w.start_ns > left_ns)
			w.start_ns = w.end_ns - left_ns;
		left_ns -= w.end_ns - w.start_ns;
		add_span(s, w.start_ns, w.end_ns, stack);
	}
	s->waiting.cnt = 0;
}

static void see_stack(struct spreading *s, const struct kernel_stack *k)
{
	if (k->ns <= s->running_ns)
		return;
	if (k->reason == STACK_SAMPLE) {
		ran_until(s, k->ns);
		give_to_sample(s, k->stack);
	} else if (k->reason == STACK_WAKER) {
		ran_until(s, k->ns - 1);
		add_span(s, k->ns - 1, k->ns, k->stack);
		s->running_ns = k->ns;
	}
}

/* One part; its times off the CPU and its stacks, both in order of time. */
static void spread_part(struct spreading *s, const struct kernel_off *off, const struct kernel_off *off_end,
			const struct kernel_stack *k, const struct kernel_stack *end)
{
	s->running_ns = s->part->from_ns;
	s->waiting.cnt = 0;
	for (; off < off_end && off->out_ns < s->part->to_ns; off++) {
		if (off->in_ns <= s->part->from_ns)
			continue;
		for (; k < end && k->ns < off->out_ns; k++)
			see_stack(s, k);
		ran_until(s, off->out_ns);
		for (; k < end && k->ns <= off->out_ns; k++)
			if (k->reason == STACK_OUT)
				add_span(s, off->out_ns, off->in_ns, k->stack);
		s->running_ns = off->in_ns;
	}
	for (; k < end && k->ns <= s->part->to_ns; k++)
		see_stack(s, k);
}

void kernel_stacks_spread(struct trace *t, const struct kernel_trace *k, const struct kernel_part *parts,
			  size_t part_cnt)
{
	struct spreading s = { .t = t, .most_ns = 2 * k->sample_ns };
	size_t off = 0, off_end = 0, at = 0, end = 0;

	for (size_t i = 0; i < k->texts.cnt; i++)
		VEC_ADD(&t->call_stacks, arena_strdup(t->arena, k->texts.items[i]));
	for (size_t i = 0; i < part_cnt; i++) {
		uint32_t tid = parts[i].kernel_tid;

		s.part = &parts[i];
		if (i == 0 || parts[i - 1].kernel_tid != tid) {
			for (off = off_end; off < k->offs.cnt && k->offs.items[off].tid < tid; off++)
				;
			for (off_end = off; off_end < k->offs.cnt && k->offs.items[off_end].tid == tid; )
				off_end++;
			for (at = end; at < k->stacks.cnt && k->stacks.items[at].tid < tid; at++)
				;
			for (end = at; end < k->stacks.cnt && k->stacks.items[end].tid == tid; )
				end++;
		}
		spread_part(&s, VEC_AT(&k->offs, off), VEC_AT(&k->offs, off_end), VEC_AT(&k->stacks, at),
			    VEC_AT(&k->stacks, end));
	}
	VEC_RELEASE(&s.waiting);
}
