/* SPDX-License-Identifier: GPL-3.0-or-later */
/* oracle_replay.c - makes random programs, runs them slowly, writes down what a recorder would have seen. */
#include "tests/oracle/oracle_replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/str.h"

/* ---- random programs ---- */

static uint64_t random_state;

static uint32_t below(uint32_t n)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)((random_state >> 33) % n);
}

static void add(struct oracle_program *o, uint32_t thread, enum replay_op op, uint32_t index, int64_t ns)
{
	if (o->step_cnt[thread] < ORACLE_STEPS_MAX)
		o->steps[thread][o->step_cnt[thread]++] = (struct oracle_step){ op, index, ns };
}

/* A multiple of 4, so that quarters of it are whole. */
static void add_time(struct oracle_program *o, uint32_t thread, bool off)
{
	add(o, thread, off ? OP_OFF : OP_WORK, below(ORACLE_FUNCTIONS), 4 * (1 + below(250)));
}

static void add_locked(struct oracle_program *o, uint32_t thread)
{
	uint32_t lock = below(o->lock_cnt);

	add(o, thread, OP_TAKE, lock, 0);
	add_time(o, thread, below(3) == 0);
	add(o, thread, OP_GIVE, lock, 0);
}

/* Each thread has an interval a round, and posts an event in it; later rounds' intervals may wait for events of the rounds
 * before. */
void oracle_random(struct oracle_program *ret, unsigned seed, bool has_locks)
{
	uint32_t rounds = 2 + seed % 3;

	memset(ret, 0, sizeof(*ret));
	random_state = seed * 7919ULL + has_locks;
	ret->thread_cnt = 2 + below(ORACLE_THREADS_MAX - 1);
	ret->lock_cnt = 2;
	for (uint32_t r = 0; r < rounds; r++)
		for (uint32_t i = 0; i < ret->thread_cnt; i++) {
			uint32_t event = r * ret->thread_cnt + i, parts = 1 + below(3);

			add(ret, i, OP_BEGIN, event, 0);
			for (uint32_t k = 0; k < parts; k++) {
				add_time(ret, i, below(4) == 0);
				if (has_locks && below(2))
					add_locked(ret, i);
			}
			add(ret, i, OP_POST, event, 0);
			if (r && below(2))	/* of the round before, or of one that comes earlier in this one: never a circle */
				add(ret, i, OP_AWAIT, (r - 1) * ret->thread_cnt + below(ret->thread_cnt), 0);
			else if (i && below(2))
				add(ret, i, OP_AWAIT, r * ret->thread_cnt + below(i), 0);
			add_time(ret, i, false);
			add(ret, i, OP_END, event, 0);
		}
	ret->event_cnt = ret->interval_cnt = rounds * ret->thread_cnt;
}

void oracle_release(struct oracle_program *o)
{
	memset(o, 0, sizeof(*o));
}

/* ---- running ---- */

struct slow {
	const struct oracle_program *o;
	struct oracle_run *run;
	uint32_t at[ORACLE_THREADS_MAX];
	int64_t until[ORACLE_THREADS_MAX];	/* of a WORK or OFF under way; -1: none is */
	int64_t came[ORACLE_THREADS_MAX];	/* to the step that it is in */
	uint32_t holder[8], let_go_by[8], let_go_at[8], poster[256];
	int64_t touched_ns[8];			/* the thread that took a lock, wanted it or let it go: for ties */
	uint32_t touched_by[8];
	bool posted[256];
	struct on_cpu {
		bool has, waits;	/* a CPU; for one */
		int64_t came;		/* to the run queue */
		int64_t ran, done;	/* since it has the CPU; of its WORK */
	} cpu[ORACLE_THREADS_MAX];
	uint32_t function;
	unsigned quarters;
	int64_t now;
};

static void touch(struct slow *s, uint32_t lock, uint32_t thread)
{
	if (s->touched_ns[lock] == s->now && s->touched_by[lock] != thread)
		s->run->tie = true;
	s->touched_ns[lock] = s->now;
	s->touched_by[lock] = thread;
}

static void finish(struct slow *s, uint32_t thread, uint32_t waker)
{
	s->run->spans[thread][s->at[thread]] = (struct oracle_span){ s->came[thread], s->now, waker, 0 };
	s->run->wait_cnt += waker != ORACLE_NONE;
	s->at[thread]++;
	s->came[thread] = s->now;
}

/* No thread that came before wants it. */
static bool is_first(const struct slow *s, uint32_t thread, uint32_t lock)
{
	for (uint32_t i = 0; i < s->o->thread_cnt; i++) {
		const struct oracle_step *step = &s->o->steps[i][s->at[i]];

		if (i != thread && s->at[i] < s->o->step_cnt[i] && step->op == OP_TAKE && step->index == lock && s->came[i] < s->came[thread])
			return false;
	}
	return true;
}

static bool take(struct slow *s, uint32_t thread, uint32_t lock)
{
	bool waited = s->came[thread] != s->now;

	if (!waited)
		touch(s, lock, thread);
	if (s->holder[lock] != ORACLE_NONE || !is_first(s, thread, lock))
		return false;
	s->holder[lock] = thread;
	finish(s, thread, waited ? s->let_go_by[lock] : ORACLE_NONE);
	if (waited)
		s->run->spans[thread][s->at[thread] - 1].waker_step = s->let_go_at[lock];
	return true;
}

static int64_t length(const struct slow *s, const struct oracle_step *step)
{
	return step->index == s->function ? step->ns / 4 * (4 - s->quarters) : step->ns;
}

/* Does what the thread can do now; false: it has to wait. */
static bool advance(struct slow *s, uint32_t thread)
{
	const struct oracle_step *step = &s->o->steps[thread][s->at[thread]];

	switch (step->op) {
	case OP_WORK:
		if (s->o->cpu_cnt && s->cpu[thread].done < length(s, step))
			return false;
		if (s->o->cpu_cnt) {
			s->cpu[thread].done = 0;
			break;
		}
		/* Fall through. */
	case OP_OFF:
		if (s->until[thread] < 0)
			s->until[thread] = s->now + length(s, step);
		if (s->until[thread] > s->now)
			return false;
		s->until[thread] = -1;
		break;
	case OP_TAKE:
	case OP_TAKE_ALL:
		return take(s, thread, step->index);
	case OP_GIVE:
	case OP_GIVE_ALL:
		touch(s, step->index, thread);
		s->holder[step->index] = ORACLE_NONE;
		s->let_go_by[step->index] = thread;
		s->let_go_at[step->index] = s->at[thread];
		break;
	case OP_POST:
		s->posted[step->index] = true;
		s->poster[step->index] = thread;
		break;
	case OP_AWAIT:
		if (!s->posted[step->index])
			return false;
		finish(s, thread, s->came[thread] != s->now ? s->poster[step->index] : ORACLE_NONE);
		return true;
	case OP_BEGIN:
		s->run->begin_ns[step->index] = s->now;
		break;
	case OP_END:
		s->run->end_ns[step->index] = s->now;
		break;
	}
	finish(s, thread, ORACLE_NONE);
	return true;
}

/* ---- CPUs ---- */

static bool wants_cpu(const struct slow *s, uint32_t thread)
{
	return s->at[thread] < s->o->step_cnt[thread] && s->o->steps[thread][s->at[thread]].op == OP_WORK;
}

static uint32_t first_that_waits(const struct slow *s)
{
	uint32_t first = ORACLE_NONE;

	for (uint32_t i = 0; i < s->o->thread_cnt; i++)
		if (s->cpu[i].waits && (first == ORACLE_NONE || s->cpu[i].came < s->cpu[first].came))
			first = i;
	return first;
}

static void queue_up(struct slow *s, uint32_t thread)
{
	s->cpu[thread].has = false;
	s->cpu[thread].waits = true;
	s->cpu[thread].came = s->now;
}

/* Picks the threads that have a CPU in this nanosecond.  Two threads that change the queue at the same time are a tie. */
static void share_cpus(struct slow *s)
{
	unsigned came_cnt = 0, left_cnt = 0, over_cnt = 0, has_cnt = 0;
	uint32_t next;

	for (uint32_t i = 0; i < s->o->thread_cnt; i++) {
		struct on_cpu *c = &s->cpu[i];

		left_cnt += c->has && !wants_cpu(s, i);
		c->has = c->has && wants_cpu(s, i);
		if (wants_cpu(s, i) && !c->has && !c->waits) {
			queue_up(s, i);
			came_cnt++;
		}
	}
	for (uint32_t i = 0; i < s->o->thread_cnt; i++) {
		struct on_cpu *c = &s->cpu[i];

		over_cnt += c->has && c->ran == s->o->slice_ns;
		if (c->has && c->ran == s->o->slice_ns) {
			c->ran = 0;
			if (first_that_waits(s) != ORACLE_NONE)
				queue_up(s, i);
		}
		has_cnt += c->has;
	}
	if (s->now && (came_cnt > 1 || (over_cnt && came_cnt + left_cnt + over_cnt > 1)))
		s->run->tie = true;
	for (; has_cnt < s->o->cpu_cnt && (next = first_that_waits(s)) != ORACLE_NONE; has_cnt++)
		s->cpu[next] = (struct on_cpu){ .has = true, .done = s->cpu[next].done };
}

static void note_piece(struct slow *s, uint32_t thread)
{
	bool runs = s->cpu[thread].has;

	for (size_t i = s->run->pieces.cnt; i > 0; i--) {
		struct oracle_piece *last = &s->run->pieces.items[i - 1];

		if (last->thread != thread)
			continue;
		if (last->runs != runs || last->to_ns != s->now)
			break;
		last->to_ns++;
		return;
	}
	VEC_ADD(&s->run->pieces, (struct oracle_piece){ thread, runs, s->now, s->now + 1 });
}

static void spend_nanosecond(struct slow *s)
{
	for (uint32_t i = 0; i < s->o->thread_cnt; i++) {
		if (wants_cpu(s, i))
			note_piece(s, i);
		s->cpu[i].ran += s->cpu[i].has;
		s->cpu[i].done += s->cpu[i].has;
	}
}

void oracle_run(const struct oracle_program *o, uint32_t function, unsigned quarters, struct oracle_run *ret)
{
	struct slow s = { .o = o, .run = ret, .function = function, .quarters = quarters };
	uint32_t left = o->thread_cnt;

	*ret = (struct oracle_run){
		xcalloc(o->interval_cnt, sizeof(int64_t)), xcalloc(o->interval_cnt, sizeof(int64_t)),
		xcalloc(ORACLE_THREADS_MAX, sizeof(*ret->spans)), { NULL, 0, 0 }, false, 0,
	};
	for (uint32_t i = 0; i < 8; i++) {
		s.holder[i] = ORACLE_NONE;
		s.touched_ns[i] = -1;
	}
	for (uint32_t i = 0; i < o->thread_cnt; i++)
		s.until[i] = -1;
	for (s.now = 0; left; s.now++) {
		bool moved = true;

		while (moved) {
			moved = false;
			left = 0;
			for (uint32_t i = 0; i < o->thread_cnt; i++) {
				while (s.at[i] < o->step_cnt[i] && advance(&s, i))
					moved = true;
				left += s.at[i] < o->step_cnt[i];
			}
		}
		if (o->cpu_cnt) {
			share_cpus(&s);
			spend_nanosecond(&s);
		}
	}
}

void oracle_run_release(struct oracle_run *r)
{
	free(r->begin_ns);
	free(r->end_ns);
	free(r->spans);
	VEC_RELEASE(&r->pieces);
}

static bool are_same(const struct oracle_program *o, const struct oracle_run *before, const struct oracle_run *after, bool locks_too)
{
	for (uint32_t i = 0; i < o->thread_cnt; i++)
		for (uint32_t k = 0; k < o->step_cnt[i]; k++)
			if ((locks_too || o->steps[i][k].op == OP_AWAIT) && (after->spans[i][k].waker != before->spans[i][k].waker ||
			    after->spans[i][k].waker_step != before->spans[i][k].waker_step))
				return false;
	return true;
}

bool oracle_same_waits(const struct oracle_program *o, const struct oracle_run *before, const struct oracle_run *after)
{
	return are_same(o, before, after, true);
}

bool oracle_same_awaits(const struct oracle_program *o, const struct oracle_run *before, const struct oracle_run *after)
{
	return are_same(o, before, after, false);
}

/* ---- the same for others ---- */

void oracle_strands(const struct oracle_program *o, struct replay_program *ret)
{
	*ret = (struct replay_program){ .event_cnt = o->event_cnt, .interval_cnt = o->interval_cnt, .cpu_cnt = o->cpu_cnt,
					.slice_ns = o->slice_ns };
	for (uint32_t i = 0; i < o->lock_cnt; i++)
		VEC_ADD(&ret->resources, 1);
	for (uint32_t i = 0; i < o->thread_cnt; i++) {
		VEC_ADD(&ret->strands, (struct replay_strand){ ret->steps.cnt, o->step_cnt[i], 0 });
		for (uint32_t k = 0; k < o->step_cnt[i]; k++) {
			const struct oracle_step *s = &o->steps[i][k];
			bool is_time = s->op == OP_WORK || s->op == OP_OFF;

			VEC_ADD(&ret->steps, (struct replay_step){ s->op, is_time ? 0 : s->index, is_time ? s->ns : 0 });
		}
	}
}

static void add_step_text(struct str *to, uint32_t thread, const struct oracle_step *s, const struct oracle_span *x, bool has_pieces)
{
	bool is_time = s->op == OP_WORK || s->op == OP_OFF;

	if (x->to_ns > x->from_ns && !(has_pieces && s->op == OP_WORK))
		str_addf(to, "segment %u - %" PRId64 " %" PRId64 " %s\n", thread + 1, x->from_ns, x->to_ns, s->op == OP_WORK ? "running" :
			 s->op == OP_OFF ? "io" : s->op == OP_TAKE ? "lock" : "cond");
	if (x->to_ns > x->from_ns && is_time)
		str_addf(to, "invocation %u - f%u %" PRId64 " %" PRId64 "\n", thread + 1, s->index, x->from_ns, x->to_ns);
	if (x->waker != ORACLE_NONE)
		str_addf(to, "wakeup %u %u %" PRId64 "\n", thread + 1, x->waker + 1, x->to_ns);
}

static void add_note(struct str *to, uint32_t thread, const struct oracle_step *s, const struct oracle_span *x)
{
	if (s->op == OP_TAKE)
		str_addf(to, "order %u %" PRId64 " m%u take %" PRId64 "\n", thread + 1, x->to_ns, s->index, x->from_ns);
	if (s->op == OP_GIVE)
		str_addf(to, "order %u %" PRId64 " m%u give\n", thread + 1, x->to_ns, s->index);
}

char *oracle_tuples(const struct oracle_program *o, const struct oracle_run *run, bool notes_locks)
{
	struct str s = STR_INIT;

	str_add(&s, "vprof-tuples 1\n");
	for (uint32_t i = 0; i < o->interval_cnt; i++)
		str_addf(&s, "interval %u req %u %" PRId64 " %u %" PRId64 "\n", i + 1, i % o->thread_cnt + 1, run->begin_ns[i],
			 i % o->thread_cnt + 1, run->end_ns[i]);
	for (uint32_t i = 0; i < o->thread_cnt; i++)
		for (uint32_t k = 0; k < o->step_cnt[i]; k++) {
			add_step_text(&s, i, &o->steps[i][k], &run->spans[i][k], o->cpu_cnt);
			if (notes_locks)
				add_note(&s, i, &o->steps[i][k], &run->spans[i][k]);
		}
	for (size_t i = 0; i < run->pieces.cnt; i++)
		str_addf(&s, "segment %u - %" PRId64 " %" PRId64 " %s\n", run->pieces.items[i].thread + 1, run->pieces.items[i].from_ns,
			 run->pieces.items[i].to_ns, run->pieces.items[i].runs ? "running" : "runnable");
	return str_take(&s);
}
