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

static void pass_interval(struct archive *s, struct interval *v, const struct replay *p)
{
	uint32_t status = v->status;

	archive_u64(s, &v->sid);
	archive_below(s, &v->name, p->t->interval_names.cnt);
	archive_below(s, &status, INTERVAL_ABORTED + 1);
	v->status = (enum interval_status)status;
	archive_bool(s, &v->lost);
	archive_bool(s, &v->root_only);
	archive_u32(s, &v->weight);
	archive_u64(s, &v->start_tid);
	archive_u64(s, &v->end_tid);
	archive_time(s, &v->start_ns);
	archive_time(s, &v->end_ns);
	archive_time(s, &v->idle_ns);
}

static void pass_number(struct archive *s, uint64_t *number, const void *unused)
{
	(void)unused;
	archive_u64(s, number);
}

static void pass_worker(struct archive *s, struct worker *w, const struct replay *p)
{
	pass_interval(s, &w->interval, p);
	archive_u64(s, &w->key);
	archive_below(s, &w->thread, p->rd->raw.threads.cnt);
	archive_u32(s, &w->pid);
	archive_time(s, &w->stopped_ns);
	archive_time(s, &w->handed_ns);
	archive_bool(s, &w->in_frame);
	archive_time(s, &w->polled_ns);
	archive_time(s, &w->left_ns);
	archive_bool(s, &w->out_of_sight);
	archive_bool(s, &w->has_ids);
	archive_bool(s, &w->is_spent);
	archive_u64(s, &w->older);
	archive_u32(s, &w->rank);
	ARCHIVE_VEC(s, &w->inside, pass_number, NULL);
	archive_u64(s, &w->depth);
	/* forget_key() follows them. */
	archive_refuse(s, w->interval.sid == 0 || w->older >= w->interval.sid);
}

static void write_workers(struct archive *s, struct replay *p)
{
	uint64_t cnt = 0;

	for (size_t i = 0; i < p->workers.cnt; i++)
		cnt += p->workers.items[i].interval.sid != 0;
	archive_u64(s, &cnt);
	for (size_t i = 0; i < p->workers.cnt; i++)
		if (p->workers.items[i].interval.sid)
			pass_worker(s, &p->workers.items[i], p);
}

static void read_workers(struct archive *s, struct replay *p)
{
	for (size_t i = 0; i < p->workers.cnt; i++)
		VEC_RELEASE(&p->workers.items[i].inside);
	p->free_places.cnt = 0;
	ARCHIVE_VEC(s, &p->workers, pass_worker, p);
	if (!s->failed)
		replay_renew_tables(p);
}

static void pass_stacks(struct archive *s, struct replay *p)
{
	for (size_t i = 0; i < p->rd->raw.threads.cnt; i++) {
		struct stack *stack = &p->stacks[i];
		uint32_t cnt = (uint32_t)stack->cnt;

		archive_below(s, &cnt, LABELS_MAX + 1);
		stack->cnt = cnt;
		for (size_t k = 0; k < cnt; k++) {
			archive_u64(s, &stack->items[k].id);
			archive_u64(s, &stack->items[k].key);
			archive_u64(s, &stack->items[k].sid);
			archive_bool(s, &stack->items[k].left);
		}
		archive_time(s, &stack->idle_ns);
		archive_time(s, &stack->waited_ns);
		archive_u64(s, &stack->waited_sid);
		archive_time(s, &stack->poll_end_ns);
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

static void pass_entry(struct archive *s, struct entry *e, const void *unused)
{
	(void)unused;
	archive_u64(s, &e->key);
	archive_u64(s, &e->value);
}

static void pass_map(struct archive *s, struct map **m)
{
	struct entries e = { { NULL, 0, 0 } };

	if (s->out && *m)
		map_each(*m, add_entry, &e);
	ARCHIVE_VEC(s, &e.list, pass_entry, NULL);
	if (!s->out) {
		map_free(*m);
		*m = map_new();
	}
	for (size_t i = 0; !s->out && i < e.list.cnt; i++)
		map_set(*m, e.list.items[i].key, e.list.items[i].value);
	VEC_RELEASE(&e.list);
}

static void pass_enqueued(struct archive *s, struct enqueued *q, const struct replay *p)
{
	archive_time(s, &q->ns);
	archive_below(s, &q->thread, p->rd->raw.threads.cnt);
}

struct checking {
	struct archive *s;
	uint64_t value_max;
};

static bool check_value(uint64_t key, uint64_t value, void *arg)
{
	struct checking *c = arg;

	(void)key;
	archive_refuse(c->s, value > c->value_max);
	return true;
}

static void pass_tasks(struct archive *s, struct replay *p)
{
	if (s->out)
		replay_renew_tasks(p);
	ARCHIVE_VEC(s, &p->enqueued, pass_enqueued, p);
	pass_map(s, &p->tasks);
	if (!s->out)
		map_each(p->tasks, check_value, &(struct checking){ s, p->enqueued.cnt });
	p->task_cnt = p->enqueued.cnt;
}

/* By label; most are 0. */
static void pass_returns(struct archive *s, struct replay *p)
{
	size_t label_cnt = p->rd->raw.labels.cnt;
	uint32_t at = 0, bits;

	if (!s->out)
		memset(p->returns, 0, label_cnt);
	for (; !s->failed; at++) {
		while (s->out && at < label_cnt && !p->returns[at])
			at++;
		archive_below(s, &at, label_cnt + 1);
		if (at == label_cnt)
			break;
		bits = p->returns[at];
		archive_below(s, &bits, UINT8_MAX + 1);
		p->returns[at] = (uint8_t)bits;
	}
}

void replay_save(struct replay *p, struct archive *s)
{
	uint64_t next_pause = p->next_pause;

	archive_u64(s, &p->sid_cnt);
	archive_u64(s, &next_pause);
	p->next_pause = (size_t)next_pause;
	archive_bool(s, &p->is_paused);
	if (!s->out)
		read_workers(s, p);
	else
		write_workers(s, p);
	pass_stacks(s, p);
	pass_returns(s, p);
	pass_map(s, &p->parents);
	pass_map(s, &p->loops);
	pass_tasks(s, p);
}

static void pass_known(struct archive *s, struct map **m)
{
	bool is_known = *m;

	archive_bool(s, &is_known);
	if (is_known)
		pass_map(s, m);
}

void replay_save_known(struct replay *p, struct archive *s)
{
	pass_known(s, &p->unfinished);
	pass_known(s, &p->outermost);
}
