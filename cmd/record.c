/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record.c - `vprof record -- ./bench.sh`: one run, recorded, analysed, kept.
 *
 * The user's command runs with its own stdin, stdout and stderr; this process stays beside it as the drainer.  Ctrl-C
 * ends the command; the recording up to then is analysed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/file.h"
#include "base/ours.h"
#include "cmd/commands.h"
#include "cmd/messages.h"
#include "project/build/check_places.h"
#include "project/config/data_lock.h"
#include "project/config/locate.h"
#include "project/config/quantity.h"
#include "project/record/record_requests.h"
#include "project/record/record_steps.h"
#include "project/runs/project.h"

static const char *arg_output, *arg_sample, *arg_kernel, *arg_limit, *arg_snapshot,
	*arg_by, *arg_stacks, *arg_samples, *arg_attach, *arg_duration, *arg_arena,
	*arg_pause, *arg_resume, *arg_delay, *arg_digest_every, *arg_to;
static struct args arg_keep;
static unsigned arg_buffer_mib, arg_pid, arg_repeat;

#define REQUESTS_SAMPLES_HZ "997"	/* of no clock's ticks a divisor */

enum { LIMIT_MIN = 1 << 20 };
static const char *arg_start, *arg_end, *arg_key;
#define DIGEST_EVERY_MIN_NS 100000000
static bool arg_ignore_status, arg_start_paused, arg_requests, arg_from_arrival, arg_order;

/* --sample, else [record] sample of vprof.conf. */
static int take_sample(const struct config *c, struct sample *ret)
{
	*ret = c->sample;
	if (!arg_sample || sample_parse(arg_sample, ret))
		return EXIT_DONE;
	return fail_now(EXIT_USAGE, "vprof record --sample 1/10",
			"record: --sample is a part of the intervals like 1/10, auto, or auto=0.1, not '%s'", arg_sample);
}

/* --by trace: on all hosts the same requests. */
static int take_by(struct record_options *o)
{
	o->sample_by_trace = arg_by;
	if (arg_by && strcmp(arg_by, "trace") != 0)
		return fail_now(EXIT_USAGE, "vprof record --sample 1/16 --by trace -- COMMAND", "record: --by is trace, not '%s'", arg_by);
	if (arg_by && o->sample.full >= o->sample.of)
		return fail_now(EXIT_USAGE, "vprof record --sample 1/16 --by trace -- COMMAND",
				"record: --by says which intervals --sample chooses, and without it all are recorded in full");
	return EXIT_DONE;
}

/* Samples come with stacks, because otherwise a thread that only computes has no functions. */
static int take_stacks(struct record_options *o)
{
	char *end = NULL;
	unsigned long hz = arg_samples ? strtoul(arg_samples, &end, 10) : SAMPLES_HZ_DEFAULT;

	if (arg_samples && (*arg_samples < '0' || *arg_samples > '9' || *end || hz > SAMPLES_HZ_MAX))
		return fail_now(EXIT_USAGE, "vprof record --kernel --stacks --samples 1000",
				"record: --samples is a number a second from 0 to %d, not '%s'",
				SAMPLES_HZ_MAX, arg_samples);
	if (!kernel_stacks_parse(arg_stacks, &o->stacks))
		return fail_now(EXIT_USAGE, "vprof record --kernel --stacks=both",
				"record: --stacks is user, kernel, both or off, not '%s'", arg_stacks);
	if (arg_samples && !arg_stacks && hz)
		o->stacks = KERNEL_STACKS_USER;
	o->samples_hz = o->stacks ? (unsigned)hz : 0;
	if (o->stacks && o->kernel == KERNEL_MODE_OFF)
		return fail_now(EXIT_USAGE, "vprof record --kernel --stacks",
				"record: %s needs the kernel recorder, which is off without --kernel",
				arg_stacks ? "--stacks" : "--samples");
	return EXIT_DONE;
}

/* The kernel's side reports requests; without stacks their causes are unknown. */
static int take_requests(struct record_options *o)
{
	struct diag diag = DIAG_INIT;

	if (record_take_calls(o, arg_start, arg_end, arg_key, &diag) < 0)
		return fail(&diag);
	arg_requests = arg_requests || o->start;
	o->requests = arg_requests;
	o->from_arrival = arg_from_arrival;
	if (arg_requests && arg_from_arrival)
		return fail_now(EXIT_USAGE, "vprof record --from-arrival -- COMMAND",
				"record: --from-arrival is for the program's own intervals; those of --requests begin at the arrival anyway, and "
				"those of --start where it says");
	if (arg_from_arrival && o->kernel != KERNEL_MODE_REQUIRE)
		return fail_now(EXIT_USAGE, "vprof record --from-arrival -- COMMAND",
				"record: --from-arrival needs --kernel=require (its default), not --kernel=%s", arg_kernel);
	if (arg_requests && o->kernel != KERNEL_MODE_REQUIRE)
		return fail_now(EXIT_USAGE, "vprof record --requests -- COMMAND",
				"record: --requests needs --kernel=require (its default), not --kernel=%s", arg_kernel);
	if (arg_requests && !arg_stacks)
		arg_stacks = "user";
	if (arg_requests && !arg_samples)
		arg_samples = REQUESTS_SAMPLES_HZ;
	return take_stacks(o);
}

/* A running process without the runtime can only be recorded by the kernel's side. */
static int take_kernel(struct record_options *o)
{
	if (!kernel_mode_parse(arg_kernel, &o->kernel))
		return fail_now(EXIT_USAGE, "vprof record --kernel=require",
				"record: --kernel is auto, require or off, not '%s'", arg_kernel);
	o->kernel_pid = (pid_t)arg_pid;
	o->kernel_if_alone = arg_pid && !arg_kernel && !arg_stacks && !arg_samples && !arg_requests && !arg_start && !arg_from_arrival;
	if ((arg_pid || arg_requests || arg_start || arg_from_arrival) && !arg_kernel)
		o->kernel = KERNEL_MODE_REQUIRE;
	return take_requests(o);
}

/* Refused where another user could put a link in root's way. */
static int take_arena_dir(const char *dir)
{
	_cleanup_(freep) char *why = NULL;
	int fd = ours_open(dir, false, &why);

	if (fd < 0)
		return fail_now(EXIT_ENVIRONMENT, "vprof record --arena DIR, one of root's, or of this user's",
				"record: the recording buffer cannot be in '%s': %s", dir, why ? why : strerror(-fd));
	close(fd);
	return EXIT_DONE;
}

/* --arena, else VPROF_ARENA_DIR.  A directory has a slash in it, so that fd is none. */
static int take_arena(struct record_options *o)
{
	const char *arena = arg_arena ? arg_arena : getenv("VPROF_ARENA_DIR");

	if (!arena || !*arena)
		return EXIT_DONE;
	o->inherit_arena = strcmp(arena, "fd") == 0;
	if (!o->inherit_arena && !strchr(arena, '/'))
		return fail_now(EXIT_USAGE, "vprof record --arena /srv/shared -- COMMAND",
				"record: --arena is a directory with a slash in its name, or fd, not '%s'", arena);
	o->arena_dir = o->inherit_arena ? NULL : arena;
	if (o->arena_dir && take_arena_dir(arena))
		return EXIT_ENVIRONMENT;
	if (o->inherit_arena && (arg_pid || arg_attach))
		return fail_now(EXIT_USAGE, "vprof record --arena DIR -p PID",
				"record: --arena fd is for programs that COMMAND starts: a running process inherits nothing");
	return EXIT_DONE;
}

/* 30s, or 200M, or both, each in an option of its own. */
static int take_keep(struct record_options *o)
{
	int64_t ns;

	for (size_t i = 0; i < arg_keep.cnt; i++) {
		if (parse_duration(arg_keep.items[i], &ns))
			o->keep_ns = (uint64_t)ns;
		else if (!parse_bytes(arg_keep.items[i], &o->keep_bytes) || o->keep_bytes < LIMIT_MIN)
			return fail_now(EXIT_USAGE, "vprof record --keep 30s --keep 200M",
					"record: --keep is a time with its unit, or a size from 1M on, not '%s'",
					arg_keep.items[i]);
	}
	if (!arg_keep.cnt)
		return EXIT_DONE;
	if (o->kernel != KERNEL_MODE_OFF && !o->kernel_if_alone)
		return fail_now(EXIT_USAGE, "vprof record --keep 30s -- COMMAND",
				"record: the kernel's side is kept as a whole: --kernel and --keep do not go together");
	if (o->limit_bytes && (!o->keep_bytes || o->limit_bytes < o->keep_bytes))
		o->keep_bytes = o->limit_bytes;
	o->limit_bytes = 0;
	return EXIT_DONE;
}

/* The kept part has to reach back further than a window, and one that is not digested yet. */
enum { WINDOWS_KEPT = 2 };

/* A recording with digests does not end at --limit: it keeps that much of the trace, and of digests that were not sent. */
static int take_digests(struct record_options *o)
{
	if (!arg_digest_every && !arg_to)
		return EXIT_DONE;
	if (!arg_digest_every || !arg_to)
		return fail_now(EXIT_USAGE, "vprof record --digest-every 60s --to COMMAND", "record: --digest-every and --to go together");
	if (!parse_duration(arg_digest_every, &o->digest_every_ns) || o->digest_every_ns < DIGEST_EVERY_MIN_NS)
		return fail_now(EXIT_USAGE, "vprof record --digest-every 60s --to COMMAND",
				"record: --digest-every is a time with its unit, from 100ms on, not '%s'", arg_digest_every);
	if (!*arg_to)
		return fail_now(EXIT_USAGE, "vprof record --digest-every 60s --to COMMAND", "record: --to is a command");
	if (o->kernel != KERNEL_MODE_OFF && !o->kernel_if_alone)
		return fail_now(EXIT_USAGE, "vprof record --digest-every 60s --to COMMAND",
				"record: what the kernel saw is known at the end only: --kernel and --digest-every do not go together");
	if (o->keep_ns && (int64_t)o->keep_ns < WINDOWS_KEPT * o->digest_every_ns)
		return fail_now(EXIT_USAGE, "vprof record --digest-every 60s --keep 10m --to COMMAND",
				"record: --keep is to be at least twice as long as --digest-every, or windows are gone before they are digested");
	if (o->kernel_if_alone)		/* of a process without probes nothing would come */
		o->kernel = KERNEL_MODE_OFF;
	o->kernel_if_alone = false;
	o->digest_to = arg_to;
	if (o->limit_bytes || (o->keep_bytes && arg_limit)) {
		o->spool_bytes = o->limit_bytes ? o->limit_bytes : o->keep_bytes;
		o->keep_bytes = o->spool_bytes;
		o->limit_bytes = 0;
	}
	return EXIT_DONE;
}

/* perf's --delay takes bare milliseconds; here a time has its unit, as everywhere. */
static int take_delay(struct record_options *o)
{
	int64_t ns = 0;

	if (arg_delay && !parse_duration(arg_delay, &ns))
		return fail_now(EXIT_USAGE, "vprof record --delay 10s -- COMMAND",
				"record: --delay is a time with its unit, not '%s'", arg_delay);
	o->delay_ns = (uint64_t)ns;
	o->start_paused = arg_start_paused;
	if ((arg_delay || arg_start_paused) && o->kernel != KERNEL_MODE_OFF && !o->kernel_if_alone)
		return fail_now(EXIT_USAGE, "vprof record --delay 10s -- COMMAND",
				"record: the kernel's side cannot be paused: --kernel and --%s do not go together",
				arg_delay ? "delay" : "start-paused");
	return EXIT_DONE;
}

/* Running processes: -p, or those of a run. */
static int take_attach(struct attach *a, struct store *s, struct diag *reterr)
{
	if (arg_pid)
		VEC_ADD(&a->pids, (pid_t)arg_pid);
	if (arg_duration && !arg_pid && !arg_attach) {
		diag_set(reterr, EXIT_USAGE, -EINVAL, "record: --duration needs -p or --attach");
		return diag_remedy(reterr, -EINVAL, "vprof record -p PID --duration 10s");
	}
	if (arg_duration && !parse_duration(arg_duration, &a->duration_ns)) {
		diag_set(reterr, EXIT_USAGE, -EINVAL, "record: --duration is a time with its unit, not '%s'",
			 arg_duration);
		return diag_remedy(reterr, -EINVAL, "vprof record -p PID --duration 10s");
	}
	return arg_attach ? attach_to_run(a, s, arg_attach, reterr) : 0;
}

/* Asks the vprof that records the run. */
static int ask_pause(const char *name, bool pause)
{
	_cleanup_(store_closep) struct store *store = NULL;
	_cleanup_(run_release) struct run run = { 0 };
	struct diag diag = DIAG_INIT;

	if (store_open(data_dir(), false, &store, &diag) < 0 || store_check_ours(store, &diag) < 0 || run_find(store, name, &run, &diag) < 0 ||
	    record_ask_pause(store, &run, pause, &diag) < 0)
		return fail(&diag);
	return EXIT_DONE;
}

static int take_snapshot(void)
{
	_cleanup_(store_closep) struct store *store = NULL;
	_cleanup_(run_release) struct run run = { 0 }, snapshot = { 0 };
	_cleanup_(findings_freep) struct findings *findings = NULL;
	struct diag diag = DIAG_INIT;

	if (store_open(data_dir(), false, &store, &diag) < 0 || store_check_ours(store, &diag) < 0 ||
	    run_find(store, arg_snapshot, &run, &diag) < 0 ||
	    record_ask_snapshot(store, &run, &snapshot, &diag) < 0)
		return fail(&diag);
	snapshot.name = arg_output ? xstrdup(arg_output) : NULL;
	progress_line("analysing run %u", snapshot.number);
	if (run_analyze(store, &snapshot, 0, &findings, &diag) < 0)
		return fail(&diag);
	return announce_findings(store, &snapshot, findings);
}

/* Waits for a build, whose output is to run.  A build may begin while we record. */
static int wait_for_build(const struct args *command, struct diag *reterr)
{
	int r = command->cnt ? data_lock(LOCK_BUILD, reterr) : 0;

	data_unlock(LOCK_BUILD);
	return r;
}

/* The kernel's side, and a running process, may be recorded without intervals. */
static bool asks_for_intervals(const struct args *command)
{
	return command->cnt && !arg_pid && !arg_attach && (!arg_kernel || strcmp(arg_kernel, "off") == 0) && !arg_stacks && !arg_requests;
}

static int take_options(const struct config *config, struct record_options *o)
{
	int status;

	o->buffer_mib = arg_buffer_mib;
	o->notes_order = arg_order;
	o->config = config;
	if (arg_limit && (!parse_bytes(arg_limit, &o->limit_bytes) || o->limit_bytes < LIMIT_MIN))
		return fail_now(EXIT_USAGE, "vprof record --limit 2G",
				"record: --limit is a size from 1M on, not '%s'", arg_limit);
	if (arg_repeat && !arg_output)
		return fail_now(EXIT_USAGE, "vprof record --repeat 10 -o before -- COMMAND",
				"record: --repeat wants a name for its group of runs: -o NAME");
	if (arg_repeat && (arg_pid || arg_attach))
		return fail_now(EXIT_USAGE, "vprof record --repeat 10 -o before -- COMMAND",
				"record: --repeat starts COMMAND anew each time: it does not go with -p or --attach");
	status = take_sample(config, &o->sample);
	if (status == EXIT_DONE)
		status = take_by(o);
	if (status == EXIT_DONE)
		status = take_arena(o);
	if (status == EXIT_DONE)
		status = take_kernel(o);
	if (status == EXIT_DONE)
		status = take_keep(o);
	if (status == EXIT_DONE)
		status = take_digests(o);
	return status == EXIT_DONE ? take_delay(o) : status;
}

/* One run of that name (NULL: it has none); what to end with, and whether the command ended well. */
static int record_named(struct store *store, const char *name, const struct args *command, const struct record_options *options,
			bool *ret_well)
{
	_cleanup_(run_release) struct run run = { 0 };
	_cleanup_(findings_freep) struct findings *findings = NULL;
	struct diag diag = DIAG_INIT;
	int status;

	*ret_well = false;
	if (record_once(store, name, command, options, &run, &findings, &status, &diag) < 0)
		return fail(&diag);
	if (findings)
		status = announce_findings(store, &run, findings);
	if (run.exit_status && !arg_ignore_status) {
		warn_line("'%s' ended with status %d", command->items[0], run.exit_status);
		return run.exit_status;
	}
	*ret_well = findings && findings->interval.cnt;
	return status;
}

/* NAME.1 to NAME.N; a run that says nothing ends it, for the next would not either. */
static int record_group(struct store *store, const struct args *command, const struct record_options *options)
{
	struct diag diag = DIAG_INIT;
	bool well = true;
	int status = EXIT_DONE;

	if (group_is_free(store, arg_output, &diag) < 0)
		return fail(&diag);
	for (unsigned i = 1; i <= arg_repeat && well; i++) {
		_cleanup_(freep) char *name = xasprintf("%s.%u", arg_output, i);

		note_line("run %u of %u: %s", i, arg_repeat, name);
		status = record_named(store, name, command, options, &well);
		if (!well && i < arg_repeat)
			note_line("the other %u runs of '%s' are not made", arg_repeat - i, arg_output);
	}
	return status;
}

static int record_run(int argc, char **argv)
{
	_cleanup_(config_release) struct config config = { 0 };
	_cleanup_(store_closep) struct store *store = NULL;
	_cleanup_(args_release) struct args command = ARGS_INIT;
	_cleanup_(attach_release) struct attach attach = { { NULL, 0, 0 }, 0 };
	_cleanup_(freep) char *program = NULL;
	struct record_options options = { .attach = &attach };
	struct diag diag = DIAG_INIT;
	char *const *given = NULL;
	bool well;
	int status;

	if (options_parse_command(argc, argv, &cmd_record, NULL, &given, &status))
		return status;
	if (project_config(&config, &diag) < 0)
		return fail(&diag);
	if (arg_snapshot)
		return take_snapshot();
	if (arg_pause || arg_resume)
		return ask_pause(arg_pause ? arg_pause : arg_resume, arg_pause);
	status = take_options(&config, &options);
	if (status)
		return status;
	if ((given || !(arg_pid || arg_attach)) &&	/* else it waits only for these */
	    record_command(&config, "record", given, &command, &diag) < 0)
		return fail(&diag);
	program = command.cnt && options.start && !arg_pid ? path_which(command.items[0], NULL) : NULL;
	options.program = program;
	if (store_open(data_dir(), true, &store, &diag) < 0 ||
	    take_attach(&attach, store, &diag) < 0 ||
	    wait_for_build(&command, &diag) < 0 ||
	    (asks_for_intervals(&command) && check_places_of_last_build(store, &diag) < 0))
		return fail(&diag);
	return arg_repeat ? record_group(store, &command, &options) :
			    record_named(store, arg_output, &command, &options, &well);
}

static const struct option_desc record_options[] = {
	{ 'o', "output", "NAME", OPT_STR, &arg_output, "name the run, in addition to its number" },
	{ 0, "repeat", "N", OPT_COUNT, &arg_repeat,
	  "with -o NAME: record N runs, NAME.1 to NAME.N; vprof diff takes NAME for all of them" },
	{ 0, "sample", "1/K|auto[=PART]", OPT_STR, &arg_sample,
	  "record functions in one of K intervals, chosen at random, or in as many as keep the overhead below PART "
	  "(default 0.05); vprof show summary prints the overhead" },
	{ 0, "by", "trace", OPT_STR, &arg_by,
	  "with --sample: choose by the trace id that an interval has, so that all hosts record the same requests (default: by lot)" },
	{ 0, "kernel", "MODE", OPT_OPTIONAL, &arg_kernel,
	  "also record the kernel's view: run queue, unlisted waits, devices; auto, require or off (default)" },
	{ 'p', "pid", "PID", OPT_COUNT, &arg_pid,
	  "record a running process and its children; only the kernel's view if it was not built with vprof" },
	{ 0, "attach", "RUN", OPT_STR, &arg_attach, "like -p, for all processes of RUN that still run" },
	{ 0, "duration", "TIME", OPT_STR, &arg_duration,
	  "with -p or --attach: how long to record, e.g. 10s (default: until the processes or COMMAND end, or Control-C)" },
	{ 0, "stacks", "WHICH", OPT_OPTIONAL, &arg_stacks,
	  "with --kernel: record stacks when a thread leaves the CPU or wakes another; user, kernel, both or off (default)" },
	{ 0, "samples", "HZ", OPT_STR, &arg_samples,
	  "with --stacks: sample running threads at HZ per CPU (default 250; 0: off)" },
	{ 0, "requests", NULL, OPT_FLAG, &arg_requests,
	  "record requests and their answers on sockets that the program accepted, as intervals, by the kernel alone: no build and no "
	  "annotation (implies --kernel=require --stacks --samples 997)" },
	{ 0, "from-arrival", NULL, OPT_FLAG, &arg_from_arrival,
	  "begin the program's intervals when their request arrived in the socket, not when a thread takes it up: what it waited for until "
	  "then becomes a part of them (implies --kernel=require)" },
	{ 0, "start", "PLACE", OPT_STR, &arg_start,
	  "with --end: the same for what is no request on a socket: intervals begin as the program calls this function; FUNCTION, "
	  "FILE:FUNCTION, FUNCTION@return, usdt:PROVIDER:NAME" },
	{ 0, "end", "PLACE", OPT_STR, &arg_end, "... and end as this one returns (FUNCTION@entry: as it is called)" },
	{ 0, "key", "argN", OPT_STR, &arg_key, "a start and an end with the same value of this argument belong together (default: those on one thread)" },
	{ 0, "order", NULL, OPT_FLAG, &arg_order,
	  "record every taking and release of a lock, also those that no thread waits for: vprof causal --predict then replays who would "
	  "wait for whom after a change" },
	{ 0, "buffer", "MIB", OPT_COUNT, &arg_buffer_mib, "size of the recording buffer, in MiB" },
	{ 0, "arena", "DIR|fd", OPT_STR, &arg_arena,
	  "put the recording buffer in DIR, shared with containers; or pass it as an inherited file descriptor (fd)" },
	{ 0, "keep", "30s|200M", OPT_STRS, &arg_keep,
	  "flight recorder: keep only the last 30 seconds, or 200 MiB, of the trace (may repeat)" },
	{ 0, "digest-every", "TIME", OPT_STR, &arg_digest_every,
	  "with --to: a digest of each TIME, e.g. 60s, while the program runs; its cost counts into the budget of --sample auto" },
	{ 0, "to", "COMMAND", OPT_STR, &arg_to,
	  "of --digest-every: the shell command that gets each digest on standard input; tried again until it ends with status 0" },
	{ 0, "snapshot", "RUN", OPT_STR, &arg_snapshot,
	  "save and analyse what another vprof record has of RUN so far, as a new run (kill -USR1 only saves it)" },
	{ 0, "delay", "TIME", OPT_STR, &arg_delay, "start recording TIME after the program starts, e.g. 10s" },
	{ 0, "start-paused", NULL, OPT_FLAG, &arg_start_paused, "record nothing until --resume" },
	{ 0, "pause", "RUN", OPT_STR, &arg_pause,
	  "pause the recording of RUN by another vprof record; its program runs on (kill -USR2 pauses or resumes)" },
	{ 0, "resume", "RUN", OPT_STR, &arg_resume, "resume a paused recording" },
	{ 0, "limit", "SIZE", OPT_STR, &arg_limit,
	  "stop recording when the trace reaches SIZE on disk, e.g. 2G; the program runs on; with --digest-every keep the last SIZE, and "
	  "as much of digests that wait" },
	{ 0, "ignore-status", NULL, OPT_FLAG, &arg_ignore_status, "do not exit with the command's status" },
	LOCK_OPTION,
	OPT_END
};
static const char *const record_examples[] = {
	"vprof record -- ./bench.sh", "vprof record -o before -- ./bench.sh", NULL
};
const struct cmd cmd_record = {
	.name = "record", .synopsis = "[-o NAME] [-- COMMAND...]",
	.summary = "run the program once, record and analyse it",
	.options = record_options, .run = record_run, .examples = record_examples,
};
