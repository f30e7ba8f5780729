/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * merge.c - several traces as one.
 *
 * Sums over intervals do not care how the intervals were split over runs, if each is whole in one part.
 * Example: parts with SIDs 1, 2 and 2, 3: the second's 2 becomes 4; a part with the SIDs 7, 8 keeps them.  So a
 * run whose intervals are cut into parts and merged again is what it was.
 */
#include "trace/merge.h"

#include <string.h>
#include "base/map.h"
#include "base/banned.h"
#include "base/order.h"

struct numbers {			/* TIDs or SIDs */
	struct map *taken;
	uint64_t next;			/* the first that no part has */
	struct map *of_part;		/* old number -> new one, of the part being added */
};

struct merger {
	struct trace *t;
	struct names *interval_names, *call_sites, *task_names, *work_names, *functions, *call_stacks;
	struct numbers tids, sids;
	uint32_t first_order;
	/* Of the part being added: its numbers -> ours. */
	uint32_t *interval_name, *call_site, *task_name, *work_name, *function, *call_stack;
};

typedef VEC(uint64_t) numbers_list;

static void list_tids(const struct trace *p, numbers_list *ret)
{
	for (size_t i = 0; i < p->intervals.cnt; i++) {
		VEC_ADD(ret, p->intervals.items[i].start_tid);
		if (p->intervals.items[i].status != INTERVAL_OPEN)
			VEC_ADD(ret, p->intervals.items[i].end_tid);
	}
	for (size_t i = 0; i < p->segments.cnt; i++)
		VEC_ADD(ret, p->segments.items[i].tid);
	for (size_t i = 0; i < p->invocations.cnt; i++)
		VEC_ADD(ret, p->invocations.items[i].tid);
	for (size_t i = 0; i < p->wakeups.cnt; i++) {
		VEC_ADD(ret, p->wakeups.items[i].tid);
		VEC_ADD(ret, p->wakeups.items[i].waker_tid);
	}
	for (size_t i = 0; i < p->creations.cnt; i++) {
		VEC_ADD(ret, p->creations.items[i].tid);
		VEC_ADD(ret, p->creations.items[i].tid2);
	}
	for (size_t i = 0; i < p->threads.cnt; i++)
		VEC_ADD(ret, p->threads.items[i].tid);
	for (size_t i = 0; i < p->false_wakeups.cnt; i++)
		VEC_ADD(ret, p->false_wakeups.items[i].tid);
	for (size_t i = 0; i < p->stack_spans.cnt; i++)
		VEC_ADD(ret, p->stack_spans.items[i].tid);
}

static void list_sids(const struct trace *p, numbers_list *ret)
{
	for (size_t i = 0; i < p->intervals.cnt; i++)
		VEC_ADD(ret, p->intervals.items[i].sid);
	for (size_t i = 0; i < p->segments.cnt; i++)
		if (p->segments.items[i].sid != SID_NONE)
			VEC_ADD(ret, p->segments.items[i].sid);
	for (size_t i = 0; i < p->invocations.cnt; i++)
		if (p->invocations.items[i].sid != SID_NONE)
			VEC_ADD(ret, p->invocations.items[i].sid);
	for (size_t i = 0; i < p->works.cnt; i++)
		if (p->works.items[i].sid != SID_NONE)
			VEC_ADD(ret, p->works.items[i].sid);
}

static void sort_unique(numbers_list *list)
{
	size_t kept = 0;

	if (list->cnt > 1)
		qsort(list->items, list->cnt, sizeof(*list->items), compare_uint64);
	for (size_t i = 0; i < list->cnt; i++)
		if (kept == 0 || list->items[kept - 1] != list->items[i])
			list->items[kept++] = list->items[i];
	list->cnt = kept;
}

/* After the largest of all parts; the largest number of all means none. */
static uint64_t first_free(struct trace *const *parts, size_t cnt,
			   void (*list_of)(const struct trace *p, numbers_list *ret))
{
	numbers_list list = { NULL, 0, 0 };
	uint64_t largest = 0;

	for (size_t i = 0; i < cnt; i++) {
		list.cnt = 0;
		list_of(parts[i], &list);
		for (size_t k = 0; k < list.cnt; k++)
			if (list.items[k] > largest && list.items[k] < UINT64_MAX)
				largest = list.items[k];
	}
	VEC_RELEASE(&list);
	return largest + 1 < UINT64_MAX / 2 ? largest + 1 : (uint64_t)1 << 32;
}

static void renumber(struct numbers *n, const struct trace *p,
		     void (*list_of)(const struct trace *p, numbers_list *ret))
{
	numbers_list list = { NULL, 0, 0 };

	list_of(p, &list);
	sort_unique(&list);
	map_free(n->of_part);
	n->of_part = map_new();
	for (size_t i = 0; i < list.cnt; i++) {
		uint64_t number = list.items[i], taken;

		while (map_get(n->taken, number, &taken))
			number = n->next++;
		map_set(n->taken, number, 1);
		map_set(n->of_part, list.items[i], number);
	}
	VEC_RELEASE(&list);
}

static uint64_t number_of(const struct numbers *n, uint64_t number)
{
	uint64_t ours = number;

	map_get(n->of_part, number, &ours);
	return ours;
}

/* ---- texts and functions ---- */

static uint32_t add_text(struct merger *m, struct names *names, strings *list, const char *text)
{
	uint32_t id = names_add(names, text);

	if (id == list->cnt)
		VEC_ADD(list, arena_strdup(m->t->arena, text));
	return id;
}

static uint32_t *add_texts(struct merger *m, struct names *names, strings *list, const strings *texts)
{
	uint32_t *ours = xcalloc(texts->cnt + 1, sizeof(*ours));

	for (size_t i = 0; i < texts->cnt; i++)
		ours[i] = add_text(m, names, list, texts->items[i]);
	return ours;
}

static uint32_t add_function(struct merger *m, const struct function *f)
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
	return id;
}

static void add_functions(struct merger *m, const struct trace *p)
{
	m->function = xcalloc(p->functions.cnt + 1, sizeof(*m->function));
	for (size_t i = 0; i < p->functions.cnt; i++)
		m->function[i] = add_function(m, &p->functions.items[i]);
	for (size_t i = 0; i < p->calls.cnt; i++) {
		struct call c = p->calls.items[i];

		c.caller = m->function[c.caller];
		c.callee = m->function[c.callee];
		if (c.call_site != CALL_SITE_NONE)
			c.call_site = m->call_site[c.call_site];
		VEC_ADD(&m->t->calls, c);
	}
}

/* ---- tuples ---- */

static void add_intervals(struct merger *m, const struct trace *p)
{
	for (size_t i = 0; i < p->intervals.cnt; i++) {
		struct interval iv = p->intervals.items[i];

		iv.sid = number_of(&m->sids, iv.sid);
		iv.name = m->interval_name[iv.name];
		iv.start_tid = number_of(&m->tids, iv.start_tid);
		if (iv.status != INTERVAL_OPEN)
			iv.end_tid = number_of(&m->tids, iv.end_tid);
		VEC_ADD(&m->t->intervals, iv);
	}
	for (size_t i = 0; i < p->works.cnt; i++) {
		struct work w = p->works.items[i];

		w.sid = number_of(&m->sids, w.sid);
		w.name = m->work_name[w.name];
		VEC_ADD(&m->t->works, w);
	}
}

static void add_invocations(struct merger *m, const struct trace *p)
{
	uint32_t last = 0;

	for (size_t i = 0; i < p->invocations.cnt; i++) {
		struct invocation v = p->invocations.items[i];

		v.tid = number_of(&m->tids, v.tid);
		v.sid = number_of(&m->sids, v.sid);
		v.function = m->function[v.function];
		if (v.call_site != CALL_SITE_NONE)
			v.call_site = m->call_site[v.call_site];
		last = v.order > last ? v.order : last;
		v.order += m->first_order;
		VEC_ADD(&m->t->invocations, v);
	}
	m->first_order += last + 1;
}

static void add_threads(struct merger *m, const struct trace *p)
{
	for (size_t i = 0; i < p->segments.cnt; i++) {
		struct segment s = p->segments.items[i];

		s.tid = number_of(&m->tids, s.tid);
		s.sid = number_of(&m->sids, s.sid);
		VEC_ADD(&m->t->segments, s);
	}
	for (size_t i = 0; i < p->wakeups.cnt; i++) {
		struct wakeup w = p->wakeups.items[i];

		w.tid = number_of(&m->tids, w.tid);
		w.waker_tid = number_of(&m->tids, w.waker_tid);
		VEC_ADD(&m->t->wakeups, w);
	}
	for (size_t i = 0; i < p->creations.cnt; i++) {
		struct creation c = p->creations.items[i];

		c.tid = number_of(&m->tids, c.tid);
		c.tid2 = number_of(&m->tids, c.tid2);
		if (c.task != NAME_NONE)
			c.task = m->task_name[c.task];
		VEC_ADD(&m->t->creations, c);
	}
	for (size_t i = 0; i < p->threads.cnt; i++) {
		struct thread_name n = p->threads.items[i];

		n.tid = number_of(&m->tids, n.tid);
		n.name = n.name ? arena_strdup(m->t->arena, n.name) : NULL;
		VEC_ADD(&m->t->threads, n);
	}
	for (size_t i = 0; i < p->false_wakeups.cnt; i++) {
		struct false_wakeup w = p->false_wakeups.items[i];

		w.tid = number_of(&m->tids, w.tid);
		VEC_ADD(&m->t->false_wakeups, w);
	}
	for (size_t i = 0; i < p->stack_spans.cnt; i++) {
		struct stack_span s = p->stack_spans.items[i];

		s.tid = number_of(&m->tids, s.tid);
		s.stack = m->call_stack[s.stack];
		VEC_ADD(&m->t->stack_spans, s);
	}
}

static void add_part(struct merger *m, const struct trace *p)
{
	struct trace *t = m->t;

	renumber(&m->tids, p, list_tids);
	renumber(&m->sids, p, list_sids);
	m->interval_name = add_texts(m, m->interval_names, &t->interval_names, &p->interval_names);
	m->call_site = add_texts(m, m->call_sites, &t->call_sites, &p->call_sites);
	m->task_name = add_texts(m, m->task_names, &t->task_names, &p->task_names);
	m->work_name = add_texts(m, m->work_names, &t->work_names, &p->work_names);
	m->call_stack = add_texts(m, m->call_stacks, &t->call_stacks, &p->call_stacks);
	add_functions(m, p);
	add_intervals(m, p);
	add_invocations(m, p);
	add_threads(m, p);
	t->losses.records += p->losses.records;
	t->losses.intervals += p->losses.intervals;
	t->losses.cut_off |= p->losses.cut_off;
	t->windowed |= p->windowed;
	t->losses.before_window += p->losses.before_window;
	t->losses.at_pause += p->losses.at_pause;
	t->losses.cut_bytes += p->losses.cut_bytes;
	t->losses.stray_events += p->losses.stray_events;
	free(m->interval_name);
	free(m->call_site);
	free(m->task_name);
	free(m->work_name);
	free(m->call_stack);
	free(m->function);
}

struct trace *traces_merge(struct trace *const *parts, size_t cnt)
{
	struct merger m = {
		.t = trace_new(),
		.interval_names = names_new(), .call_sites = names_new(), .task_names = names_new(),
		.work_names = names_new(), .call_stacks = names_new(), .functions = names_new(),
		.tids = { .taken = map_new(), .next = first_free(parts, cnt, list_tids) },
		.sids = { .taken = map_new(), .next = first_free(parts, cnt, list_sids) },
	};

	for (size_t i = 0; i < cnt; i++)
		add_part(&m, parts[i]);
	names_free(m.interval_names);
	names_free(m.call_sites);
	names_free(m.task_names);
	names_free(m.work_names);
	names_free(m.call_stacks);
	names_free(m.functions);
	map_free(m.tids.taken);
	map_free(m.tids.of_part);
	map_free(m.sids.taken);
	map_free(m.sids.of_part);
	return m.t;
}
