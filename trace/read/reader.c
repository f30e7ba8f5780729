/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reader.c - a recorded trace -> the paper's tuples, in stages:
 *
 *	raw.c		bytes -> threads, events, invocations
 *	raw_time.c	ticks -> nanoseconds
 *	replay.c	who worked on which interval when; creations
 *	segments.c	running and waiting; wakeups
 *	sync_ops.c	locks taken and let go, if all were noted
 *	invocations.c	functions and their calls
 */
#include <errno.h>
#include <string.h>
#include "base/banned.h"
#include "trace/peers.h"
#include "trace/raw/cpu_use.h"
#include "trace/read/off_cpu.h"
#include "trace/read/replay.h"

static void read_lives(struct reading *rd, bool *stopped, bool *ret_times_out);

void sid_history_release(struct sid_history *line)
{
	VEC_RELEASE(&line->changes);
	VEC_RELEASE(&line->waits);
	VEC_RELEASE(&line->unknown);
}

void offs_release(struct reading *rd)
{
	for (size_t i = 0; rd->offs && i < rd->raw.threads.cnt; i++) {
		free((void *)rd->offs[i].items);
		free((void *)rd->offs[i].wakes);
	}
	free(rd->offs);
	rd->offs = NULL;
}

/* Finds time off the CPU that is in no wait. */
static int find_offs(struct reading *rd, const char *path, struct diag *reterr)
{
	size_t cnt = rd->raw.threads.cnt;
	_cleanup_(freep) struct waited *waited = xcalloc(cnt + 1, sizeof(*waited));
	_cleanup_(freep) uint64_t *waited_ns = xcalloc(cnt + 1, sizeof(*waited_ns));

	if (!off_cpu_is_wanted(rd->options))
		cpu_use_sum_accounts(&rd->raw, &rd->t->off_cpu);
	if (!rd->raw.accounts.cnt || !off_cpu_is_wanted(rd->options))
		return 0;
	for (size_t i = 0; i < rd->raw.events.cnt; i++) {
		const struct raw_event *e = &rd->raw.events.items[i];

		rd->raw.has_moves |= is_move(e->kind, e->words, &rd->raw.threads.items[e->thread]);
		if (is_own_wait(e->kind, e->words) && e->ns >= 0 && (int64_t)e->words[0] > e->ns)
			waited_add(&waited[e->thread], (uint64_t)e->ns, e->words[0]);
	}
	for (size_t i = 0; i < cnt; i++) {
		waited_ns[i] = waited[i].sum;
		waited_release(&waited[i]);
	}
	return off_cpu_find(rd, path, waited_ns, reterr);
}

/* Whether some thread began an interval that it had on its stack already. */
static bool seems_nested(const struct raw *r)
{
	for (size_t i = 0; i < r->events.cnt; i++)
		if (r->events.items[i].kind == EVENT_BEGIN && r->events.items[i].words[2] & BEGIN_AGAIN)
			return true;
	return false;
}

/* known NULL: returns what this replay learns of nesting. */
static struct map *play_all(struct reading *rd, struct map *known)
{
	struct replay *p = replay_new(rd);
	struct map *learnt;

	if (known)
		replay_know_nesting(p, known);
	else
		replay_learn_nesting(p);
	replay_losses(p, rd->raw.events.items, rd->raw.events.cnt);
	replay_events(p, rd->raw.events.items, rd->raw.events.cnt);
	replay_end(p);
	learnt = known ? NULL : replay_nesting(p);
	replay_free(p);
	return learnt;
}

static void play_events(struct reading *rd)
{
	struct map *known = seems_nested(&rd->raw) ? play_all(rd, NULL) : map_new();

	replay_reset(rd);
	play_all(rd, known);
}

static void add_block(struct trace *t, const struct raw_event *e)
{
	uint32_t number = (uint32_t)(e->words[0] >> 8);
	struct faster_block *b = t->blocks.cnt ? &t->blocks.items[t->blocks.cnt - 1] : NULL;

	switch (e->words[0] & 0xff) {
	case BLOCK_SET:
		VEC_ADD(&t->blocks, (struct faster_block){ number, (uint32_t)(e->words[1] >> 16) & 0xffff, (uint32_t)e->words[1] & 0xffff,
							  INT64_MAX, INT64_MAX, INT64_MAX, (uint32_t)(e->words[1] >> 32) });
		break;
	case BLOCK_OPEN:
		if (b && b->number == number)
			b->begin_ns = e->ns;
		break;
	case BLOCK_SHUT:
		if (b && b->number == number)
			b->end_ns = e->ns;
		break;
	case BLOCK_OVER:
		if (b && b->number == number)
			b->over_ns = e->ns;
		break;
	}
}

static void add_experiments(struct reading *rd)
{
	for (size_t i = 0; i < rd->raw.events.cnt; i++) {
		const struct raw_event *e = &rd->raw.events.items[i];

		if (e->kind == EVENT_BLOCK)
			add_block(rd->t, e);
		else if (e->kind == EVENT_SHIFT)
			VEC_ADD(&rd->t->shifts, (struct trace_shift){ rd->raw.threads.items[e->thread].tid, e->ns, (int64_t)e->words[0] });
	}
}

int trace_read(const char *path, const struct reader_options *o, struct trace **ret,
	       struct diag *reterr)
{
	_cleanup_(trace_freep) struct trace *t = trace_new();
	struct reading rd = { .options = o, .t = t, .before_ns = INT64_MIN, .until_ns = INT64_MAX, .keeps_ids = true };
	_cleanup_(freep) bool *stopped = NULL;
	bool times_out = false;
	int r;

	rd.raw.arena = t->arena;
	r = raw_read(&rd.raw, path, reterr);
	if (!r)
		r = raw_to_ns(&rd.raw, path, reterr);
	if (!r)
		r = find_offs(&rd, path, reterr);
	if (!r) {
		rd.histories = xcalloc(rd.raw.threads.cnt + 1, sizeof(*rd.histories));
		number_threads(&rd.raw);
		reading_add_gaps(&rd);
		stopped = xcalloc(rd.raw.threads.cnt + 1, sizeof(*stopped));
		read_lives(&rd, stopped, &times_out);
		add_experiments(&rd);
		play_events(&rd);
		build_segments(&rd, false);
		build_invocations(&rd);
		build_sync_ops(&rd);
		add_threads(&rd, stopped, times_out);
		trace_name_peers(t);
		trace_sort(t);
		t->cpu_use = rd.raw.cpu_use;
		t->cpu_use.kernel_knows = o && o->kernel_knows;
		memset(&rd.raw.cpu_use, 0, sizeof(rd.raw.cpu_use));
		*ret = TAKE_PTR(t);
		for (size_t i = 0; i < rd.raw.threads.cnt; i++)
			sid_history_release(&rd.histories[i]);
		free(rd.histories);
	}
	offs_release(&rd);
	raw_release(&rd.raw);
	return r;
}

static int compare_serials(const void *a, const void *b)
{
	const struct raw_thread *x = *(struct raw_thread *const *)a;
	const struct raw_thread *y = *(struct raw_thread *const *)b;

	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

/* The kernel reuses numbers: the second thread 77 becomes 77 + 2^32. */
void number_threads(struct raw *r)
{
	_cleanup_(freep) struct raw_thread **by_serial =
		xmalloc((r->threads.cnt + 1) * sizeof(*by_serial));
	_cleanup_(map_freep) struct map *used = map_new();

	for (size_t i = 0; i < r->threads.cnt; i++)
		by_serial[i] = &r->threads.items[i];
	qsort(by_serial, r->threads.cnt, sizeof(*by_serial), compare_serials);
	for (size_t i = 0; i < r->threads.cnt; i++) {
		uint64_t *cnt = map_slot(used, by_serial[i]->kernel_tid);

		by_serial[i]->tid = by_serial[i]->kernel_tid + (*cnt << 32);
		++*cnt;
	}
}

/* Reads names and ends of threads. */
static void read_lives(struct reading *rd, bool *stopped, bool *ret_times_out)
{
	struct raw *r = &rd->raw;

	for (size_t i = 0; i < r->events.cnt; i++) {
		const struct raw_event *e = &r->events.items[i];

		/* A name set later, by pthread_setname_np, is the better one. */
		if (thread_name_of_event(e->kind, e->words))
			r->threads.items[e->thread].name = arena_strndup(r->arena, thread_name_of_event(e->kind, e->words), 16);
		stopped[e->thread] |= e->kind == EVENT_STOP;
		*ret_times_out |= wait_times_out(e->kind, (uint64_t)e->ns, e->words);
	}
}

/* Whom threads waited for outside the run: labels that say so (runtime/waits/outside.h). */
static void add_peers(struct reading *rd)
{
	size_t prefix = strlen(TRACE_OUTSIDE_LABEL);

	for (uint32_t id = 0; id < rd->raw.labels.cnt; id++) {
		const char *text = rd->raw.labels.items[id];

		if (text && strncmp(text, TRACE_OUTSIDE_LABEL, prefix) == 0)
			VEC_ADD(&rd->t->threads, (struct thread_name){ .tid = TID_PEER(id), .name = text + prefix, .kind = KIND_PEER });
	}
}

void add_threads(struct reading *rd, const bool *stopped, bool times_out)
{
	add_peers(rd);
	if (times_out)
		VEC_ADD(&rd->t->threads, (struct thread_name){ TID_TIMER, 0, "timer", KIND_TIMER, false, 0 });
	for (size_t i = 0; i < rd->raw.threads.cnt; i++) {
		const struct raw_thread *t = &rd->raw.threads.items[i];

		VEC_ADD(&rd->t->threads, (struct thread_name){ t->tid, t->pid, t->name,
			KIND_THREAD, !stopped[i], 0 });
	}
}
