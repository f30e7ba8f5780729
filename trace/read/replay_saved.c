/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay_saved.c - the state of a replay between two windows, saved, so that another replay of the same events can begin there.
 *
 * Only what is alive: open intervals, tasks that no thread has taken yet.  What all events decide together (nesting, unfinished
 * intervals) is the same in every state, and is saved once.
 */
#include <string.h>
#include "base/banned.h"
#include "trace/read/replay_state.h"

static void pass_interval(struct saved *s, struct interval *v, const struct replay *p)
{
	uint32_t status = v->status;

	saved_u64(s, &v->sid);
	saved_below(s, &v->name, p->t->interval_names.cnt);
	saved_below(s, &status, INTERVAL_ABORTED + 1);
	v->status = (enum interval_status)status;
	saved_bool(s, &v->lost);
	saved_bool(s, &v->root_only);
	saved_u32(s, &v->weight);
	saved_u64(s, &v->start_tid);
	saved_u64(s, &v->end_tid);
	saved_time(s, &v->start_ns);
	saved_time(s, &v->end_ns);
	saved_time(s, &v->idle_ns);
}

static void pass_number(struct saved *s, uint64_t *number, const void *unused)
{
	(void)unused;
	saved_u64(s, number);
}

static void pass_worker(struct saved *s, struct worker *w, const struct replay *p)
{
	pass_interval(s, &w->interval, p);
	saved_u64(s, &w->key);
	saved_below(s, &w->thread, p->rd->raw.threads.cnt);
	saved_u32(s, &w->pid);
	saved_time(s, &w->stopped_ns);
	saved_time(s, &w->handed_ns);
	saved_bool(s, &w->in_frame);
	saved_time(s, &w->polled_ns);
	saved_time(s, &w->left_ns);
	saved_bool(s, &w->out_of_sight);
	saved_bool(s, &w->has_ids);
	saved_bool(s, &w->is_spent);
	saved_u64(s, &w->older);
	saved_u32(s, &w->rank);
	SAVED_VEC(s, &w->inside, pass_number, NULL);
	saved_u64(s, &w->depth);
	/* forget_key() follows them. */
	s->from.bad |= s->reads && (w->interval.sid == 0 || w->older >= w->interval.sid);
}

static void write_workers(struct saved *s, struct replay *p)
{
	uint64_t cnt = 0;

	for (size_t i = 0; i < p->workers.cnt; i++)
		cnt += p->workers.items[i].interval.sid != 0;
	saved_u64(s, &cnt);
	for (size_t i = 0; i < p->workers.cnt; i++)
		if (p->workers.items[i].interval.sid)
			pass_worker(s, &p->workers.items[i], p);
}

static void read_workers(struct saved *s, struct replay *p)
{
	for (size_t i = 0; i < p->workers.cnt; i++)
		VEC_RELEASE(&p->workers.items[i].inside);
	p->free_places.cnt = 0;
	SAVED_VEC(s, &p->workers, pass_worker, p);
	if (!s->from.bad)
		replay_renew_tables(p);
}

static void pass_stacks(struct saved *s, struct replay *p)
{
	for (size_t i = 0; i < p->rd->raw.threads.cnt; i++) {
		struct stack *stack = &p->stacks[i];
		uint32_t cnt = (uint32_t)stack->cnt;

		saved_below(s, &cnt, LABELS_MAX + 1);
		stack->cnt = cnt;
		for (size_t k = 0; k < cnt; k++) {
			saved_u64(s, &stack->items[k].id);
			saved_u64(s, &stack->items[k].key);
			saved_u64(s, &stack->items[k].sid);
			saved_bool(s, &stack->items[k].left);
		}
		saved_time(s, &stack->idle_ns);
		saved_time(s, &stack->waited_ns);
		saved_u64(s, &stack->waited_sid);
		saved_time(s, &stack->poll_end_ns);
	}
}

/* ---- maps ---- */

struct entry {
	uint64_t key, value;
};

struct entries {			/* of a map, but for those that are 0 */
	VEC(struct entry) list;
};

static bool add_entry(uint64_t key, uint64_t value, void *arg)
{
	struct entries *e = arg;

	if (value)
		VEC_ADD(&e->list, (struct entry){ key, value });
	return true;
}

static void pass_entry(struct saved *s, struct entry *e, const void *unused)
{
	(void)unused;
	saved_u64(s, &e->key);
	saved_u64(s, &e->value);
}

static void pass_map(struct saved *s, struct map **m)
{
	struct entries e = { { NULL, 0, 0 } };

	if (!s->reads && *m)
		map_each(*m, add_entry, &e);
	SAVED_VEC(s, &e.list, pass_entry, NULL);
	if (s->reads) {
		map_free(*m);
		*m = map_new();
	}
	for (size_t i = 0; s->reads && i < e.list.cnt; i++)
		map_set(*m, e.list.items[i].key, e.list.items[i].value);
	VEC_RELEASE(&e.list);
}

static void pass_enqueued(struct saved *s, struct enqueued *q, const struct replay *p)
{
	saved_time(s, &q->ns);
	saved_below(s, &q->thread, p->rd->raw.threads.cnt);
}

struct checking {
	struct saved *s;
	uint64_t value_max;
};

static bool check_value(uint64_t key, uint64_t value, void *arg)
{
	struct checking *c = arg;

	(void)key;
	c->s->from.bad |= value > c->value_max;
	return true;
}

static void pass_tasks(struct saved *s, struct replay *p)
{
	if (!s->reads)
		replay_renew_tasks(p);
	SAVED_VEC(s, &p->enqueued, pass_enqueued, p);
	pass_map(s, &p->tasks);
	if (s->reads)
		map_each(p->tasks, check_value, &(struct checking){ s, p->enqueued.cnt });
	p->task_cnt = p->enqueued.cnt;
}

/* By label; most are 0. */
static void pass_returns(struct saved *s, struct replay *p)
{
	size_t label_cnt = p->rd->raw.labels.cnt;
	uint32_t at = 0, bits;

	if (s->reads)
		memset(p->returns, 0, label_cnt);
	for (; !s->from.bad; at++) {
		while (!s->reads && at < label_cnt && !p->returns[at])
			at++;
		saved_below(s, &at, label_cnt + 1);
		if (at == label_cnt)
			break;
		bits = p->returns[at];
		saved_below(s, &bits, UINT8_MAX + 1);
		p->returns[at] = (uint8_t)bits;
	}
}

void replay_save(struct replay *p, struct saved *s)
{
	uint64_t next_pause = p->next_pause;

	saved_u64(s, &p->sid_cnt);
	saved_u64(s, &next_pause);
	p->next_pause = (size_t)next_pause;
	saved_bool(s, &p->is_paused);
	if (s->reads)
		read_workers(s, p);
	else
		write_workers(s, p);
	pass_stacks(s, p);
	pass_returns(s, p);
	pass_map(s, &p->parents);
	pass_map(s, &p->loops);
	pass_tasks(s, p);
}

static void pass_known(struct saved *s, struct map **m)
{
	bool is_known = *m;

	saved_bool(s, &is_known);
	if (is_known)
		pass_map(s, m);
}

void replay_save_known(struct replay *p, struct saved *s)
{
	pass_known(s, &p->unfinished);
	pass_known(s, &p->outermost);
}
