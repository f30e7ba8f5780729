/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * causal.c - `vprof causal`: what would be gained if this were faster?  Its options.
 *
 * causal_measure.c runs experiments, causal_predict.c replays a trace, causal_print.c prints the answer.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "cmd/causal/causal.h"
#include "cmd/commands.h"
#include "cmd/messages.h"
#include "project/config/data_lock.h"
#include "project/config/quantity.h"
#include "report/report.h"

#define K_DEFAULT 5
#define SPEEDUPS_MAX 16

static struct args arg_targets, arg_metrics;
static const char *arg_speedups = "25,50,75,100", *arg_interval, *arg_for, *arg_predict, *arg_currency, *arg_name;
static const char *arg_format = "text", *arg_seed, *arg_pid;
static unsigned arg_k = K_DEFAULT;
static bool arg_virtual_clock, arg_kernel;

/* ---- options ---- */

static int parse_speedups(struct causal_request *q)
{
	const char *at = arg_speedups;

	for (;;) {
		char *end;
		double percent = strtod(at, &end), speedup;
		size_t i = 0;

		if (end == at || (*end && *end != ',' && strcmp(end, "%") != 0) || !(percent >= 1 && percent <= 100))
			return fail_now(EXIT_USAGE, "vprof causal --speedups 25,50,75,100",
					"--speedups are per cent from 1 to 100, with commas between them, not '%s'", arg_speedups);
		speedup = floor(percent * 10 + 0.5) / 1000;	/* a block's speed is per mille */
		while (i < q->speedups.cnt && q->speedups.items[i] < speedup)
			i++;
		if (i == q->speedups.cnt || q->speedups.items[i] != speedup) {
			VEC_ADD(&q->speedups, 0);
			memmove(&q->speedups.items[i + 1], &q->speedups.items[i], (q->speedups.cnt - 1 - i) * sizeof(double));
			q->speedups.items[i] = speedup;
		}
		if (q->speedups.cnt > SPEEDUPS_MAX)
			return fail_now(EXIT_USAGE, NULL, "--speedups takes %d at most", SPEEDUPS_MAX);
		if (*end != ',')
			return EXIT_DONE;
		at = end + 1;
	}
}

static int parse_targets(struct causal_request *q)
{
	q->targets = arg_targets;
	for (size_t i = 0; i < q->targets.cnt; i++) {
		enum asked_kind kind;
		const char *name;

		if (!experiment_target_parse(q->targets.items[i], &kind, &name))
			return fail_now(EXIT_USAGE,
					"FUNCTION, body:FUNCTION, pc:FUNCTION, io, io@FUNCTION, lock:NAME, disk:NAME; with --predict also"
					" wait:NAME, queue, runqueue, cpus:N", "--target '%s' names nothing", q->targets.items[i]);
	}
	return EXIT_DONE;
}

static int parse_metrics(struct causal_request *q)
{
	for (size_t i = 0; i < arg_metrics.cnt; i++) {
		enum gain_metric m;

		if (!gain_metric_parse(arg_metrics.items[i], &m))
			return fail_now(EXIT_USAGE, "vprof causal --metric p99",
					"--metric is one of mean, variance, p50, p90, p99, p99.9, throughput, not '%s'", arg_metrics.items[i]);
		q->metric = q->has_metric ? q->metric : m;	/* the first one is judged by; all are printed */
		q->has_metric = true;
	}
	return EXIT_DONE;
}

static int parse_number(const char *option, const char *text, uint64_t most, uint64_t *ret)
{
	errno = 0;
	*ret = text ? strtoull(text, NULL, 10) : 0;
	if (text && (!*text || text[strspn(text, "0123456789")] || errno || *ret == 0 || *ret > most))
		return fail_now(EXIT_USAGE, NULL, "--%s is a number above 0, not '%s'", option, text);
	return EXIT_DONE;
}

static int parse_words(struct causal_request *q)
{
	uint64_t pid = 0;
	int status;

	q->currency = arg_currency ? arg_currency : "auto";
	if (strcmp(q->currency, "auto") != 0 && strcmp(q->currency, "sleep") != 0 && strcmp(q->currency, "cpu") != 0)
		return fail_now(EXIT_USAGE, NULL, "--currency is auto, sleep or cpu, not '%s'", arg_currency);
	if (strcmp(arg_format, "text") != 0 && strcmp(arg_format, "json") != 0)
		return fail_now(EXIT_USAGE, "vprof show causal --format csv, and svg, print what it found",
				"causal cannot be printed as '%s': --format text, --format json", arg_format);
	if (arg_for && !parse_duration(arg_for, &q->for_ns))
		return fail_now(EXIT_USAGE, "vprof causal --for 2m -- COMMAND", "--for is a time above 0, as 90s or 2m, not '%s'",
				arg_for);
	status = parse_number("seed", arg_seed, UINT64_MAX, &q->seed);
	status = status ? status : parse_number("pid", arg_pid, INT32_MAX, &pid);
	q->pid = (pid_t)pid;
	q->json = strcmp(arg_format, "json") == 0;
	return status;
}

static int parse_request(struct causal_request *q)
{
	int status = parse_speedups(q);

	status = status ? status : parse_targets(q);
	status = status ? status : parse_metrics(q);
	status = status ? status : parse_words(q);
	q->interval = arg_interval;
	q->name = arg_name;
	q->k = arg_k;
	q->virtual_clock = arg_virtual_clock;
	q->kernel = arg_kernel;
	return status;
}

/* An option that was given and has a meaning for a measurement only; NULL: none. */
static const char *option_of_measurement(const struct causal_request *q)
{
	return q->name ? "-o" : q->pid ? "-p" : q->for_ns ? "--for" : q->seed ? "--seed" : arg_currency ? "--currency" :
	       q->kernel ? "--kernel" : q->virtual_clock ? "--virtual-clock" : NULL;
}

static int run_request(const struct causal_request *q, const struct args *words, char *const *command)
{
	const char *run = arg_predict && *arg_predict ? arg_predict : words->cnt ? words->items[0] : NULL;
	const char *measured;

	if (!arg_predict && words->cnt)
		return fail_now(EXIT_USAGE, "vprof causal -- COMMAND; or vprof causal --predict RUN",
				"causal takes RUN only with --predict, and a command after --: not '%s'", words->items[0]);
	if (!arg_predict)
		return causal_measure(q, command);
	if (command)
		return fail_now(EXIT_USAGE, "vprof causal -- COMMAND measures",
				"--predict runs nothing, so it takes no command");
	measured = option_of_measurement(q);
	if (measured)
		return fail_now(EXIT_USAGE, NULL, "--predict runs nothing, so %s has no meaning", measured);
	if (words->cnt > (*arg_predict ? 0U : 1U))
		return fail_now(EXIT_USAGE, NULL, "causal --predict: one run at a time");
	return causal_predict(q, run);
}

static int causal_run(int argc, char **argv)
{
	_cleanup_(args_release) struct args words = ARGS_INIT;
	struct causal_request q = { .k = K_DEFAULT };
	char *const *command = NULL;
	int status;

	if (options_parse_command(argc, argv, &cmd_causal, &words, &command, &status))
		return status;
	status = parse_request(&q);
	if (!status)
		status = run_request(&q, &words, command);
	VEC_RELEASE(&q.speedups);
	return status;
}

static const struct option_desc causal_options[] = {
	{ 0, "target", "T", OPT_STRS, &arg_targets,
	  "make this faster: FUNCTION, body:FUNCTION, pc:FUNCTION, io, io@FUNCTION, lock:NAME, disk:NAME; with --predict also"
	  " wait:NAME, queue, runqueue, cpus:N; may be repeated (default: the factors of the latest run)" },
	{ 0, "speedups", "LIST", OPT_STR, &arg_speedups, "by how many per cent (default 25,50,75,100)" },
	{ 0, "metric", "M", OPT_STRS, &arg_metrics,
	  "judge by mean, variance, p50, p90, p99, p99.9 or throughput; may be repeated, the first"
	  " counts (default: p50 below 30 rounds, then the mean)" },
	{ 0, "interval", "NAME", OPT_STR, &arg_interval, "judge intervals of this name (default: the name with the most)" },
	{ 0, "for", "TIME", OPT_STR, &arg_for,
	  "stop after this time, 90s or 2m (default: when every gain is known to 2 points, 10m at"
	  " most)" },
	{ 'k', "k", "N", OPT_UINT, &arg_k, "ask at most N targets (default 5; 0: all)" },
	{ 0, "predict", "RUN", OPT_OPTIONAL, &arg_predict, "run nothing: predict from the trace of RUN (default: the latest);"
	  " hypotheses" },
	{ 0, "virtual-clock", NULL, OPT_FLAG, &arg_virtual_clock,
	  "run the program's clocks and deadlines in virtual time, for load generators and timeouts inside the run" },
	{ 0, "kernel", NULL, OPT_FLAG, &arg_kernel,
	  "record the kernel's side, too: page faults and I/O that no wrapper sees become faster as well (io, io@FUNCTION, FUNCTION, lock:NAME);"
	  " on by itself with disk:NAME" },
	{ 0, "currency", "C", OPT_STR, &arg_currency, "a paused thread sleeps, or holds its CPU: auto (default), sleep, cpu" },
	{ 0, "seed", "N", OPT_STR, &arg_seed, "seed for the random order of blocks (default: a new one each time)" },
	{ 'p', "pid", "PID", OPT_STR, &arg_pid, "experiment with a process that is already running" },
	{ 'o', "name", "NAME", OPT_STR, &arg_name, "name the run" },
	{ 0, "format", "FORMAT", OPT_STR, &arg_format, "text (default) or json" },
	LOCK_OPTION,
	OPT_END
};
static const char *const causal_examples[] = {
	"vprof causal --predict", "vprof causal -- ./bench.sh", "vprof causal --target log_flush --metric p99 --for 2m -- ./bench.sh", NULL
};
const struct cmd cmd_causal = {
	.name = "causal", .synopsis = "[--target T]... [--predict[=RUN]] [-- COMMAND...]",
	.summary = "what would be gained if this were faster",
	.options = causal_options, .run = causal_run, .examples = causal_examples,
};
