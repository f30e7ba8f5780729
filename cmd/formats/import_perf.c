/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_perf.c - `vprof import --from perf`: turns perf's scheduler events into segments and wakeups, by the code that does it for
 * our own recorder (trace/kernel/kernel_merge.c).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/banned.h"
#include "base/proc.h"
#include "cmd/formats/import_format.h"
#include "cmd/messages.h"
#include "trace/perf/perf_script.h"

static struct args arg_comms, arg_pids;

static int parse_pids(const struct args *words, struct perf_choice *ret, uint32_t *pids, struct diag *reterr)
{
	ret->pids = pids;
	for (size_t i = 0; i < words->cnt; i++) {
		char *end;
		unsigned long pid = strtoul(words->items[i], &end, 10);

		if (words->items[i][0] < '1' || words->items[i][0] > '9' || *end || pid > UINT32_MAX)
			return diag_set(reterr, EXIT_USAGE, -EINVAL, "--pid: expected a process's number, found '%s'",
					words->items[i]);
		pids[ret->pid_cnt++] = (uint32_t)pid;
	}
	return 0;
}

static void warn_of_missing(const struct perf_script_stats *stats, uint64_t lost)
{
	if (stats->no_waking)
		warn_line("the input has no wake-ups (sched_waking): the wakers of all waits are unknown");
	else if (stats->no_interrupts)
		warn_line("the input has no interrupts (irq:*, timer:*, block:block_rq_complete): what they woke counts as "
			  "woken by the thread they came upon");
	if (stats->wakeup_only)
		warn_line("the input has no sched_waking: the waker of a sched_wakeup is doubtful, and %zu, printed for "
			  "the thread that ran on the woken thread's CPU, %s not named; record sched:sched_waking", stats->doubtful,
			  stats->doubtful == 1 ? "is" : "are");
	if (stats->timeless)
		warn_line("%zu events have the time 0 and are ignored", stats->timeless);
	if (stats->no_syscalls)
		warn_line("the input has no system calls (raw_syscalls:sys_enter): most waits are of class 'other'");
	if (lost)
		warn_line("perf had lost %llu events: waits may be missing or too long", (unsigned long long)lost);
}

static int read_perf(const char *const *paths, size_t cnt, struct trace **ret, struct diag *reterr)
{
	struct perf_choice choice = {
		.comms = (const char *const *)arg_comms.items, .comm_cnt = arg_comms.cnt,
	};
	_cleanup_(freep) uint32_t *numbers = xcalloc(arg_pids.cnt + 1, sizeof(*numbers));
	struct kernel_trace kernel = { 0 };
	struct perf_script_stats stats;
	int r = parse_pids(&arg_pids, &choice, numbers, reterr);

	if (r < 0)
		return r;
	r = perf_script_read(paths, cnt, &choice, &kernel, &stats, reterr);

	if (r == 0) {
		*ret = trace_new();
		kernel_merge(*ret, &kernel);
		warn_of_missing(&stats, kernel.lost);
	}
	kernel_release(&kernel);
	return r;
}

/* There is no interval to report on; prints what was read, and the views that show it. */
static int announce_perf(const struct run *run, const struct trace *t)
{
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
	size_t threads = 0, waits = 0;

	for (size_t i = 0; i < t->segments.cnt; i++) {
		const struct segment *s = &t->segments.items[i];

		first_ns = s->start_ns < first_ns ? s->start_ns : first_ns;
		last_ns = s->end_ns > last_ns ? s->end_ns : last_ns;
		waits += s->state != STATE_RUNNING && s->state != STATE_RUNNABLE;
	}
	for (size_t i = 0; i < t->threads.cnt; i++)
		threads += kind_is_thread(t->threads.items[i].kind);
	fprintf(stderr, "run %u: %zu threads, %.3f s, %zu waits, %zu wake-ups\n", run->number, threads,
		last_ns > first_ns ? (double)(last_ns - first_ns) / 1e9 : 0.0, waits, t->wakeups.cnt);
	fprintf(stderr, t->wakeups.cnt ?
		"see: vprof show wait-graph, vprof show criticality, vprof show samples --period NS\n" :
		"see: vprof show criticality, vprof show samples --period NS; no waker is known, so there is no wait-graph\n");
	return EXIT_DONE;
}

static bool has_options(void)
{
	return arg_comms.cnt + arg_pids.cnt;
}

static const struct option_desc options[] = {
	{ 0, "comm", "NAME", OPT_STRS, &arg_comms, "perf: only threads named NAME and threads they created (may repeat)" },
	{ 'p', "pid", "PID", OPT_STRS, &arg_pids, "perf: only process PID and processes it created (may repeat)" },
	OPT_END
};

const struct import_format import_perf = {
	.name = "perf", .help = "the output of perf script",
	.read = read_perf, .announce = announce_perf,
	.options = options, .has_options = has_options, .example = "vprof import --from perf --comm NAME FILE...",
};
