/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record.c - `vprof record -- ./bench.sh`: one run, recorded, analysed, kept.
 *
 * The user's command runs with its own stdin, stdout and stderr; this process stays beside it as
 * the drainer.  Ctrl-C ends the command, what was recorded until then is analysed.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/file.h"
#include "cmd/commands.h"
#include "cmd/common.h"
#include "cmd/paths.h"
#include "cmd/project.h"
#include "runtime/drainer.h"

static const char *arg_output;
static unsigned arg_buffer_mib;
static bool arg_ignore_status;

static int64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int find_command(const struct config *c, char *const *given, struct args *ret,
			struct diag *reterr)
{
	if (given && given[0]) {
		args_add_all(ret, given);
		return 0;
	}
	if (!c->run_command) {
		diag_set(reterr, EXIT_USAGE, -EINVAL, "record: which command runs the program?");
		return diag_remedy(reterr, -EINVAL, "vprof record -- ./bench.sh   (or [run] command in vprof.conf)");
	}
	args_add(ret, "/bin/sh");
	args_add(ret, "-c");
	args_add(ret, c->run_command);
	return 0;
}

/* Appends one word to a list in the environment. */
static void add_to_environment(const char *name, const char *word)
{
	const char *old = getenv(name);
	struct str list = STR_INIT;

	str_addf(&list, "%s%s%s", old ? old : "", old && *old ? ":" : "", word);
	setenv(name, list.data, 1);
	str_release(&list);
}

/*
 * For executables whose link we did not see.  Behind the user's own libraries.  ld.so complains of a
 * file that is not there, and splits the list at blanks and colons.  AddressSanitizer wants to be
 * the first library and refuses to start if it is not; ours would not be in its way.
 */
static void preload_runtime(void)
{
	_cleanup_(freep) char *library = path_join(runtime_dir(), "libvprof.so");

	if (strpbrk(library, " \t\n:$") || access(library, R_OK) < 0)
		return;
	add_to_environment("LD_PRELOAD", library);
	add_to_environment("ASAN_OPTIONS", "verify_asan_link_order=0");
}

/* In the child: never returns. */
static void become(const struct args *command, const char *environment)
{
	_cleanup_(freep) char *name = xstrndup(environment, strcspn(environment, "="));

	setenv(name, environment + strlen(name) + 1, 1);
	preload_runtime();
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	execvp(command->items[0], command->items);

	int failure = errno;

	fprintf(stderr, "vprof: error: cannot run '%s': %s\n", command->items[0], strerror(failure));
	_exit(failure == ENOENT ? 127 : 126);
}

static int drain(struct drainer *d, const struct args *command, struct drainer_stats *stats,
		 int *ret_status, struct diag *reterr)
{
	int wait_status = 0, r;

	fflush(NULL);
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);

	pid_t child = fork();

	if (child < 0) {
		r = -errno;
		drainer_close(d, stats, NULL);
		return diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot start '%s': %s", command->items[0],
				strerror(-r));
	}
	if (child == 0)
		become(command, drainer_env(d));
	r = drainer_run(d, child, &wait_status, reterr);
	*ret_status = proc_status(wait_status);
	if (r < 0) {
		drainer_close(d, stats, NULL);
		return r;
	}
	return drainer_close(d, stats, reterr);
}

static int open_drainer(struct store *s, const struct run *run, struct drainer **ret,
			struct diag *reterr)
{
	_cleanup_(freep) char *dir = run_dir(s, run->number), *trace = path_join(dir, "trace.vpt");
	_cleanup_(freep) char *path = plan_path();
	_cleanup_(plan_freep) struct plan *plan = NULL;
	_cleanup_(freep) struct drainer_probe *probes = NULL;
	struct drainer_options options = {
		.trace_path = trace,
		.arena_bytes = (size_t)arg_buffer_mib * 1024 * 1024,
	};
	int r = plan_read(path, &plan, reterr);

	if (r < 0)
		return r;
	probes = xcalloc(plan->entries.cnt, sizeof(*probes));
	for (size_t i = 0; i < plan->entries.cnt; i++)
		probes[i] = (struct drainer_probe){ plan->entries.items[i].key,
						    (uint8_t)plan->entries.items[i].level };
	options.plan = probes;
	options.plan_cnt = plan->entries.cnt;
	options.default_level = (uint8_t)plan->all;
	return drainer_open(&options, ret, reterr);
}

/* What was wrong with the recording itself, told before its results. */
static void tell_losses(const struct drainer_stats *stats)
{
	if (stats->disk_full)
		warn_line("the disk was full: the trace ends early; what is in it is whole");
	if (stats->lost_records)
		warn_line("%llu records were lost for lack of buffer; intervals they touch are left out: "
			  "vprof record --buffer 512, or probe fewer functions",
			  (unsigned long long)stats->lost_records);
}

static int not_instrumented(const struct run *run, int exit_status)
{
	if (exit_status == 126 || exit_status == 127)
		return EXIT_ENVIRONMENT;	/* the command itself could not run, and said so */
	return fail_now(EXIT_ENVIRONMENT, "vprof build -- make   (then run what it built; a static or "
			"-no-pie program must also be linked through vprof: vprof build does that, or "
			"CMAKE_C_LINKER_LAUNCHER=\"vprof;cc\")",
			"nothing that run %u started was built with vprof: there was nothing to record",
			run->number);
}

static int record(struct store *s, struct run *run, const struct args *command, int *ret_status,
		  struct diag *reterr)
{
	struct drainer_stats stats = { 0 };
	_cleanup_(findings_freep) struct findings *findings = NULL;
	struct drainer *drainer = NULL;
	int64_t started_ns = now_ns(CLOCK_MONOTONIC);
	int r = open_drainer(s, run, &drainer, reterr);

	if (r == 0)
		r = drain(drainer, command, &stats, &run->exit_status, reterr);
	run->duration_ns = now_ns(CLOCK_MONOTONIC) - started_ns;
	run->status = r < 0 || stats.processes == 0 ? RUN_FAILED : RUN_RECORDED;
	run->function_cnt = stats.functions;
	run->lost_records = stats.lost_records;
	if (r < 0) {
		run_update(s, run, NULL);
		return r;
	}
	r = run_update(s, run, reterr);
	if (r < 0)
		return r;
	if (stats.processes == 0) {
		*ret_status = not_instrumented(run, run->exit_status);
		return 0;
	}
	tell_losses(&stats);
	progress_line("analysing run %u", run->number);
	r = run_analyze(s, run, &findings, reterr);
	if (r < 0)
		return r;
	*ret_status = announce_findings(run, findings);
	return 0;
}

static char *command_text(const struct args *command)
{
	struct str text = STR_INIT;

	for (size_t i = 0; i < command->cnt; i++) {
		if (i)
			str_addc(&text, ' ');
		str_add_shell_quoted(&text, command->items[i]);
	}
	return str_take(&text);
}

static int record_run(int argc, char **argv)
{
	_cleanup_(config_release) struct config config = { 0 };
	_cleanup_(store_closep) struct store *store = NULL;
	_cleanup_(args_release) struct args command = ARGS_INIT;
	_cleanup_(run_release) struct run run = { 0 };
	struct diag diag = DIAG_INIT;
	char *const *given = NULL;
	int status, result = EXIT_DONE;

	if (options_parse_command(argc, argv, &cmd_record, NULL, &given, &status))
		return status;
	if (config_read(config_path(), &config, &diag) < 0 ||
	    find_command(&config, given, &command, &diag) < 0 ||
	    store_open(data_dir(), true, &store, &diag) < 0)
		return fail(&diag);
	run.name = arg_output ? xstrdup(arg_output) : NULL;
	run.command = command_text(&command);
	run.source = xstrdup("record");
	run.started_ns = now_ns(CLOCK_REALTIME);
	if (run_create(store, &run, &diag) < 0 ||
	    record(store, &run, &command, &result, &diag) < 0)
		return fail(&diag);
	if (run.exit_status && !arg_ignore_status) {
		warn_line("'%s' ended with status %d", command.items[0], run.exit_status);
		return run.exit_status;
	}
	return result;
}

static const struct option_desc record_options[] = {
	{ 'o', "output", "NAME", OPT_STR, &arg_output, "give the run a name besides its number" },
	{ 0, "buffer", "MIB", OPT_UINT, &arg_buffer_mib, "memory for records not yet written, in MiB" },
	{ 0, "ignore-status", NULL, OPT_FLAG, &arg_ignore_status, "do not pass on the command's exit status" },
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
