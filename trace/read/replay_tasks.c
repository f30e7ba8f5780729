/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay_tasks.c - tasks that move from one thread to another: through a queue, or to a new thread.
 */
#include "base/banned.h"
#include "trace/read/replay_state.h"

void replay_add_creation(struct replay *p, uint32_t thread, int64_t ns, uint32_t thread2, int64_t ns2)
{
	if (ns <= ns2)
		VEC_ADD(&p->t->creations, (struct creation){ tid_of(p, thread),
			tid_of(p, thread2), ns, ns2, NAME_NONE, 0, 0 });
}

static uint64_t task_hash(const struct replay *p, const struct raw_event *e)
{
	uint64_t hash = hash_u64(0, p->rd->raw.threads.items[e->thread].pid);

	return hash_u64(hash_u64(hash, e->words[0]), e->words[1]);
}

void replay_enqueue(struct replay *p, const struct raw_event *e)
{
	VEC_ADD(&p->enqueued, (struct enqueued){ e->ns, e->thread });
	map_set(p->tasks, task_hash(p, e), p->enqueued.cnt);
}

void replay_dequeue(struct replay *p, const struct raw_event *e)
{
	uint64_t *index = map_slot(p->tasks, task_hash(p, e));
	const struct enqueued *q;

	if (!*index)
		return;
	q = &p->enqueued.items[*index - 1];
	*index = 0;
	replay_add_creation(p, q->thread, q->ns, e->thread, e->ns);
}

void replay_create(struct replay *p, const struct raw_event *e)
{
	uint32_t child = raw_find_thread(&p->rd->raw, e->words[0]);

	if (child != UINT32_MAX && pid_of(p, child) != pid_of(p, e->thread))
		map_set(p->parents, pid_of(p, child), pid_of(p, e->thread));
	if (child != UINT32_MAX && child != e->thread && e->ns >= p->rd->raw.from_ns)
		replay_add_creation(p, e->thread, e->ns, child,
			     p->rd->raw.threads.items[child].first_ns);
}

/*
 * A wait for a stream, a poll or an accept (a disk's has neither an object nor a waker) while the thread works on nothing.
 * Example: poll 10..30, BEGIN 32: idle until 30.  A thread that put an interval aside still has it: BEGIN 1 at 2, poll 10..30,
 * BEGIN 2 at 32, and 1 is open: it was idle as well.
 */
void replay_note_idle(struct replay *p, const struct raw_event *e, uint64_t sid)
{
	if (e->kind != EVENT_WAIT || e->words[1] != WAIT_IO || !(e->words[2] || e->words[3]) || (int64_t)e->words[0] <= e->ns)
		return;
	if (sid == SID_NONE) {
		p->stacks[e->thread].idle_ns = (int64_t)e->words[0];
	} else {
		p->stacks[e->thread].waited_ns = (int64_t)e->words[0];
		p->stacks[e->thread].waited_sid = sid;
	}
}

int64_t replay_idle_ns(const struct replay *p, uint32_t thread)
{
	bool was_put_aside = p->stacks[thread].waited_ns > p->stacks[thread].idle_ns && find_worker(p, p->stacks[thread].waited_sid);

	return was_put_aside ? p->stacks[thread].waited_ns : p->stacks[thread].idle_ns;
}
