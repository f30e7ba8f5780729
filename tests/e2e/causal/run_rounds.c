/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run_rounds.c - some rounds of causal experiments, for tests: what each speed measured, without a choice or a stop rule.
 *
 *	run_rounds TARGET ROUNDS SPEED,SPEED... COMMAND...	or -p PID
 *
 *	ended 0 rounds 3 lost 0 starts 1 ticks 1 outside 0 exit 0
 *	speed 0 intervals 120 p50 4.009 gain 0.0 hits 121 late 0		of the baseline; ms, per cent
 *	speed 500 intervals 130 p50 2.010 gain 49.9 hits 133 late 0
 *
 * A target that is refused: "refused: why", and 3.  KERNEL=1: with the kernel's recorder, as with a target that needs it; VIRTUAL_CLOCK=1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "project/causal/run_blocks.h"
#include "project/config/locate.h"
#include "project/runs/project.h"

enum { SPEEDS = 8, TIME_S = 60 };

struct measured {
	uint32_t speed;
	VEC(int64_t) latencies;
	uint64_t hit_cnt, late_cnt;
	int64_t delay_ns;
};

static struct measured measured[SPEEDS + 1];	/* the first is the baseline */
static unsigned speed_cnt, rounds_wanted;

static void take(const struct causal_block *b)
{
	struct measured *m = &measured[0];

	while (m->speed != b->speed)
		m++;
	for (size_t i = 0; i < b->interval_cnt; i++)
		VEC_ADD(&m->latencies, b->latency_ns[i]);
	m->hit_cnt += b->target_cnt;
	m->late_cnt += b->late_cnt;
	m->delay_ns += b->delay_ns;
}

static bool next(void *arg, const struct causal_round *done, causal_points *ret)
{
	(void)arg;
	if (done && done->block_cnt != speed_cnt + 1) {
		printf("error: round %u has %zu blocks, not %u\n", done->number, done->block_cnt, speed_cnt + 1);
		exit(4);
	}
	for (size_t i = 0; done && i < done->block_cnt; i++)
		take(&done->blocks[i]);
	for (unsigned i = 1; i <= speed_cnt; i++)
		VEC_ADD(ret, (struct causal_point){ 0, measured[i].speed });
	return !done || done->number < rounds_wanted;
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void print(struct measured *m)
{
	static double base;
	double p50 = 0;

	if (m->latencies.cnt) {
		qsort(m->latencies.items, m->latencies.cnt, sizeof(m->latencies.items[0]), by_size);
		p50 = (double)m->latencies.items[m->latencies.cnt / 2] / 1e6;
	}
	if (!m->speed)
		base = p50;
	printf("speed %u intervals %zu p50 %.3f gain %.1f hits %llu late %llu delay %.1f\n", m->speed, m->latencies.cnt, p50,
	       base > 0 ? 100 * (1 - p50 / base) : 0, (unsigned long long)m->hit_cnt, (unsigned long long)m->late_cnt, (double)m->delay_ns / 1e6);
}

static int run(const struct run_blocks_options *o, const struct args *command, struct store *s)
{
	struct run run = { .name = NULL };
	struct run_blocks_result r;
	struct diag diag = DIAG_INIT;

	if (run_blocks(s, NULL, command, o, &run, &r, &diag) < 0) {
		printf("error: %s\n", diag.text);
		return 4;
	}
	if (r.real_clock_cnt)
		printf("real clocks %llu\n", (unsigned long long)r.real_clock_cnt);
	printf("ended %d rounds %u lost %u starts %u ticks %d outside %llu exit %d\n", (int)r.ended, r.round_cnt, r.lost_round_cnt,
	       r.start_cnt, r.has_ticks, (unsigned long long)r.outside_cnt, r.exit_status);
	for (unsigned i = 0; i <= speed_cnt; i++)
		print(&measured[i]);
	run_release(&run);
	run_blocks_release(&r);
	return 0;
}

int main(int argc, char **argv)
{
	struct config config = { .path = NULL };
	struct attach running = { { NULL, 0, 0 }, 0 };
	struct record_options record = { .config = &config, .attach = &running };
	struct causal_target target;
	struct causal_refusal refusal;
	struct args command = ARGS_INIT;
	struct store *s = NULL;
	struct diag diag = DIAG_INIT;
	int r;

	if (argc < 5)
		return 2;
	rounds_wanted = (unsigned)atoi(argv[2]);
	for (char *at = strtok(argv[3], ","); at && speed_cnt < SPEEDS; at = strtok(NULL, ","))
		measured[++speed_cnt].speed = (uint32_t)atoi(at);
	if (strcmp(argv[4], "-p") == 0 && argc == 6)
		VEC_ADD(&running.pids, (pid_t)atoi(argv[5]));
	else
		args_add_all(&command, argv + 4);
	r = project_config(&config, &diag);
	if (r == 0)
		r = store_open(data_dir(), true, &s, &diag);
	if (r == 0)
		r = causal_target_parse(argv[1], &target, &diag);
	if (r == 0)
		r = causal_target_find(s, &target, &refusal, &diag);
	if (r) {
		printf("refused: %s\n", r > 0 ? refusal.why : diag.text);
		return 3;
	}
	return run(&(struct run_blocks_options){ .targets = &target, .target_cnt = 1, .for_ns = TIME_S * 1000000000ULL, .seed = 7,
		.virtual_clock = getenv("VIRTUAL_CLOCK"), .kernel = getenv("KERNEL") || causal_target_needs_kernel(&target), .next = next, .record = &record }, &command, s);
}
