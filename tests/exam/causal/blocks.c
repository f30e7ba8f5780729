/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * blocks.c - blocks of a program whose target is virtually faster, blocks in which it really is, and some in which nothing is, in
 * random order in one process (make exam-causal).
 *
 *	blocks TARGET ROUNDS SPEED,SPEED... BLOCK_MS METRIC CURRENCY COMMAND...
 *
 *	base 960 4.139 halves 0.2
 *	speed 500 virtual 930 2.129 48.6 real 940 2.105 49.1 halves 0.1
 *	cover 20 of 20 groups, of the mean 19, floor 0.50		with GROUP=6: rounds a group
 *	others 0.02 outside 0
 *
 * That is: intervals, the metric in ms, the gain in per cent; by how many points the real gain of odd rounds is off from that of even
 * ones.  A group is covered if its 95 % interval, by the product's estimates, contains the real gain of all rounds.  KERNEL=1: with the
 * kernel's recorder, as with a target that needs it; VIRTUAL_CLOCK=1.
 */
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "analysis/causal/estimate.h"
#include "project/causal/run_blocks.h"
#include "project/config/locate.h"
#include "project/runs/project.h"

#define INERT "nothing"			/* a function that is never called: its blocks are really faster ones */
#define SLACK_NS 5000
enum { SPEEDS = 8, TARGET, REALLY, PAGE = 4096, TIME_S = 1800, DRAWS = 300, REHEARSAL = 1 };

struct measured {
	uint32_t speed;
	VEC(int64_t) latencies[2][2];	/* virtually or really; even and odd rounds */
};

static struct measured measured[SPEEDS + 1];	/* the first is the baseline, for which both are the same */
static block_samples samples;
static unsigned speed_cnt, rounds_wanted, group;
static volatile uint32_t *really;
static enum gain_metric metric;
static double others;
static unsigned others_cnt;

static uint32_t number_of(const struct causal_block *b)
{
	return b->speed ? b->speed : POINT_BASELINE;
}

static void take(const struct causal_block *b, uint32_t round)
{
	struct measured *m = &measured[0];
	unsigned kind = b->speed && b->target == 1;

	if (b->others >= 0) {
		others += b->others;
		others_cnt++;
	}
	if (!kind)
		block_samples_add(&samples, round, number_of(b), b->latency_ns, b->interval_cnt, b->real_ns, b->delay_ns);
	if (b->speed == REHEARSAL && !kind)
		return;
	while (m->speed != b->speed)
		m++;
	for (size_t i = 0; i < b->interval_cnt; i++)
		VEC_ADD(&m->latencies[kind][round % 2], b->latency_ns[i]);
}

static bool next(void *arg, const struct causal_round *done, causal_points *ret)
{
	(void)arg;
	for (size_t i = 0; done && i < done->block_cnt; i++)
		take(&done->blocks[i], done->number);
	if (done)
		fprintf(stderr, "round %u of %u\r", done->number, rounds_wanted);
	for (unsigned i = 1; i <= speed_cnt; i++) {
		VEC_ADD(ret, (struct causal_point){ 0, measured[i].speed });
		VEC_ADD(ret, (struct causal_point){ 1, measured[i].speed });
	}
	if (group)
		VEC_ADD(ret, (struct causal_point){ 0, REHEARSAL });
	return !done || done->number < rounds_wanted;
}

static void set(void *arg, const struct causal_point *p)
{
	(void)arg;
	*really = p->speed && p->target == 1 ? p->speed : 0;
}

/* ---- what came out ---- */

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* halves: which rounds, 1 even, 2 odd, 3 all. */
static double value(const struct measured *m, unsigned kind, unsigned halves, size_t *ret_cnt)
{
	VEC(int64_t) all = { NULL, 0, 0 };
	double q = gain_metric_quantile(metric), sum = 0, ret;

	for (unsigned half = 0; half < 2; half++)
		for (size_t i = 0; halves & 1U << half && i < m->latencies[kind][half].cnt; i++)
			VEC_ADD(&all, m->latencies[kind][half].items[i]);
	*ret_cnt = all.cnt;
	if (!all.cnt)
		return 0;
	qsort(all.items, all.cnt, sizeof(all.items[0]), by_size);
	for (size_t i = 0; i < all.cnt; i++)
		sum += (double)all.items[i];
	ret = q > 0 ? (double)all.items[(size_t)(q * (double)(all.cnt - 1))] : sum / (double)all.cnt;
	VEC_RELEASE(&all);
	return ret / 1e6;
}

static double gain(const struct measured *m, unsigned kind, unsigned halves)
{
	size_t cnt;
	double base = value(&measured[0], 0, halves, &cnt);

	return base > 0 ? 100 * (1 - value(m, kind, halves, &cnt) / base) : 0;
}

static void print_all(void)
{
	size_t cnt, real_cnt;
	double base = value(&measured[0], 0, 3, &cnt), even = value(&measured[0], 0, 1, &real_cnt);

	printf("base %zu %.4f halves %.2f\n", cnt, base, even > 0 ? fabs(100 * (value(&measured[0], 0, 2, &real_cnt) / even - 1)) : 100);
	for (unsigned i = 1; i <= speed_cnt; i++) {
		const struct measured *m = &measured[i];
		double virtually = value(m, 0, 3, &cnt), truly = value(m, 1, 3, &real_cnt);

		printf("speed %u virtual %zu %.4f %.2f real %zu %.4f %.2f halves %.2f\n", m->speed, cnt, virtually, gain(m, 0, 3), real_cnt,
		       truly, gain(m, 1, 3), fabs(gain(m, 1, 1) - gain(m, 1, 2)));
	}
}

/* Whether the interval of these rounds holds the truth. */
static bool is_covered(uint32_t first, enum gain_metric of, double truth, double *ret_floor)
{
	block_samples some = { NULL, 0, 0 };
	struct experiments *e = experiments_new();
	struct experiment x = { .speedup = measured[1].speed / 1000.0 }, rehearsal = { .speedup = 0.001 };
	struct estimate_options o = { .draws = DRAWS };
	bool ret;

	for (size_t i = 0; i < samples.cnt; i++)
		if (samples.items[i].round >= first && samples.items[i].round < first + group)
			VEC_ADD(&some, samples.items[i]);
	estimate_baseline(&some, e);
	estimate_gains(&some, REHEARSAL, &o, &rehearsal);
	*ret_floor = o.floor = estimate_floor(&rehearsal, e->baseline[GAIN_P50], SLACK_NS);
	estimate_gains(&some, measured[1].speed, &o, &x);
	ret = x.metrics[of].has_ci95 && x.metrics[of].ci95[0] <= truth && truth <= x.metrics[of].ci95[1];
	VEC_RELEASE(&some);
	experiments_free(e);
	return ret;
}

static void print_coverage(void)
{
	unsigned held = 0, held_mean = 0, cnt = 0;
	double truth, mean, floor = 0, f;

	metric = GAIN_MEAN;
	mean = gain(&measured[1], 1, 3) / 100;
	metric = GAIN_P50;
	truth = gain(&measured[1], 1, 3) / 100;
	for (uint32_t first = 1; first + group - 1 <= rounds_wanted; first += group) {
		held += is_covered(first, GAIN_P50, truth, &f);
		held_mean += is_covered(first, GAIN_MEAN, mean, &f);
		floor += f;
		cnt++;
	}
	printf("cover %u of %u groups, of the mean %u, floor %.2f\n", held, cnt, held_mean, cnt ? 100 * floor / cnt : 0);
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
	if (r.ended != CAUSAL_ENDED_ENOUGH) {
		printf("error: ended too early (%d), the program with %d\n", (int)r.ended, r.exit_status);
		return r.exit_status == 77 ? 77 : 4;
	}
	print_all();
	if (group)
		print_coverage();
	printf("others %.3f outside %llu\n", others_cnt ? others / others_cnt : 0, (unsigned long long)r.outside_cnt);
	run_release(&run);
	run_blocks_release(&r);
	return 0;
}

/* The recorder must run while the program has all CPUs. */
static void be_first(void)
{
	struct sched_param before_it = { .sched_priority = 2 };

	if (getenv("EXAM_FIRST"))
		sched_setscheduler(0, SCHED_RR, &before_it);
}

static void open_really(void)
{
	static const char path[] = "really";
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, PAGE)) {
		perror(path);
		exit(4);
	}
	really = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (really == MAP_FAILED) {
		perror(path);
		exit(4);
	}
	close(fd);
	setenv("EXAM_REALLY", path, 1);
}

static int find(struct store *s, const char *text, struct causal_target *ret, struct diag *diag)
{
	struct causal_refusal refusal = { NULL, NULL, NULL };
	int r = causal_target_parse(text, ret, diag);

	if (r == 0)
		r = causal_target_find(s, ret, &refusal, diag);
	if (r)
		printf("error: %s\n", r > 0 ? refusal.why : diag->text);
	return r;
}

int main(int argc, char **argv)
{
	struct config config = { .path = NULL };
	struct attach running = { { NULL, 0, 0 }, 0 };
	struct record_options record = { .config = &config, .attach = &running };
	struct causal_target targets[2];
	struct args command = ARGS_INIT;
	struct store *s = NULL;
	struct diag diag = DIAG_INIT;

	if (argc < 8 || !gain_metric_parse(argv[5], &metric))
		return 2;
	rounds_wanted = (unsigned)atoi(argv[2]);
	group = getenv("GROUP") ? (unsigned)atoi(getenv("GROUP")) : 0;
	for (char *at = strtok(argv[3], ","); at && speed_cnt < SPEEDS; at = strtok(NULL, ","))
		measured[++speed_cnt].speed = (uint32_t)atoi(at);
	args_add_all(&command, argv + 7);
	be_first();
	open_really();
	if (project_config(&config, &diag) < 0 || store_open(data_dir(), true, &s, &diag) < 0) {
		printf("error: %s\n", diag.text);
		return 4;
	}
	if (find(s, argv[1], &targets[0], &diag) || find(s, INERT, &targets[1], &diag))
		return 4;
	return run(&(struct run_blocks_options){
		.targets = targets, .target_cnt = 2, .for_ns = TIME_S * 1000000000ULL, .block_ns = (uint64_t)atoi(argv[4]) * 1000000,
		.currency = strcmp(argv[6], "cpu") == 0 ? CAUSAL_CPU : strcmp(argv[6], "sleep") == 0 ? CAUSAL_SLEEP : CAUSAL_AUTO,
		.virtual_clock = getenv("VIRTUAL_CLOCK"), .kernel = getenv("KERNEL") || causal_target_needs_kernel(&targets[0]),
		.next = next, .set = set, .record = &record,
	}, &command, s);
}
