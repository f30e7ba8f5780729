/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run_blocks.c - starts the program until the experiments are done.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include "base/banned.h"
#include "project/causal/rounds.h"
#include "project/causal/run_blocks.h"

enum { STARTS_WITHOUT_ROUND = 3 };

static volatile sig_atomic_t is_interrupted;

static void note_interrupt(int number)
{
	(void)number;
	is_interrupted = 1;
}

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t random_seed(void)
{
	uint64_t seed = 0;

	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = clock_ns();
	return seed;
}

void run_blocks_release(struct run_blocks_result *r)
{
	free(r->interval);
	free(r->unfair_function);
}

static enum experiment_kind kind_of(enum asked_kind kind)
{
	switch (kind) {
	case ASKED_BODY:
		return EXPERIMENT_BODY;
	case ASKED_IO:
		return EXPERIMENT_IO;
	case ASKED_LOCK:
		return EXPERIMENT_LOCK;
	case ASKED_PC:
		return EXPERIMENT_PC;
	case ASKED_DEVICE:
		return EXPERIMENT_DEVICE;
	default:
		return EXPERIMENT_FUNCTION;
	}
}

struct runner {
	struct rounds rounds;
	struct drainer_experiments experiments;
	struct drainer_target *targets;
	struct drainer_experiment_state state;	/* at the end of the last start */
	unsigned fruitless_cnt;		/* starts in a row without a complete round */
};

/* Its name stands in the arena, which is gone when the program has ended. */
static void note_unfair(struct runner *r)
{
	struct run_blocks_result *ret = r->rounds.ret;

	if (r->state.unfair_share <= ret->unfair_share)
		return;
	ret->unfair_share = r->state.unfair_share;
	free(ret->unfair_function);
	ret->unfair_function = r->state.unfair_function ? xstrdup(r->state.unfair_function) : NULL;
}

static void turn(void *arg, struct drainer *d, uint64_t now_ns)
{
	struct runner *r = arg;

	if (is_interrupted)
		rounds_interrupt(&r->rounds, d);
	rounds_turn(&r->rounds, d, now_ns);
	r->state = drainer_experiment_state(d);
	note_unfair(r);
}

static void take(void *arg, uint64_t serial, enum trace_event kind, uint64_t ticks, const uint64_t *words)
{
	struct runner *r = arg;

	rounds_take(&r->rounds, serial, kind, ticks, words);
}

static void runner_open(struct runner *r, const struct run_blocks_options *o, struct run_blocks_result *ret)
{
	r->targets = xcalloc(o->target_cnt + 1, sizeof(*r->targets));
	for (size_t i = 0; i < o->target_cnt; i++)
		r->targets[i] = (struct drainer_target){ kind_of(o->targets[i].kind), o->targets[i].disk, o->targets[i].keys.items, o->targets[i].keys.cnt };
	r->experiments = (struct drainer_experiments){ r->targets, o->virtual_clock, o->target_cnt, turn, take, r, false };
	r->rounds = (struct rounds){ .o = o, .ret = ret, .began_ns = clock_ns(), .random = o->seed ? o->seed : random_seed() };
}

static void runner_close(struct runner *r)
{
	rounds_release(&r->rounds);
	free(r->targets);
}

static void note_state(const struct runner *r, struct run_blocks_result *ret)
{
	ret->has_ticks = r->state.tick_cnt > 0 || !r->state.ticks_refused;
	ret->ticks_error = r->state.ticks_refused ? (int)r->state.ticks_error : 0;
	ret->outside_cnt += r->state.outside_cnt;
	ret->until_cnt += r->state.until_cnt;
	ret->locks_lost += r->state.locks_lost;
	ret->blind_cnt += r->state.blind_cnt;
	ret->real_clock_cnt += r->state.real_clock_cnt;
}

static bool was_asked_to_end(const struct runner *r)
{
	return r->rounds.state == ROUNDS_ENDING;
}

static int refuse_symbol(const struct causal_target *t, struct diag *reterr)
{
	if (t->kind == ASKED_PC) {
		diag_set(reterr, EXIT_ENVIRONMENT, -ENOTSUP, "target %s: no program or library of the run has a function %s", t->text, t->name);
		return diag_remedy(reterr, -ENOTSUP, "a file that is not stripped; a function that the compiler did not inline");
	}
	diag_set(reterr, EXIT_ENVIRONMENT, -ENOTSUP, "target %s: no probed function is called %s, and no variable in a program or library"
		 " of the run", t->text, t->name);
	return diag_remedy(reterr, -ENOTSUP, "lock:FUNCTION, a function that takes the lock: what lies in allocated memory has no name");
}

/* One start.  Returns 1 if the experiments are done or cannot go on, 0 if the program has to start again. */
static int start(struct runner *r, struct store *s, const char *name, const struct args *command,
		 const struct record_options *record, struct run *ret_run, struct run_blocks_result *ret, struct diag *reterr)
{
	uint32_t rounds_before = ret->round_cnt;
	int status, e;

	rounds_start(&r->rounds);
	ret->start_cnt++;
	e = record_only(s, name, command, record, ret_run, &status, reterr);
	if (e < 0)
		return e;
	if (status)			/* it has printed why */
		return diag_set(reterr, (enum exit_status)status, -ENOTSUP, "no process that ran takes part in experiments");
	note_state(r, ret);
	if (r->state.signal_taken) {
		diag_set(reterr, EXIT_ENVIRONMENT, -ENOTSUP, "the program handles SIGURG itself, which vprof sends to its threads every millisecond");
		return diag_remedy(reterr, -ENOTSUP, "run it without that handler");
	}
	if (r->rounds.missing)
		return refuse_symbol(r->rounds.missing, reterr);
	if (was_asked_to_end(r))
		return 1;
	ret->lost_round_cnt += rounds_is_cut(&r->rounds);
	ret->exit_status = ret_run->exit_status;
	if (is_interrupted)
		ret->ended = CAUSAL_ENDED_INTERRUPT;
	else
		ret->ended = CAUSAL_ENDED_PROGRAM;
	r->fruitless_cnt = ret->round_cnt == rounds_before ? r->fruitless_cnt + 1 : 0;
	return is_interrupted || ret->exit_status || r->fruitless_cnt >= STARTS_WITHOUT_ROUND;
}

/* The arena holds all keys, and has a fixed size for them. */
static int check_keys(const struct run_blocks_options *o, struct diag *reterr)
{
	size_t cnt = 0;

	for (size_t i = 0; i < o->target_cnt; i++)
		cnt += o->targets[i].keys.cnt;
	if (cnt <= EXPERIMENT_KEYS)
		return 0;
	diag_set(reterr, EXIT_USAGE, -E2BIG, "the targets have %zu functions, more than %d", cnt, EXPERIMENT_KEYS);
	return diag_remedy(reterr, -E2BIG, "name fewer targets with --target, or functions with fewer overloads");
}

int run_blocks(struct store *s, const char *name, const struct args *command, const struct run_blocks_options *o,
	       struct run *ret_run, struct run_blocks_result *ret, struct diag *reterr)
{
	struct runner r = { .targets = NULL };
	struct record_options record = *o->record;
	int e;

	*ret = (struct run_blocks_result){ .ended = CAUSAL_ENDED_PROGRAM, .has_ticks = true };
	e = check_keys(o, reterr);
	if (e < 0)
		return e;
	is_interrupted = 0;
	runner_open(&r, o, ret);
	record.experiments = &r.experiments;
	record.interrupted = note_interrupt;
	record.sample = (struct sample){ .full = 0 };
	record.kernel = o->kernel ? KERNEL_MODE_REQUIRE : KERNEL_MODE_OFF;
	for (;;) {
		e = start(&r, s, name, command, &record, ret_run, ret, reterr);
		if (e)
			break;
		run_remove(s, ret_run->number, NULL);
		run_release(ret_run);
		if (o->notice)
			o->notice(o->arg, "the program has ended; starting it again");
	}
	runner_close(&r);
	return e < 0 ? e : 0;
}
