/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay_forget.c - between two windows, drops what no later event can ask for.
 *
 * Tables are keyed by interval and task, and would grow without end; they are rebuilt when most of their
 * entries are past.  Example: 5,000 intervals began, 3 are open: a table of 3.
 */
#include "base/banned.h"
#include "trace/read/replay_state.h"

bool replay_is_open(const struct replay *p, uint64_t sid)
{
	return find_worker(p, sid);
}

int64_t replay_oldest(const struct replay *p, int64_t otherwise_ns)
{
	int64_t oldest_ns = otherwise_ns;

	for (size_t i = 0; i < p->workers.cnt; i++)
		if (p->workers.items[i].interval.sid && p->workers.items[i].interval.start_ns < oldest_ns)
			oldest_ns = p->workers.items[i].interval.start_ns;
	return oldest_ns;
}

void replay_renew_tables(struct replay *p)
{
	map_free(p->open);
	map_free(p->place_of);
	p->open = map_new();
	p->place_of = map_new();
	for (size_t i = 0; i < p->workers.cnt; i++) {
		const struct worker *w = &p->workers.items[i];
		uint64_t *latest;

		if (!w->interval.sid)
			continue;
		map_set(p->place_of, w->interval.sid, i + 1);
		latest = map_slot(p->open, interval_hash(w->pid, w->interval.name, w->key));
		*latest = w->interval.sid > *latest ? w->interval.sid : *latest;
	}
}

struct renewed_tasks {
	struct replay *p;
	struct map *tasks;
	VEC(struct enqueued) enqueued;
};

static bool renew_task(uint64_t key, uint64_t value, void *arg)
{
	struct renewed_tasks *r = arg;

	if (!value)
		return true;
	VEC_ADD(&r->enqueued, r->p->enqueued.items[value - 1]);
	map_set(r->tasks, key, r->enqueued.cnt);
	return true;
}

void replay_renew_tasks(struct replay *p)
{
	struct renewed_tasks r = { .p = p, .tasks = map_new() };

	map_each(p->tasks, renew_task, &r);
	map_free(p->tasks);
	p->tasks = r.tasks;
	free(p->enqueued.items);
	p->enqueued.items = r.enqueued.items;
	p->enqueued.cnt = r.enqueued.cnt;
	p->enqueued.cap = r.enqueued.cap;
	p->task_cnt = r.enqueued.cnt;
}

void replay_forget(struct replay *p, int64_t low_ns)
{
	struct trace *t = p->t;
	size_t kept = 0;

	for (size_t i = 0; i < t->creations.cnt; i++)
		if (t->creations.items[i].time2_ns >= low_ns)
			t->creations.items[kept++] = t->creations.items[i];
	t->creations.cnt = kept;
	kept = 0;
	for (size_t i = 0; i < t->works.cnt; i++)
		if (find_worker(p, t->works.items[i].sid))
			t->works.items[kept++] = t->works.items[i];
	t->works.cnt = kept;
	t->intervals.cnt = 0;
	if (map_cnt(p->place_of) > 2 * (p->workers.cnt - p->free_places.cnt) + 1024)
		replay_renew_tables(p);
	if (p->enqueued.cnt > 1024 + 2 * p->task_cnt)
		replay_renew_tasks(p);
}
