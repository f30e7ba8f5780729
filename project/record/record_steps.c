/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record_steps.c - one run: the user's command, the drainer beside it, the analysis after it.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/elf.h"
#include "base/file.h"
#include "project/digests/recorded_by.h"
#include "project/runs/callers.h"
#include "project/config/locate.h"
#include "project/notices.h"
#include "project/config/paths.h"
#include "project/runs/project.h"
#include "project/record/object_names.h"
#include "project/record/record_apart.h"
#include "project/record/record_digests.h"
#include "project/record/record_opened.h"
#include "project/record/record_requests.h"
#include "project/record/record_progress.h"
#include "project/record/record_steps.h"
#include "project/runs/recording.h"
#include "project/record/sample_plan.h"
#include "instrumenter/insert/unit_note.h"
#include "drainer/drainer.h"

static int64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int record_command(const struct config *c, const char *command_name, char *const *given,
		   struct args *ret, struct diag *reterr)
{
	if (given && given[0]) {
		args_add_all(ret, given);
		return 0;
	}
	if (!c->run_command) {
		diag_set(reterr, EXIT_USAGE, -EINVAL, "%s: which command runs the program?",
			 command_name);
		return diag_remedy(reterr, -EINVAL, "vprof %s -- ./bench.sh   (or [run] command in vprof.conf)",
				   command_name);
	}
	args_add(ret, "/bin/sh");
	args_add(ret, "-c");
	args_add(ret, c->run_command);
	return 0;
}

static bool is_attached(const struct record_options *o)
{
	return o->attach && o->attach->pids.cnt;
}

/* In the child: never returns. */
static void become(const struct args *command, const struct drainer *d,
		   const struct record_options *o, const sigset_t *signals)
{
	const char *environment = drainer_env(d);
	_cleanup_(freep) char *name = xstrndup(environment, strcspn(environment, "="));

	if (!command->cnt) {
		sigprocmask(SIG_SETMASK, signals, NULL);
		attach_wait(o->attach);
		_exit(0);
	}
	setenv(name, environment + strlen(name) + 1, 1);
	drainer_inherit(d);
	preload("libvprof.so");		/* for executables that were not linked through vprof */
	if (o->stdout_to_stderr)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, signals, NULL);
	execvp(command->items[0], command->items);

	int failure = errno;

	fail_now(EXIT_ENVIRONMENT, NULL, "cannot run '%s': %s", command->items[0], strerror(failure));
	_exit(failure == ENOENT ? 127 : 126);
}

static int drain_child(struct drainer *d, const struct args *command, const struct record_options *o,
		       const struct record_requests *q, struct record_digests *digests, const char *dir, struct drainer_stats *stats, int *ret_status,
		       struct diag *reterr)
{
	int wait_status = 0, r;

	fflush(NULL);

	pid_t child = fork();

	if (child < 0) {
		r = -errno;
		drainer_close(d, stats, NULL);
		return diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot start '%s': %s",
				command->cnt ? command->items[0] : "a process", strerror(-r));
	}
	if (child == 0)
		become(command, d, o, &q->old);
	r = drainer_run(d, child, &wait_status, reterr);
	if (q->recorder)
		recorder_end_exchanges(q->recorder);
	*ret_status = proc_status(wait_status);
	if (r == 0) {
		callers_keep(d, dir);
		if (digests->every_ns)
			record_digests_last(digests, d);
		else
			recorded_by_keep(dir, command->cnt ? command->items[0] : NULL);
	}
	if (r < 0) {
		drainer_close(d, stats, NULL);
		return r;
	}
	return drainer_close(d, stats, reterr);
}

/* Ctrl-C ends the command; vprof continues and analyses. */
static int drain(struct drainer *d, const struct args *command, const struct record_options *o,
		 const struct record_requests *q, struct record_digests *digests, const char *dir, struct drainer_stats *stats, int *ret_status,
		 struct diag *reterr)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, for_us = { .sa_handler = o->interrupted }, old_int, old_quit, old_size;
	int r;

	sigaction(SIGINT, o->interrupted ? &for_us : &ignore, &old_int);
	sigaction(SIGQUIT, &ignore, &old_quit);
	sigaction(SIGXFSZ, &ignore, &old_size);
	r = drain_child(d, command, o, q, digests, dir, stats, ret_status, reterr);
	sigaction(SIGINT, &old_int, NULL);
	sigaction(SIGQUIT, &old_quit, NULL);
	sigaction(SIGXFSZ, &old_size, NULL);
	return r;
}

/* The level "off" makes a probe dormant for the run. */
static uint8_t drainer_level(enum plan_level level)
{
	return level == PLAN_DORMANT ? PROBE_OFF : (uint8_t)level;
}

static struct drainer_alias *drainer_aliases(const struct config *c, size_t *ret_cnt)
{
	name_aliases list = { NULL, 0, 0 };
	struct drainer_alias *aliases;

	config_aliases(c, &list);
	aliases = xcalloc(list.cnt + 1, sizeof(*aliases));
	for (size_t i = 0; i < list.cnt; i++)
		aliases[i] = (struct drainer_alias){ list.items[i].mark, list.items[i].interval };
	*ret_cnt = list.cnt;
	VEC_RELEASE(&list);
	return aliases;
}

static int keep_plan(struct store *s, const struct run *run, const struct plan *plan,
		     struct diag *reterr)
{
	static const enum planned_level levels[] = {
		[PLAN_OFF] = PLANNED_DORMANT, [PLAN_DORMANT] = PLANNED_DORMANT,
		[PLAN_IN_INTERVALS] = PLANNED_IN_INTERVALS, [PLAN_ALWAYS] = PLANNED_ALWAYS,
	};
	planned_functions list = { NULL, 0, 0 };
	int r;

	for (size_t i = 0; i < plan->entries.cnt; i++)
		VEC_ADD(&list, (struct planned_function){
			plan->entries.items[i].key, levels[plan->entries.items[i].level], UINT32_MAX });
	r = planned_write(s, run->number, list.items, list.cnt, reterr);
	VEC_RELEASE(&list);
	return r;
}

/* The two traces share it. */
static uint64_t trace_limit(const struct record_options *o)
{
	return o->kernel == KERNEL_MODE_OFF ? o->limit_bytes : o->limit_bytes / 2;
}

static double budget_of(const struct record_options *o)
{
	if (!o->sample.automatic)
		return 0;
	return o->sample.budget > 0 ? o->sample.budget : o->config->overhead;
}

static void advise_sampled(const struct record_options *o, const struct plan *plan)
{
	if (sample_is_rare(&o->sample) && !o->keep_levels && !plan->sampled && (plan->all || plan->entries.cnt))
		note_line("most calls will not be recorded; vprof build --sampled makes probes that cost less then");
}

/*
 * Printed before the run.  Functions that the plan knows are recorded nevertheless, and the runtime counts those that
 * are missing (TABLE_NOTES), whatever the command starts.
 */
static void tell_missing_names(const struct args *command, const struct plan *plan, uint64_t *ret_stranger_cnt)
{
	_cleanup_(freep) char *path = command->cnt ? path_which(command->items[0], NULL) : NULL;
	_cleanup_(elf_closep) struct elf *e = NULL;
	_cleanup_(program_notes_release) struct program_notes notes = { 0 };
	enum names_state state;

	if (!path || elf_open(path, &e) < 0)
		return;
	program_notes_read(e, &notes);
	state = program_names(e, &notes);
	if (state == NAMES_OF_ANOTHER)
		warn_line("'%s' holds probes of another version of vprof, which stay dormant: none of its functions will be recorded; "
			  "vprof build -- make, after make clean", command->items[0]);
	else if (state == NAMES_MISSING && !plan->entries.cnt)
		warn_line("'%s' does not say which of its functions to record, and there is no plan of its build in '%s': none of "
			  "them will be recorded; build it again, or record with its build's data directory (vprof -d DIR)",
			  command->items[0], data_dir());
	*ret_stranger_cnt = state == NAMES_OF_ANOTHER;
}

static int open_drainer(struct store *s, const struct run *run, const struct args *command, const struct record_options *o,
			const struct record_requests *q, struct record_digests *digests, struct record_opened *opened, struct met *met,
			const struct record_progress *progress,
			struct drainer **ret, struct diag *reterr)
{
	_cleanup_(freep) char *dir = run_dir(s, run->number), *trace = path_join(dir, "trace.vpt");
	_cleanup_(freep) char *path = plan_path();
	_cleanup_(plan_freep) struct plan *plan = NULL;
	_cleanup_(freep) struct drainer_probe *probes = NULL;
	_cleanup_(freep) struct drainer_alias *aliases = NULL;
	struct drainer_options options = {
		.trace_path = trace,
		.limit_bytes = trace_limit(o),
		.keep_ns = o->keep_ns,
		.keep_bytes = o->keep_bytes,
		.start_paused = o->start_paused,
		.delay_ns = o->delay_ns,
		.look = record_opened_look,
		.look_arg = opened,
		.pids = is_attached(o) ? o->attach->pids.items : NULL,
		.pid_cnt = is_attached(o) ? o->attach->pids.cnt : 0,
		.requests = &q->requests,
		.arena_dir = o->arena_dir,
		.inherit_arena = o->inherit_arena,
		.nobody = is_attached(o) ? NULL : met_look,
		.nobody_arg = met,
		.arena_bytes = (size_t)o->buffer_mib * 1024 * 1024,
		.sample_full = o->sample.full,
		.sample_of = o->sample.of,
		.sample_by_trace = o->sample_by_trace,
		.budget = budget_of(o),
		.experiments = o->experiments ? o->experiments : progress ? &progress->watch : NULL,
		.turn = digests->every_ns ? record_digests_turn : NULL,
		.turn_arg = digests,
		.notes_order = o->notes_order,
		.name_objects = object_names_tell,
	};
	int r = plan_read(path, &plan, reterr);

	if (r == 0 && o->sample.full < o->sample.of && !o->keep_levels)
		r = sample_plan(s, o->config, plan, reterr);
	if (r == 0)
		r = keep_plan(s, run, plan, reterr);
	if (r < 0)
		return r;
	advise_sampled(o, plan);
	tell_missing_names(command, plan, &options.stranger_cnt);
	probes = xcalloc(plan->entries.cnt, sizeof(*probes));
	for (size_t i = 0; i < plan->entries.cnt; i++)
		probes[i] = (struct drainer_probe){ plan->entries.items[i].key,
						    drainer_level(plan->entries.items[i].level) };
	options.plan = probes;
	options.plan_cnt = plan->entries.cnt;
	options.default_level = PROBE_AS_BUILT;
	options.as_sampled = o->sample.full < o->sample.of && !o->keep_levels;
	options.aliases = aliases = drainer_aliases(o->config, &options.alias_cnt);
	return drainer_open(&options, ret, reterr);
}

/* Problems of the recording itself, reported before its results. */
static void tell_losses(const struct drainer_stats *stats)
{
	if (stats->disk_error)
		warn_line("the trace ends early, because it could not be written (%s): %" PRIu64 " of %" PRIu64
			  " records are missing, the others are complete; free some space, record with --limit, or "
			  "fewer functions (--sample 1/10)", strerror(stats->disk_error),
			  stats->dropped_records, stats->records + stats->dropped_records);
	else if (stats->limit_reached)
		warn_line("the recording ended before the program, when the trace had the size of --limit");
	if (stats->limit_reached && stats->dropped_records)
		warn_line("%" PRIu64 " records of intervals that were open then are missing: they exceed --limit",
			  stats->dropped_records);
}

static void tell_uncounted(struct store *s)
{
	int64_t cnt;

	if (units_uncounted(s, &cnt, NULL) == 0 && cnt)
		note_line("of %" PRId64 " unit%s no function carries a probe, since %s compiled untouched or not understood; "
			  "vprof show coverage says which and why", cnt, cnt == 1 ? "" : "s", cnt == 1 ? "it was" : "they were");
}

enum probes_held {
	PROBES_NONE,
	PROBES_OF_ANOTHER,	/* of another version of vprof: they find no runtime that they know */
	PROBES_ALONE,		/* linked without vprof, which leaves them without a runtime */
	PROBES_WITH_RUNTIME,	/* or asking for one, which record preloads */
};

static enum probes_held probes_held(const struct args *command)
{
	_cleanup_(freep) char *path = command->cnt ? path_which(command->items[0], NULL) : NULL;
	_cleanup_(elf_closep) struct elf *e = NULL;
	_cleanup_(program_notes_release) struct program_notes notes = { 0 };

	if (!path || elf_open(path, &e) < 0)
		return PROBES_NONE;
	program_notes_read(e, &notes);
	if (elf_symbol(e, "vprof_register", false) && !elf_symbol(e, REGISTER_OURS, false))
		return PROBES_OF_ANOTHER;
	if (!notes.unit_cnt)
		return PROBES_NONE;
	return elf_symbol(e, REGISTER_OURS, false) || elf_holds(e, ARENA_VARIABLE) ? PROBES_WITH_RUNTIME : PROBES_ALONE;
}

static int not_instrumented(const struct run *run, const struct record_options *o, const struct args *command,
			    const struct drainer_stats *stats, const struct met *met)
{
	int exit_status = run->exit_status;
	enum probes_held held;

	if (is_attached(o))
		return fail_now(EXIT_NO_EVIDENCE, "see that the load reaches it, or record longer",
				"no interval began in a process of run %u, and none waited for a lock: there was "
				"nothing to record", run->number);
	if (exit_status == 126 || exit_status == 127)
		return EXIT_ENVIRONMENT;	/* the command itself could not run, and reported that */
	if (apart_fail(stats))
		return EXIT_ENVIRONMENT;
	if (met->pid)
		return fail_now(EXIT_ENVIRONMENT, reach_remedy(met->reach), "'%s' (process %d) holds probes, but was not recorded, for %s",
				str_cstr(&met->exe), (int)met->pid, reach_text(met->reach));
	held = probes_held(command);
	if (held == PROBES_WITH_RUNTIME)
		return fail_now(EXIT_ENVIRONMENT, "vprof build -- make, after make clean",
				"'%s' holds probes, but nothing of it came into run %u: it has the runtime of another build of vprof, or "
				"ended before main()", command->items[0], run->number);
	if (held == PROBES_OF_ANOTHER)
		return fail_now(EXIT_ENVIRONMENT, "vprof build -- make, after make clean",
				"'%s' was built by another version of vprof, whose probes this one cannot record: there is "
				"nothing of it in run %u", command->items[0], run->number);
	return fail_now(EXIT_ENVIRONMENT, "vprof build -- make   (then run what it built; a static or "
			"-no-pie program must also be linked through vprof: vprof build does that, or "
			"CMAKE_C_LINKER_LAUNCHER=\"vprof;cc\")",
			"nothing that run %u started was built with this vprof: there was nothing to record",
			run->number);
}

static void met_release(struct met *m)
{
	str_release(&m->exe);
}

char *record_command_text(const struct args *command)
{
	struct str text = STR_INIT;

	if (!command->cnt)
		return xstrdup("attached");
	if (command->cnt == 3 && !strcmp(command->items[0], "/bin/sh") && !strcmp(command->items[1], "-c"))
		return xstrdup(command->items[2]);
	for (size_t i = 0; i < command->cnt; i++) {
		if (i)
			str_addc(&text, ' ');
		str_add_shell_quoted(&text, command->items[i]);
	}
	return str_take(&text);
}

/* A look depends on the kernel's side only; experiments report their own progress. */
static bool tells_progress(const struct record_options *o)
{
	return isatty(STDERR_FILENO) && !o->experiments && !o->requests;
}

static int run_and_drain(struct store *s, struct run *run, const struct args *command,
			 const struct record_options *o, struct record_requests *q,
			 struct record_digests *digests, struct drainer_stats *stats, struct met *met, uint64_t *kernel_records,
			 struct diag *reterr)
{
	_cleanup_(freep) char *dir = run_dir(s, run->number);
	struct drainer *drainer = NULL;
	struct recorder *recorder = NULL;
	int64_t started_ns = now_ns(CLOCK_MONOTONIC);
	enum kernel_mode kernel = o->kernel;
	unsigned invited = 0;
	struct record_opened opened = { s, o->attach };
	_cleanup_(freep) struct record_progress *progress = tells_progress(o) ? xmalloc(sizeof(*progress)) : NULL;
	int r;

	if (progress)
		record_progress_init(progress, started_ns);
	r = open_drainer(s, run, command, o, q, digests, &opened, met, progress, &drainer, reterr);

	/* Records are not recovered where parts of the trace go, unless windows still need them. */
	if (r == 0 && ((!o->keep_ns && !o->keep_bytes) || digests->every_ns))
		recording_note_arena(q->lock, drainer_path(drainer));
	if (r == 0 && is_attached(o)) {
		record_opened_look(&opened, drainer, 0);
		r = attach_invite(o->attach, drainer, &invited, reterr);
		if (invited && o->kernel_if_alone)
			kernel = KERNEL_MODE_OFF;
		else if (r == 0 && !invited && kernel == KERNEL_MODE_OFF)
			r = -ENOENT;		/* as *reterr says */
		if (r < 0)
			drainer_close(drainer, stats, NULL);
	}
	if (r == 0) {
		struct record_options now = *o;

		now.kernel = kernel;
		r = record_kernel_open(&now, trace_limit(o), dir, &recorder, reterr);
		if (r == 0 && o->experiments)
			r = record_kernel_lend(recorder, drainer, reterr);
		if (r < 0)
			drainer_close(drainer, stats, NULL);
	}
	q->recorder = recorder;
	if (r == 0)
		r = drain(drainer, command, o, q, digests, dir, stats, &run->exit_status, reterr);
	progress_done();
	*kernel_records = record_kernel_close(recorder, o);
	run->duration_ns = now_ns(CLOCK_MONOTONIC) - started_ns;
	run->status = r < 0 || (stats->processes == 0 && *kernel_records == 0) ? RUN_FAILED : RUN_RECORDED;
	run->function_cnt = stats->functions;
	run->lost_records = stats->lost_records;
	if (r < 0) {
		run_update(s, run, NULL);
		return r;
	}
	return run_update(s, run, reterr);
}

int record_only(struct store *s, const char *name, const struct args *command, const struct record_options *o,
		struct run *ret_run, int *ret_status, struct diag *reterr)
{
	struct drainer_stats stats = { 0 };
	_cleanup_(met_release) struct met met = { STR_INIT, 0, REACH_UNKNOWN, 0 };
	uint64_t kernel_records = 0;
	_cleanup_(runs_release) runs before = { NULL, 0, 0 };
	struct record_requests requests;
	struct record_digests digests;
	int r;

	*ret_run = (struct run){
		.name = name ? xstrdup(name) : NULL,
		.command = record_command_text(command),
		.source = xstrdup(o->experiments ? "causal" : "record"),
		.started_ns = now_ns(CLOCK_REALTIME),
	};
	*ret_status = EXIT_DONE;
	r = recordings_settle(s, &before, reterr);
	if (r == 0)
		r = run_create(s, ret_run, reterr);
	if (r < 0)
		return r;
	record_requests_open(&requests, s, ret_run);
	requests.lock = recording_begin(s, ret_run->number);
	r = record_digests_open(&digests, s, ret_run, command, o, reterr);
	if (r == 0)
		r = run_and_drain(s, ret_run, command, o, &requests, &digests, &stats, &met, &kernel_records, reterr);
	recording_end(requests.lock);
	record_digests_close(&digests);
	record_requests_release(&requests);
	if (r < 0 && is_attached(o) && stats.processes == 0 && kernel_records == 0)
		run_remove(s, ret_run->number, NULL);	/* it never began */
	if (r < 0)
		return r;
	if (stats.processes == 0 && kernel_records == 0) {
		*ret_status = not_instrumented(ret_run, o, command, &stats, &met);
		return 0;
	}
	tell_losses(&stats);
	apart_tell(&stats);
	return 0;
}

/* --from-arrival promises that intervals begin there. */
static int check_arrivals(const struct findings *f, struct diag *reterr)
{
	if (!f->interval.cnt || f->before.cnt)
		return 0;
	diag_set(reterr, EXIT_NO_EVIDENCE, -ENODATA, "--from-arrival: when their requests arrived is known of none of the %" PRIu64
		 " intervals '%s': no thread that begins one reads a request on a stream that the program accepted (datagrams and pipes are "
		 "none), or wakes up after another one read it", f->interval.cnt, f->interval.name);
	return diag_remedy(reterr, -ENODATA, "record without --from-arrival: vprof show summary says what goes before the intervals, at most");
}

int record_once(struct store *s, const char *name, const struct args *command,
		const struct record_options *o, struct run *ret_run, struct findings **ret,
		int *ret_status, struct diag *reterr)
{
	int r = record_only(s, name, command, o, ret_run, ret_status, reterr);

	*ret = NULL;
	if (r < 0 || *ret_status || ret_run->status != RUN_RECORDED)
		return r;
	tell_uncounted(s);
	progress_line("analysing run %u", ret_run->number);
	r = run_analyze(s, ret_run, 0, ret, reterr);
	progress_done();
	return r == 0 && o->from_arrival ? check_arrivals(*ret, reterr) : r;
}
