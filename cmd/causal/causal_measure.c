/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * causal_measure.c - `vprof causal -- COMMAND`: experiments.
 *
 * causal_targets.c chooses the targets, analysis/causal/schedule.h the points of each round and the end, and
 * project/causal/run_blocks.h runs the rounds.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/causal/experiment_warnings.h"
#include "base/banned.h"
#include "base/str.h"
#include "cmd/causal/causal.h"
#include "cmd/causal/causal_limit.h"
#include "cmd/causal/causal_targets.h"
#include "cmd/messages.h"
#include "project/causal/run_blocks.h"
#include "project/config/locate.h"

#define FOR_DEFAULT_NS (600 * INT64_C(1000000000))
#define SLACK_NS 5000			/* a thread may postpone a pause shorter than this while it wakes another thread */
#define STEPS_A_ROUND 2e7		/* limit for the estimates after a round: the recording waits for them */
#define STEPS_AT_END 2e9
enum { DRAWS_A_ROUND = 200, DRAWS_MIN = 40, DRAWS_AT_END = 1000, REHEARSAL_PER_MILLE = 1 };

struct measuring {
	const struct causal_request *q;
	struct asked_targets *asked;
	struct schedule schedule;
	block_samples blocks;
	struct experiments *e;
	double others, cpu_wait;	/* sums over others_cnt, cpu_wait_cnt blocks */
	unsigned others_cnt, cpu_wait_cnt;
	uint32_t round_cnt;
};

static unsigned draws_for(const struct measuring *m, double steps, unsigned most)
{
	double intervals = 1;

	for (size_t i = 0; i < m->blocks.cnt; i++)
		intervals += (double)m->blocks.items[i].cnt;
	return (unsigned)fmax(DRAWS_MIN, fmin(most, steps / intervals));
}

/* ---- a round ---- */

static uint32_t per_mille(double speedup)
{
	return (uint32_t)(speedup * 1000 + 0.5);
}

/* The number of a block's point; POINT_BASELINE also for a point that was not asked, which does not happen. */
static uint32_t number_of(const struct measuring *m, const struct causal_block *b)
{
	if (b->speed == 0)
		return POINT_BASELINE;
	for (size_t i = 0; i < m->schedule.speedup_cnt; i++)
		if (per_mille(m->schedule.speedups[i]) == b->speed)
			return schedule_number(&m->schedule, b->target, i);
	return schedule_rehearsal(&m->schedule, b->target);
}

static void add_round(struct measuring *m, const struct causal_round *done)
{
	m->round_cnt = done->number;
	for (size_t i = 0; i < done->block_cnt; i++) {
		const struct causal_block *b = &done->blocks[i];

		block_samples_add(&m->blocks, done->number, number_of(m, b), b->latency_ns, b->interval_cnt, b->real_ns, b->delay_ns);
		if (b->others >= 0) {
			m->others += b->others;
			m->others_cnt++;
		}
		if (b->cpu_wait >= 0) {
			m->cpu_wait += b->cpu_wait;
			m->cpu_wait_cnt++;
		}
	}
}

static void tell_progress(const struct measuring *m, const struct causal_round *done)
{
	_cleanup_(str_release) struct str line = STR_INIT;
	const struct experiments *e = m->e;

	str_addf(&line, "round %" PRIu32 ", %.0f s", done->number, (double)done->elapsed_ns / 1e9);
	for (size_t i = 0; i < e->list.cnt && line.len < 100; i++) {
		const struct gain *g = &e->list.items[i].metrics[e->metric];

		if (g->has_ci95)
			str_addf(&line, "; %s %.0f %%: gain of the %s %.0f %% (%.0f to %.0f)", e->list.items[i].target,
				 100 * e->list.items[i].speedup, gain_metric_name(e->metric), 100 * g->gain, 100 * g->ci95[0], 100 * g->ci95[1]);
	}
	progress_line("%s", str_cstr(&line));
}

static bool next_round(void *arg, const struct causal_round *done, causal_points *ret)
{
	struct measuring *m = arg;
	schedule_points points = { NULL, 0, 0 };

	if (done) {
		add_round(m, done);
		schedule_estimate(&m->schedule, &m->blocks, draws_for(m, STEPS_A_ROUND, DRAWS_A_ROUND), m->e);
		tell_progress(m, done);
	}
	schedule_next(&m->schedule, m->e, m->round_cnt, &points);
	for (size_t i = 0; i < points.cnt; i++) {
		bool rehearsal = points.items[i].number == schedule_rehearsal(&m->schedule, points.items[i].target);

		VEC_ADD(ret, (struct causal_point){ points.items[i].target, rehearsal ? REHEARSAL_PER_MILLE : per_mille(points.items[i].speedup) });
	}
	VEC_RELEASE(&points);
	return ret->cnt > 0;
}

static void tell_notice(void *arg, const char *text)
{
	(void)arg;
	progress_line("%s", text);
}

/* ---- the end ---- */

/* Mean latency in the slowest round's baseline / that in the fastest's. */
static double slowest_round(const struct measuring *m)
{
	double least = INFINITY, most = 0;

	for (size_t i = 0; i < m->blocks.cnt; i++) {
		const struct block_sample *b = &m->blocks.items[i];
		double sum = 0;

		if (b->point != POINT_BASELINE || !b->cnt)
			continue;
		for (size_t k = 0; k < b->cnt; k++)
			sum += (double)b->latency_ns[k];
		least = fmin(least, sum / (double)b->cnt);
		most = fmax(most, sum / (double)b->cnt);
	}
	return least > 0 && isfinite(least) ? most / least : 0;
}

static void finish(struct measuring *m, const struct run_blocks_result *result)
{
	struct experiment_facts facts = {
		.others_cpus = m->others_cnt ? m->others / m->others_cnt : -1, .cpu_cnt = (double)sysconf(_SC_NPROCESSORS_ONLN),
		.slowest_round = slowest_round(m), .runqueue_share = m->cpu_wait_cnt ? m->cpu_wait / m->cpu_wait_cnt : -1,
		.unfair_share = result->unfair_share, .unfair_function = result->unfair_function, .sleeps_until = result->until_cnt > 0,
		.outside_cnt = result->outside_cnt, .virtual_clock = m->q->virtual_clock,
	};

	schedule_estimate(&m->schedule, &m->blocks, draws_for(m, STEPS_AT_END, DRAWS_AT_END), m->e);
	m->e->interval = result->interval ? arena_strdup(m->e->arena, result->interval) : NULL;
	m->e->ended = result->ended == CAUSAL_ENDED_ENOUGH ? ENDED_NARROW : ENDED_TIME;
	asked_targets_predict(m->asked, m->e);
	experiment_warnings(m->e, &facts);
}

static bool has_statement(const struct experiments *e)
{
	for (size_t i = 0; i < e->list.cnt; i++)
		for (unsigned m = 0; m < GAIN_CNT; m++)
			if (e->list.items[i].metrics[m].has_ci95)
				return true;
	return false;
}

static void say_ends(const struct run_blocks_result *result)
{
	if (result->ended == CAUSAL_ENDED_PROGRAM)
		warn_line(result->exit_status ? "the program ended with status %d: the results so far are kept" :
			  "the program ended before a round of experiments was complete (status %d), several times in a row", result->exit_status);
	if (!result->has_ticks)
		warn_line("no perf events (%s): threads pause only at their waits and releases, so CPU-bound threads pause late",
			  strerror(result->ticks_error));
	if (result->locks_lost)
		warn_line("a function of lock:FUNCTION takes more locks than there is room for: the holding of some did not go faster");
	if (result->real_clock_cnt)
		warn_line("%" PRIu64 " process%s read%s clocks past the wrappers, as static programs do: their clocks and deadlines remain in real time",
			  result->real_clock_cnt, result->real_clock_cnt == 1 ? "" : "es", result->real_clock_cnt == 1 ? "s" : "");
	if (result->blind_cnt)
		warn_line("%" PRIu64 " process%s did not inherit descriptor 110 or so, through which programs see what the kernel sees: waits of"
			  " theirs that only the kernel sees did not go faster", result->blind_cnt, result->blind_cnt == 1 ? "" : "es");
	if (result->lost_round_cnt)
		note_line("%" PRIu32 " round%s cut by the program's end, or the recorder was held up by others: not counted", result->lost_round_cnt, result->lost_round_cnt == 1 ? " was" : "s were");
}

static int answer(struct measuring *m, struct store *s, const struct run *run, const struct run_blocks_result *result)
{
	struct diag diag = DIAG_INIT;
	int status;

	progress_done();
	say_ends(result);
	finish(m, result);
	causal_find_limit(s, run, m->e);
	if (run->number && experiments_write(s, run->number, m->e, &diag) < 0)
		return fail(&diag);
	status = causal_print(m->q, run, m->e);
	if (!has_statement(m->e))
		return fail_now(EXIT_NO_EVIDENCE, "run longer (--for), or choose an interval that ends more often (--interval)",
				"too few intervals for a statement: %" PRIu32 " rounds, %" PRIu64 " intervals in the baselines", m->round_cnt,
				m->e->baseline_cnt);
	return status;
}

static int measure(struct measuring *m, struct store *s, const struct args *command, const struct config *config)
{
	_cleanup_(run_blocks_release) struct run_blocks_result result = { .interval = NULL };
	_cleanup_(run_release) struct run run = { 0 };
	_cleanup_(attach_release) struct attach attach = { { NULL, 0, 0 }, 0 };
	struct record_options record = { .attach = &attach, .config = config, .stdout_to_stderr = m->q->json };
	struct run_blocks_options o = {
		.targets = m->asked->list.items, .target_cnt = m->asked->list.cnt, .interval = m->q->interval,
		.for_ns = (uint64_t)(m->q->for_ns ? m->q->for_ns : FOR_DEFAULT_NS), .seed = m->q->seed,
		.currency = strcmp(m->q->currency, "sleep") == 0 ? CAUSAL_SLEEP : strcmp(m->q->currency, "cpu") == 0 ? CAUSAL_CPU : CAUSAL_AUTO,
		.virtual_clock = m->q->virtual_clock, .kernel = m->asked->needs_kernel || m->q->kernel, .next = next_round, .notice = tell_notice, .arg = m, .record = &record,
	};
	struct diag diag = DIAG_INIT;

	if (m->q->pid)
		VEC_ADD(&attach.pids, m->q->pid);
	if (run_blocks(s, m->q->name, command, &o, &run, &result, &diag) < 0)
		return fail(&diag);
	return answer(m, s, &run, &result);
}

/* Converts the targets for the schedule. */
static void fill_schedule(struct measuring *m, struct schedule_target *targets)
{
	for (size_t i = 0; i < m->asked->list.cnt; i++) {
		const struct causal_target *t = &m->asked->list.items[i];
		const char *name = NULL;

		experiment_target_parse(t->text, &targets[i].kind, &name);
		targets[i].target = arena_strdup(m->e->arena, t->text);
		targets[i].function = name ? arena_strdup(m->e->arena, name) : NULL;
		targets[i].file = t->file ? arena_strdup(m->e->arena, t->file) : NULL;
	}
	m->schedule = (struct schedule){
		.targets = targets, .target_cnt = m->asked->list.cnt, .speedups = m->q->speedups.items, .speedup_cnt = m->q->speedups.cnt,
		.has_metric = m->q->has_metric, .metric = m->q->metric, .slack_ns = SLACK_NS,
	};
}

/* Refuses options that a running process cannot have; a target may need the kernel's side without --kernel. */
static int check_ways(const struct asked_targets *asked, const struct causal_request *q)
{
	if (q->pid && (q->kernel || asked->needs_kernel))
		return fail_now(EXIT_ENVIRONMENT, "start the program from vprof causal; or without --kernel: io, io@FUNCTION",
				"a process that runs already does not see what the kernel sees of its waits, so %s and -p do not go together",
				q->kernel ? "--kernel" : "disk:NAME");
	if (q->pid && q->virtual_clock)
		return fail_now(EXIT_ENVIRONMENT, "start the program from vprof causal",
				"a process that goes on afterwards would keep clocks that are behind, so --virtual-clock and -p do not go together");
	if (asked->needs_kernel && !q->kernel)
		note_line("disk:NAME needs the kernel's side: as with --kernel");
	return EXIT_DONE;
}

static int open_all(const struct causal_request *q, char *const *given, struct config *config, struct args *command, struct store **s,
		    struct diag *reterr)
{
	int r = project_config(config, reterr);

	if (r >= 0 && (given || !q->pid))
		r = record_command(config, "causal", given, command, reterr);
	return r < 0 ? r : store_open(data_dir(), true, s, reterr);
}

int causal_measure(const struct causal_request *q, char *const *given)
{
	_cleanup_(config_release) struct config config = { 0 };
	_cleanup_(store_closep) struct store *s = NULL;
	_cleanup_(args_release) struct args command = ARGS_INIT;
	_cleanup_(experiments_freep) struct experiments *e = experiments_new();
	_cleanup_(asked_targets_release) struct asked_targets asked = { .trace = NULL };
	_cleanup_(freep) struct schedule_target *targets = NULL;
	struct measuring m = { .q = q, .asked = &asked, .e = e };
	struct diag diag = DIAG_INIT;
	int status;

	if (open_all(q, given, &config, &command, &s, &diag) < 0 || asked_targets_find(&asked, q, s, e, &diag) < 0)
		return fail(&diag);
	if (!asked.list.cnt) {
		for (size_t i = 0; i < e->refused.cnt; i++)
			warn_line("target %s: %s%s%s", e->refused.items[i].target, e->refused.items[i].why, e->refused.items[i].instead ?
				  "; instead: " : "", e->refused.items[i].instead ? e->refused.items[i].instead : "");
		if (q->json)
			causal_print(q, &asked.run, e);
		return fail_now(EXIT_ENVIRONMENT, "name what to make faster with --target", "nothing to ask: no target can be made faster");
	}
	status = check_ways(&asked, q);
	if (status)
		return status;
	targets = xcalloc(asked.list.cnt, sizeof(*targets));
	fill_schedule(&m, targets);
	status = measure(&m, s, &command, &config);
	block_samples_release(&m.blocks);
	return status;
}
