/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * merge.c - several traces as one.
 *
 * Sums over intervals do not depend on how the intervals were split over runs, as long as each is whole in
 * one part. Example: parts with SIDs 1, 2 and 2, 3: the second's 2 becomes 4; a part with the SIDs 7, 8 keeps
 * them.  So a run whose intervals are cut into parts and merged again is what it was.
 */
#include "trace/full_tables.h"
#include "trace/merge/merge.h"
#include "trace/raw/cpu_use.h"

#include <string.h>
#include "base/map.h"
#include "base/banned.h"
#include "base/saturate.h"
#include "trace/merge/merge_numbers.h"

typedef VEC(uint32_t) text_numbers;	/* of a part's texts: ours */

struct merge_part {
	uint32_t *function;		/* its numbers -> ours */
	text_numbers interval_name, call_site, task_name, work_name, call_stack;
	VEC(struct thread_name) threads;	/* under its own numbers */
	uint32_t order_cnt;		/* of its invocations */
	uint32_t first_order;
	uint64_t interval_cnt;		/* completed, by weight */
	__int128 longest_ns;
};

struct trace_merger {
	struct trace *t;
	struct names *interval_names, *call_sites, *task_names, *work_names, *functions, *call_stacks;
	struct merge_numbers *tids, *sids;
	struct merge_part *parts;
	size_t part_cnt;
};

/* ---- what there is ---- */

static void see_tids(struct merge_numbers *n, size_t part, const struct trace *p)
{
	for (size_t i = 0; i < p->intervals.cnt; i++) {
		merge_numbers_see(n, part, p->intervals.items[i].start_tid);
		if (p->intervals.items[i].status != INTERVAL_OPEN)
			merge_numbers_see(n, part, p->intervals.items[i].end_tid);
	}
	for (size_t i = 0; i < p->segments.cnt; i++)
		merge_numbers_see(n, part, p->segments.items[i].tid);
	for (size_t i = 0; i < p->invocations.cnt; i++)
		merge_numbers_see(n, part, p->invocations.items[i].tid);
	for (size_t i = 0; i < p->wakeups.cnt; i++) {
		merge_numbers_see(n, part, p->wakeups.items[i].tid);
		if (p->wakeups.items[i].waker_tid != TID_NOBODY)
			merge_numbers_see(n, part, p->wakeups.items[i].waker_tid);
	}
	for (size_t i = 0; i < p->creations.cnt; i++) {
		merge_numbers_see(n, part, p->creations.items[i].tid);
		merge_numbers_see(n, part, p->creations.items[i].tid2);
	}
	for (size_t i = 0; i < p->false_wakeups.cnt; i++)
		merge_numbers_see(n, part, p->false_wakeups.items[i].tid);
	for (size_t i = 0; i < p->stack_spans.cnt; i++)
		merge_numbers_see(n, part, p->stack_spans.items[i].tid);
	for (size_t i = 0; i < p->remote_calls.cnt; i++)
		merge_numbers_see(n, part, p->remote_calls.items[i].tid);
}

static void see_sid(struct merge_numbers *n, size_t part, uint64_t sid)
{
	if (sid != SID_NONE)
		merge_numbers_see(n, part, sid);
}

static void see_sids(struct merge_numbers *n, size_t part, const struct trace *p)
{
	for (size_t i = 0; i < p->intervals.cnt; i++)
		merge_numbers_see(n, part, p->intervals.items[i].sid);
	for (size_t i = 0; i < p->segments.cnt; i++)
		see_sid(n, part, p->segments.items[i].sid);
	for (size_t i = 0; i < p->invocations.cnt; i++)
		see_sid(n, part, p->invocations.items[i].sid);
	for (size_t i = 0; i < p->works.cnt; i++)
		see_sid(n, part, p->works.items[i].sid);
	for (size_t i = 0; i < p->ids.cnt; i++)
		see_sid(n, part, p->ids.items[i].sid);
}

void trace_merger_look(struct trace_merger *m, size_t part, const struct trace *t)
{
	struct merge_part *p = &m->parts[part];

	see_tids(m->tids, part, t);
	see_sids(m->sids, part, t);
	for (size_t i = 0; i < t->invocations.cnt; i++)
		if (t->invocations.items[i].order >= p->order_cnt)
			p->order_cnt = t->invocations.items[i].order + 1;
	for (size_t i = 0; i < t->intervals.cnt; i++) {
		const struct interval *iv = &t->intervals.items[i];
		__int128 latency_ns = (__int128)iv->end_ns - iv->start_ns;

		if (iv->status == INTERVAL_OPEN)
			continue;
		p->interval_cnt += interval_weight(iv);
		if (latency_ns > p->longest_ns)
			p->longest_ns = latency_ns;
	}
}

void trace_merger_forget(struct trace_merger *m, size_t part)
{
	merge_numbers_forget(m->tids, part);
	merge_numbers_forget(m->sids, part);
	m->parts[part].order_cnt = 0;
	m->parts[part].interval_cnt = 0;
	m->parts[part].longest_ns = 0;
}

void trace_merger_archive(struct trace_merger *m, size_t part, struct archive *a)
{
	merge_numbers_archive(m->tids, part, a);
	merge_numbers_archive(m->sids, part, a);
	archive_u64(a, &m->parts[part].interval_cnt);
	archive_i128(a, &m->parts[part].longest_ns);
}

struct merged_numbers trace_merger_numbers(const struct trace_merger *m, size_t part)
{
	const struct merge_part *p = &m->parts[part];

	return (struct merged_numbers){ p->function, p->interval_name.items, p->call_site.items, p->work_name.items };
}

uint64_t merger_part_tid(const void *arg, uint64_t tid)
{
	const struct merger_part *p = arg;

	return merge_numbers_of(p->merger->tids, p->part, tid);
}

uint64_t merger_part_sid(const void *arg, uint64_t sid)
{
	const struct merger_part *p = arg;

	return merge_numbers_of(p->merger->sids, p->part, sid);
}

bool trace_merger_sums_fit(const struct trace_merger *m)
{
	uint64_t cnt = 0;
	__int128 longest_ns = 0;

	for (size_t i = 0; i < m->part_cnt; i++) {
		cnt += m->parts[i].interval_cnt;
		if (m->parts[i].longest_ns > longest_ns)
			longest_ns = m->parts[i].longest_ns;
	}
	return squares_fit(cnt, longest_ns);
}

/* ---- texts and functions ---- */

static uint32_t add_text(struct trace_merger *m, struct names *names, strings *list, const char *text)
{
	uint32_t id = names_add(names, text);

	if (id == list->cnt)
		VEC_ADD(list, arena_strdup(m->t->arena, text));
	return id;
}

/* Adds the texts that are new in this window. */
static void add_texts(struct trace_merger *m, text_numbers *ours, struct names *names, strings *list,
		      const strings *texts)
{
	for (size_t i = ours->cnt; i < texts->cnt; i++)
		VEC_ADD(ours, add_text(m, names, list, texts->items[i]));
}

static void add_all_texts(struct trace_merger *m, struct merge_part *of, const struct trace *p)
{
	struct trace *t = m->t;

	add_texts(m, &of->interval_name, m->interval_names, &t->interval_names, &p->interval_names);
	add_texts(m, &of->call_site, m->call_sites, &t->call_sites, &p->call_sites);
	add_texts(m, &of->task_name, m->task_names, &t->task_names, &p->task_names);
	add_texts(m, &of->work_name, m->work_names, &t->work_names, &p->work_names);
	add_texts(m, &of->call_stack, m->call_stacks, &t->call_stacks, &p->call_stacks);
}

static uint32_t add_function(struct trace_merger *m, const struct function *f)
{
	_cleanup_(freep) char *identity = xasprintf("%s\n%s\n%u", f->name, f->file ? f->file : "", f->line);
	uint32_t id = names_add(m->functions, identity);
	struct function *ours;

	if (id == m->t->functions.cnt) {
		ours = VEC_EXTEND(&m->t->functions);
		ours->name = arena_strdup(m->t->arena, f->name);
		ours->file = f->file ? arena_strdup(m->t->arena, f->file) : NULL;
		ours->line = f->line;
	}
	ours = &m->t->functions.items[id];
	if (ours->key == 0)
		ours->key = f->key;
	ours->probed |= f->probed;
	ours->left_out |= f->left_out;
	ours->registered |= f->registered;
	ours->beyond_graph |= f->beyond_graph;
	return id;
}

static void add_functions(struct trace_merger *m, struct merge_part *of, const struct trace *p)
{
	of->function = xcalloc(p->functions.cnt + 1, sizeof(*of->function));
	for (size_t i = 0; i < p->functions.cnt; i++)
		of->function[i] = add_function(m, &p->functions.items[i]);
	for (size_t i = 0; i < p->calls.cnt; i++) {
		struct call c = p->calls.items[i];

		c.caller = of->function[c.caller];
		c.callee = of->function[c.callee];
		if (c.call_site != CALL_SITE_NONE)
			c.call_site = of->call_site.items[c.call_site];
		VEC_ADD(&m->t->calls, c);
	}
}

static void add_holes(struct losses *to, const struct losses *l)
{
	if (l->holes.cnt && (!to->holes.cnt || l->holes.since_ns < to->holes.since_ns))
		to->holes.since_ns = l->holes.since_ns;
	if (l->holes.cnt && (!to->holes.cnt || l->holes.until_ns > to->holes.until_ns))
		to->holes.until_ns = l->holes.until_ns;
	to->holes.cnt += l->holes.cnt;
	to->holes.ns = sum_saturated(to->holes.ns, l->holes.ns);
	to->holes.blocks += l->holes.blocks;
	to->holes.records += l->holes.records;
	to->holes.tables += l->holes.tables;
	to->holes.files += l->holes.files;
	to->holes.bytes += l->holes.bytes;
	to->holes.twice += l->holes.twice;
}

static void add_losses(struct trace *t, const struct trace *p)
{
	t->losses.records += p->losses.records;
	add_holes(&t->losses, &p->losses);
	t->losses.intervals += p->losses.intervals;
	t->losses.stacks += p->losses.stacks;
	t->losses.cut_off |= p->losses.cut_off;
	t->windowed |= p->windowed;
	t->losses.before_window += p->losses.before_window;
	t->losses.at_pause += p->losses.at_pause;
	t->losses.cut_bytes += p->losses.cut_bytes;
	t->losses.stray_events += p->losses.stray_events;
	t->losses.kernel_damaged |= p->losses.kernel_damaged;
	if (!t->losses.callers_line)
		t->losses.callers_line = p->losses.callers_line;
	full_tables_add(&t->losses.full, &p->losses.full);
	t->kernel_reduced |= p->kernel_reduced;
	t->from_arrival |= p->from_arrival;
	t->off_cpu.placed_ns = unsigned_sum_saturated(t->off_cpu.placed_ns, p->off_cpu.placed_ns);
	t->off_cpu.runnable_ns = unsigned_sum_saturated(t->off_cpu.runnable_ns, p->off_cpu.runnable_ns);
	t->off_cpu.unplaced_ns = unsigned_sum_saturated(t->off_cpu.unplaced_ns, p->off_cpu.unplaced_ns);
	t->off_cpu.run_ns = unsigned_sum_saturated(t->off_cpu.run_ns, p->off_cpu.run_ns);
	t->off_cpu.delay_ns = unsigned_sum_saturated(t->off_cpu.delay_ns, p->off_cpu.delay_ns);
	cpu_use_add(&t->cpu_use, &p->cpu_use, t->arena);
}

/* The examples are taken from one part, since both must be about one thread, or neither. */
static void add_pairings(struct trace *t, const struct merge_part *of, const struct trace *p)
{
	for (size_t i = 0; i < p->pairings.cnt && i < of->interval_name.cnt; i++) {
		const struct pairing *from = &p->pairings.items[i];
		struct pairing *to;

		while (t->pairings.cnt <= of->interval_name.items[i])
			VEC_ADD(&t->pairings, (struct pairing){ .starts = 0 });
		to = &t->pairings.items[of->interval_name.items[i]];
		to->starts += from->starts;
		to->nested += from->nested;
		to->unended += from->unended;
		to->unmatched_ends += from->unmatched_ends;
		to->aborted += from->aborted;
		if (to->start.known + to->end.known < from->start.known + from->end.known) {
			to->start = from->start;
			to->end = from->end;
		}
		to->inner = to->inner.known ? to->inner : from->inner;
		to->given_up = to->given_up.known ? to->given_up : from->given_up;
	}
}

void trace_merger_see_threads(struct trace_merger *m, size_t part, const struct trace *names)
{
	for (size_t i = 0; i < names->threads.cnt; i++)
		merge_numbers_see(m->tids, part, names->threads.items[i].tid);
}

void trace_merger_names(struct trace_merger *m, size_t part, const struct trace *names)
{
	struct merge_part *p = &m->parts[part];

	add_all_texts(m, p, names);
	add_functions(m, p, names);
	add_pairings(m->t, p, names);
	trace_merger_see_threads(m, part, names);
	for (size_t i = 0; i < names->threads.cnt; i++) {
		struct thread_name n = names->threads.items[i];

		n.name = n.name ? arena_strdup(m->t->arena, n.name) : NULL;
		n.function = n.kind == KIND_PEER ? p->function[n.function] : 0;
		VEC_ADD(&p->threads, n);
	}
	add_losses(m->t, names);
}

void trace_merger_settle(struct trace_merger *m)
{
	uint32_t order = 0;

	merge_numbers_settle(m->tids);
	merge_numbers_settle(m->sids);
	for (size_t part = 0; part < m->part_cnt; part++) {
		struct merge_part *p = &m->parts[part];

		p->first_order = order;
		order += p->order_cnt;
		for (size_t i = 0; i < p->threads.cnt; i++) {
			struct thread_name n = p->threads.items[i];

			n.tid = merge_numbers_of(m->tids, part, n.tid);
			VEC_ADD(&m->t->threads, n);
		}
	}
}

/* ---- tuples ---- */

struct adding {
	const struct trace_merger *m;
	const struct merge_part *of;
	size_t part;
	struct trace *to;
};

static uint64_t tid_of(const struct adding *a, uint64_t tid)
{
	return merge_numbers_of(a->m->tids, a->part, tid);
}

static uint64_t sid_of(const struct adding *a, uint64_t sid)
{
	return sid == SID_NONE ? SID_NONE : merge_numbers_of(a->m->sids, a->part, sid);
}

static void add_intervals(const struct adding *a, const struct trace *p)
{
	for (size_t i = 0; i < p->intervals.cnt; i++) {
		struct interval iv = p->intervals.items[i];

		iv.sid = sid_of(a, iv.sid);
		iv.origin = (uint32_t)a->part;
		iv.name = a->of->interval_name.items[iv.name];
		iv.start_tid = tid_of(a, iv.start_tid);
		if (iv.status != INTERVAL_OPEN)
			iv.end_tid = tid_of(a, iv.end_tid);
		VEC_ADD(&a->to->intervals, iv);
	}
	for (size_t i = 0; i < p->works.cnt; i++) {
		struct work w = p->works.items[i];

		w.sid = sid_of(a, w.sid);
		w.name = a->of->work_name.items[w.name];
		VEC_ADD(&a->to->works, w);
	}
	for (size_t i = 0; i < p->ids.cnt; i++) {
		struct interval_ids ids = p->ids.items[i];

		ids.sid = sid_of(a, ids.sid);
		VEC_ADD(&a->to->ids, ids);
	}
}

static void add_invocations(const struct adding *a, const struct trace *p)
{
	for (size_t i = 0; i < p->invocations.cnt; i++) {
		struct invocation v = p->invocations.items[i];

		v.tid = tid_of(a, v.tid);
		v.sid = sid_of(a, v.sid);
		v.function = a->of->function[v.function];
		if (v.call_site != CALL_SITE_NONE)
			v.call_site = a->of->call_site.items[v.call_site];
		v.order += a->of->first_order;
		VEC_ADD(&a->to->invocations, v);
	}
}

static void add_creations(const struct adding *a, const struct trace *p)
{
	for (size_t i = 0; i < p->creations.cnt; i++) {
		struct creation c = p->creations.items[i];

		c.tid = tid_of(a, c.tid);
		c.tid2 = tid_of(a, c.tid2);
		c.sid = c.sid ? sid_of(a, c.sid) : 0;
		c.peer = c.peer ? tid_of(a, c.peer) : 0;
		if (c.task != NAME_NONE)
			c.task = a->of->task_name.items[c.task];
		VEC_ADD(&a->to->creations, c);
	}
}

static void add_lines(const struct adding *a, const struct trace *p)
{
	for (size_t i = 0; i < p->segments.cnt; i++) {
		struct segment s = p->segments.items[i];

		s.tid = tid_of(a, s.tid);
		s.sid = sid_of(a, s.sid);
		s.caller = 0;		/* of its own trace */
		VEC_ADD(&a->to->segments, s);
	}
	for (size_t i = 0; i < p->wakeups.cnt; i++) {
		struct wakeup w = p->wakeups.items[i];

		w.tid = tid_of(a, w.tid);
		w.waker_tid = w.waker_tid == TID_NOBODY ? TID_NOBODY : tid_of(a, w.waker_tid);
		VEC_ADD(&a->to->wakeups, w);
	}
	for (size_t i = 0; i < p->false_wakeups.cnt; i++) {
		struct false_wakeup w = p->false_wakeups.items[i];

		w.tid = tid_of(a, w.tid);
		VEC_ADD(&a->to->false_wakeups, w);
	}
	for (size_t i = 0; i < p->remote_calls.cnt; i++) {
		struct remote_call c = p->remote_calls.items[i];

		c.tid = tid_of(a, c.tid);
		VEC_ADD(&a->to->remote_calls, c);
	}
	for (size_t i = 0; i < p->stack_spans.cnt; i++) {
		struct stack_span s = p->stack_spans.items[i];

		s.tid = tid_of(a, s.tid);
		s.stack = a->of->call_stack.items[s.stack];
		VEC_ADD(&a->to->stack_spans, s);
	}
}

void trace_merger_add(struct trace_merger *m, size_t part, const struct trace *p, struct trace *to)
{
	struct adding a = { .m = m, .of = &m->parts[part], .part = part, .to = to };

	add_all_texts(m, &m->parts[part], p);
	add_intervals(&a, p);
	add_invocations(&a, p);
	add_lines(&a, p);
	add_creations(&a, p);
}

/* ---- the whole ---- */

struct trace_merger *trace_merger_new(size_t part_cnt)
{
	struct trace_merger *m = xcalloc(1, sizeof(*m));

	*m = (struct trace_merger){
		.t = trace_new(), .part_cnt = part_cnt, .parts = xcalloc(part_cnt + 1, sizeof(*m->parts)),
		.interval_names = names_new(), .call_sites = names_new(), .task_names = names_new(),
		.work_names = names_new(), .call_stacks = names_new(), .functions = names_new(),
		.tids = merge_numbers_new(part_cnt), .sids = merge_numbers_new(part_cnt),
	};
	return m;
}

void trace_merger_free(struct trace_merger *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->part_cnt; i++) {
		struct merge_part *p = &m->parts[i];

		free(p->function);
		VEC_RELEASE(&p->threads);
		VEC_RELEASE(&p->interval_name);
		VEC_RELEASE(&p->call_site);
		VEC_RELEASE(&p->task_name);
		VEC_RELEASE(&p->work_name);
		VEC_RELEASE(&p->call_stack);
	}
	free(m->parts);
	names_free(m->interval_names);
	names_free(m->call_sites);
	names_free(m->task_names);
	names_free(m->work_names);
	names_free(m->call_stacks);
	names_free(m->functions);
	merge_numbers_free(m->tids);
	merge_numbers_free(m->sids);
	trace_free(m->t);
	free(m);
}

struct trace *trace_merger_trace(struct trace_merger *m)
{
	return m->t;
}

struct trace *traces_merge_some(struct trace *const *parts, const bool *left_out, size_t cnt)
{
	_cleanup_(trace_merger_freep) struct trace_merger *m = trace_merger_new(cnt);

	for (size_t i = 0; i < cnt; i++) {
		trace_merger_look(m, i, parts[i]);
		if (left_out && left_out[i])
			trace_merger_see_threads(m, i, parts[i]);
		else
			trace_merger_names(m, i, parts[i]);
	}
	trace_merger_settle(m);
	for (size_t i = 0; i < cnt; i++)
		if (!left_out || !left_out[i])
			trace_merger_add(m, i, parts[i], m->t);
	return TAKE_PTR(m->t);
}

struct trace *traces_merge(struct trace *const *parts, size_t cnt)
{
	return traces_merge_some(parts, NULL, cnt);
}
