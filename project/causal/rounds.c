/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rounds.c - see rounds.h.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "base/banned.h"
#include "base/map.h"
#include "project/causal/rounds.h"

#define MS 1000000ULL
#define CROWDED 0.8			/* fraction of the CPUs that the run's own threads use while they want more */

enum { IN_FORCE_MS = 20, BLOCK_MIN_MS = 150, BLOCK_MAX_MS = 2000, INTERVALS_A_BLOCK = 30, TAIL_MIN_MS = 20, TAIL_FIRST_MS = 100,
	TAIL_MAX_MS = 1000, WARM_UP_MS = 300, WARM_UP_MAX_MS = 3000, WARM_INTERVALS = 10, GRACE_MS = 10000, DEADLINE_MS = 1000 };

static uint64_t draw(struct rounds *r, uint64_t below)
{
	r->random += 0x9e3779b97f4a7c15ULL;
	return hash_u64(0, r->random) % below;
}

void rounds_start(struct rounds *r)
{
	r->state = ROUNDS_WARM_UP;
	r->warm_since_ns = r->due_ns = r->killed_ns = 0;
	r->events.cnt = r->ended.cnt = r->facts.cnt = 0;
	r->label = 0;
	r->locks.targets = r->o->targets;
	r->locks.target_cnt = r->o->target_cnt;
	r->locks.next = 0;
	r->locks.found.cnt = 0;
}

void rounds_release(struct rounds *r)
{
	VEC_RELEASE(&r->points);
	VEC_RELEASE(&r->events);
	VEC_RELEASE(&r->facts);
	VEC_RELEASE(&r->ended);
	lock_names_release(&r->locks);
}

bool rounds_is_cut(const struct rounds *r)
{
	return r->state != ROUNDS_WARM_UP && r->state != ROUNDS_ENDING;
}

void rounds_take(void *arg, uint64_t serial, enum trace_event kind, uint64_t ticks, const uint64_t *words)
{
	struct rounds *r = arg;

	if (r->state == ROUNDS_WARM_UP && kind == EVENT_END)
		VEC_ADD(&r->ended, words[0]);
	if (r->state != ROUNDS_WARM_UP && r->state != ROUNDS_ENDING)
		VEC_ADD(&r->events, (struct virtual_event){ (int64_t)ticks, serial, kind,
			{ words[0], event_words(kind) > 1 ? words[1] : 0, event_words(kind) > 2 ? words[2] : 0 },
			(uint32_t)r->events.cnt });
}

/* ---- the warm-up ---- */

static bool is_interval(const struct rounds *r, struct drainer *d, uint64_t label)
{
	const char *name = drainer_label_name(d, drainer_interval(d, label));

	return name && (!r->o->interval || strcmp(name, r->o->interval) == 0);
}

/* Counts the ends of the interval, or of the interval that ended most often. */
static size_t count_ended(struct rounds *r, struct drainer *d)
{
	_cleanup_(map_freep) struct map *cnts = map_new();
	size_t best = 0;

	for (size_t i = 0; i < r->ended.cnt; i++) {
		uint64_t label = drainer_interval(d, r->ended.items[i]);
		size_t cnt;

		if (!is_interval(r, d, label))
			continue;
		cnt = ++*map_slot(cnts, label);
		if (cnt > best) {
			best = cnt;
			r->label = label;
		}
	}
	return best;
}

static void note_name(struct rounds *r, struct drainer *d)
{
	const char *name = drainer_label_name(d, r->label);

	free(r->ret->interval);
	r->ret->interval = name ? xstrdup(name) : NULL;
}

/* If the threads want more CPUs than there are, a pause has to hold its CPU: a sleeping thread would let others run. */
static void choose_currency(const struct rounds *r, struct drainer *d, uint64_t took)
{
	struct drainer_cpu now = drainer_cpu(d);
	uint64_t wanted = now.run_ns + now.delay_ns - r->cpu.run_ns - r->cpu.delay_ns;
	bool is_crowded = now.cpu_cnt && now.run_ns >= r->cpu.run_ns && now.delay_ns >= r->cpu.delay_ns &&
			  (double)(now.run_ns - r->cpu.run_ns) > CROWDED * now.cpu_cnt * (double)took && wanted > now.cpu_cnt * took;

	drainer_set_currency(d, r->o->currency == CAUSAL_CPU || (r->o->currency == CAUSAL_AUTO && is_crowded) ? EXPERIMENT_HOLD
													      : EXPERIMENT_SLEEP);
}

/* Returns true once it knows how long a block has to be. */
static bool warm_up(struct rounds *r, struct drainer *d, uint64_t now_ns)
{
	size_t cnt;
	uint64_t took;

	if (now_ns < r->due_ns)
		return false;
	r->due_ns = now_ns + 50 * MS;
	drainer_look(d);
	if (!r->ended.cnt)
		return false;
	if (!r->warm_since_ns) {
		r->warm_since_ns = now_ns;
		r->cpu = drainer_cpu(d);
		r->ended.cnt = 0;
		return false;
	}
	took = now_ns - r->warm_since_ns;
	if (took < WARM_UP_MS * MS)
		return false;
	cnt = count_ended(r, d);
	if (!cnt || (cnt < WARM_INTERVALS && took < WARM_UP_MAX_MS * MS))
		return false;
	note_name(r, d);
	choose_currency(r, d, took);
	r->block_ns = took * INTERVALS_A_BLOCK / cnt;
	if (r->block_ns < BLOCK_MIN_MS * MS)
		r->block_ns = BLOCK_MIN_MS * MS;
	if (r->block_ns > BLOCK_MAX_MS * MS)
		r->block_ns = BLOCK_MAX_MS * MS;
	r->block_ns = r->o->block_ns ? r->o->block_ns : r->block_ns;
	r->tail_ns = TAIL_FIRST_MS * MS;
	return true;
}

/* ---- blocks ---- */

static void shuffle(struct rounds *r)
{
	for (size_t i = r->points.cnt; i > 1; i--) {
		size_t k = draw(r, i);
		struct causal_point p = r->points.items[k];

		r->points.items[k] = r->points.items[i - 1];
		r->points.items[i - 1] = p;
	}
}

static void set_block(struct rounds *r, struct drainer *d, uint64_t now_ns)
{
	const struct causal_point *p = &r->points.items[r->at];
	struct drainer_block b = { .number = ++r->block_number, .round = r->ret->round_cnt + 1, .target = p->target, .speed = p->speed,
				   .most_ns = r->block_ns + r->tail_ns + (IN_FORCE_MS + DEADLINE_MS) * MS };

	r->deadline_ns = now_ns + b.most_ns;
	if (r->o->set)
		r->o->set(r->o->arg, p);
	r->state = ROUNDS_SET;		/* before rounds_take() receives BLOCK_SET */
	drainer_block_set(d, &b);
	r->due_ns = now_ns + IN_FORCE_MS * MS;
}

static void end_all(struct rounds *r, struct drainer *d, enum causal_ended why)
{
	drainer_blocks_end(d);
	r->ret->ended = why;
	r->state = ROUNDS_ENDING;
	r->due_ns = 0;
}

static void start_blocks(struct rounds *r, struct drainer *d, uint64_t now_ns)
{
	shuffle(r);
	r->at = 0;
	r->is_overdue = false;
	r->events.cnt = r->facts.cnt = 0;
	set_block(r, d, now_ns);
}

/* Asks for the next round and begins it.  done: the round before; NULL: this is the first. */
static void begin_round(struct rounds *r, struct drainer *d, const struct causal_round *done, uint64_t now_ns)
{
	r->points.cnt = 0;
	lock_names_look(&r->locks, d);
	r->missing = lock_names_missing(&r->locks);
	if (r->missing || !r->o->next(r->o->arg, done, &r->points) || !r->points.cnt) {
		end_all(r, d, CAUSAL_ENDED_ENOUGH);
		return;
	}
	VEC_ADD(&r->points, (struct causal_point){ r->points.items[draw(r, r->points.cnt)].target, 0 });
	start_blocks(r, d, now_ns);
}

/* Converts times to the experiment's clock, which shifts use, and labels to those of the interval. */
static void settle_events(struct rounds *r, struct drainer *d, double ns_per_tick)
{
	int64_t first = r->events.cnt ? r->events.items[0].ns : 0;

	for (size_t i = 0; i < r->events.cnt; i++) {
		struct virtual_event *e = &r->events.items[i];

		e->ns = (int64_t)((double)(e->ns - first) * ns_per_tick);
		if (e->kind != EVENT_SHIFT && e->kind != EVENT_BLOCK)
			e->words[0] = drainer_interval(d, e->words[0]);
	}
}

/* Makes the tail long enough for the longest interval. */
static void adapt_tail(struct rounds *r, const struct virtual_trace *v)
{
	uint64_t longest = 0;
	bool has_late = false;

	for (size_t i = 0; i < v->intervals.cnt; i++)
		if (v->intervals.items[i].counts && (uint64_t)v->intervals.items[i].real_ns > longest)
			longest = (uint64_t)v->intervals.items[i].real_ns;
	for (size_t i = 0; i < v->blocks.cnt; i++)
		has_late |= v->blocks.items[i].late_cnt > 0;
	longest = TAIL_MIN_MS * MS + 2 * longest;
	if (has_late && longest < 2 * r->tail_ns)
		longest = 2 * r->tail_ns;
	r->tail_ns = longest < TAIL_MAX_MS * MS ? longest : TAIL_MAX_MS * MS;
}

static void end_round(struct rounds *r, struct drainer *d, uint64_t now_ns)
{
	struct virtual_trace v = { .blocks = { NULL, 0, 0 } };
	VEC(struct causal_block) blocks = { NULL, 0, 0 };
	VEC(int64_t) latencies = { NULL, 0, 0 };
	struct causal_round round;
	size_t at = 0;

	drainer_look(d);
	settle_events(r, d, drainer_experiment_state(d).ns_per_tick);
	virtual_join(&r->events, r->label, &v);
	for (size_t i = 0; i < v.intervals.cnt; i++)
		if (v.intervals.items[i].counts)
			VEC_ADD(&latencies, v.intervals.items[i].virtual_ns);
	for (uint32_t i = 0; i < v.blocks.cnt; i++) {
		const struct virtual_block *b = &v.blocks.items[i];
		struct block_facts facts = i < r->facts.cnt ? r->facts.items[i] : (struct block_facts){ 0, -1, -1 };
		size_t cnt = 0;

		for (size_t k = 0; k < v.intervals.cnt; k++)
			cnt += v.intervals.items[k].block == i && v.intervals.items[k].counts;
		VEC_ADD(&blocks, (struct causal_block){
			.target = b->target, .speed = b->speed, .latency_ns = latencies.items + at, .interval_cnt = cnt,
			.late_cnt = b->late_cnt, .real_ns = b->end_ns - b->begin_ns, .delay_ns = b->growth_ns,
			.target_cnt = facts.hit_cnt, .cpu_wait = facts.cpu_wait, .others = facts.others });
		at += cnt;
	}
	adapt_tail(r, &v);
	r->ret->round_cnt++;
	round = (struct causal_round){ r->ret->round_cnt, blocks.items, blocks.cnt, now_ns - r->began_ns };
	begin_round(r, d, &round, now_ns);
	virtual_release(&v);
	VEC_RELEASE(&blocks);
	VEC_RELEASE(&latencies);
}

/* The recorder was so late that a block passed its deadline, so the rest of the block had no change. */
static void repeat_round(struct rounds *r, struct drainer *d, uint64_t now_ns)
{
	drainer_look(d);		/* open intervals belong to no block of the next round */
	r->ret->lost_round_cnt++;
	if (r->o->notice)
		r->o->notice(r->o->arg, "a round is repeated: other programs delayed the recorder");
	start_blocks(r, d, now_ns);
}

/* An ended thread takes its CPU account with it; then these facts are not known. */
static void note_facts(struct rounds *r, struct drainer *d, uint64_t now_ns)
{
	struct block_facts facts = { drainer_experiment_state(d).hit_cnt - r->hits, -1, -1 };
	struct drainer_cpu now = drainer_cpu(d);
	uint64_t run = now.run_ns - r->cpu.run_ns, delay = now.delay_ns - r->cpu.delay_ns, busy = now.busy_ns - r->cpu.busy_ns;

	if (now.run_ns > r->cpu.run_ns && now.delay_ns >= r->cpu.delay_ns) {
		facts.cpu_wait = (double)delay / (double)(run + delay);
		if (now.cpu_cnt && now.busy_ns >= r->cpu.busy_ns)
			facts.others = busy > run ? (double)(busy - run) / (double)(now_ns - r->opened_ns) : 0;
	}
	VEC_ADD(&r->facts, facts);
}

static void next_phase(struct rounds *r, struct drainer *d, uint64_t now_ns)
{
	switch (r->state) {
	case ROUNDS_SET:
		drainer_block_phase(d, BLOCK_OPEN);
		r->hits = drainer_experiment_state(d).hit_cnt;
		r->cpu = drainer_cpu(d);
		r->opened_ns = now_ns;
		r->state = ROUNDS_OPEN;
		r->due_ns = now_ns + r->block_ns;
		break;
	case ROUNDS_OPEN:
		drainer_block_phase(d, BLOCK_SHUT);
		note_facts(r, d, now_ns);
		r->state = ROUNDS_SHUT;
		r->due_ns = now_ns + r->tail_ns;
		break;
	default:
		drainer_block_phase(d, BLOCK_OVER);
		r->is_overdue |= now_ns > r->deadline_ns;
		if (++r->at < r->points.cnt)
			set_block(r, d, now_ns);
		else if (r->is_overdue)
			repeat_round(r, d, now_ns);
		else
			end_round(r, d, now_ns);
	}
}

/* Ends the program, which is the recorder's child.  Processes that ran before (-p) go on. */
static void end_program(struct rounds *r, struct drainer *d, uint64_t now_ns)
{
	bool is_attached = r->o->record->attach && r->o->record->attach->pids.cnt;
	int number = r->killed_ns ? SIGKILL : SIGTERM;

	if (now_ns <= r->killed_ns)
		return;
	if (!is_attached)
		drainer_kill(d, number);
	drainer_kill_child(d, number);
	r->killed_ns = now_ns + GRACE_MS * MS;
}

void rounds_interrupt(struct rounds *r, struct drainer *d)
{
	if (r->state != ROUNDS_ENDING)
		end_all(r, d, CAUSAL_ENDED_INTERRUPT);
}

void rounds_turn(void *arg, struct drainer *d, uint64_t now_ns)
{
	struct rounds *r = arg;

	if (r->state != ROUNDS_ENDING && r->o->for_ns && now_ns - r->began_ns > r->o->for_ns)
		end_all(r, d, CAUSAL_ENDED_TIME);
	if (r->state == ROUNDS_ENDING)
		end_program(r, d, now_ns);
	else if (r->state == ROUNDS_WARM_UP && warm_up(r, d, now_ns))
		begin_round(r, d, NULL, now_ns);
	else if (r->state != ROUNDS_WARM_UP && now_ns >= r->due_ns)
		next_phase(r, d, now_ns);
}
