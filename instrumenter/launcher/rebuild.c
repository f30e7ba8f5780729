/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rebuild.c - recompiles only the objects that a new plan changes.
 *
 * The scan record says what is in an object (probe_set) and how it was made (directory, command, environment).  With
 * two units, a plan that adds a probe to a function of a.c changes what a.o should hold but not b.o: one command is
 * run again, in its own directory.  A command that compiled several units is run once.
 *
 * A source may be gone: a test of configure's, a file that make generates and deletes again, one that was renamed.
 * Its object and its record are removed; a build that still needs it makes it again.
 *
 * Where ninja made an object it is removed, and ninja makes it again: see is_made_by_ninja().
 *
 * Each command runs in a forked copy of this process, which acts as a `vprof cc`; its output is kept and shown only
 * if it fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/map.h"
#include "instrumenter/insert/instrument.h"
#include "instrumenter/launcher/launcher.h"
#include "instrumenter/products/product.h"

struct command_job {
	const struct unit *unit;	/* the first of its units */
	unsigned unit_cnt;
	pid_t pid;
	int output;			/* a file in memory; -1 */
};

struct rebuild {
	const struct launcher_options *o;
	VEC(struct command_job) jobs;
	unsigned running, done, total;	/* commands; units; units */
	unsigned removed;		/* objects that the build will make again if it needs them */
	void (*progress)(unsigned done, unsigned total, void *arg);
	void *arg;
};

/* Ninja identifies an object by its time: after a newer time its headers count as unknown, and it would compile once
 * more.  So ninja has to make the object itself; it compiles in parallel anyway. */
static bool is_made_by_ninja(const struct unit *u)
{
	_cleanup_(freep) char *log = path_join(u->directory, ".ninja_log");

	return file_exists(log);
}

static uint64_t command_hash(const struct unit *u)
{
	uint64_t h = hash_str(0, u->directory);

	for (const char **w = u->argv; *w; w++) {
		h = hash_u64(h, strlen(*w));
		h = hash_str(h, *w);
	}
	return h;
}

/* True if there was an object that the build may need again. */
static bool forget_unit(const struct unit *u, const char *build_dir)
{
	_cleanup_(freep) char *record = unit_path(build_dir, u->object, ".scan");

	unlink(record);
	return unlink(u->object) == 0;
}

/* One job per command that made at least one changed unit. */
static void collect_jobs(const units *list, struct rebuild *r)
{
	_cleanup_(map_freep) struct map *job_of = map_new();

	for (size_t i = 0; i < list->cnt; i++) {
		const struct unit *u = list->items[i];
		uint64_t hash = command_hash(u), number;

		if (u->probe_set == probe_set_of(u, r->o))
			continue;
		if (access(u->source, F_OK) < 0 && errno == ENOENT) {
			r->removed += forget_unit(u, r->o->build_dir);
			continue;
		}
		if (is_made_by_ninja(u)) {
			r->removed += unlink(u->object) == 0;
			continue;
		}
		if (!map_get(job_of, hash, &number)) {
			number = r->jobs.cnt;
			map_set(job_of, hash, number);
			VEC_ADD(&r->jobs, (struct command_job){ .unit = u, .output = -1 });
		}
		r->jobs.items[number].unit_cnt++;
		r->total++;
	}
}

/* In the child: never returns. */
static void become_job(const struct command_job *j, const struct launcher_options *o, pid_t builder)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);	/* and its compilers with it: guard.h */
	if (getppid() != builder)
		_exit(1);
	dup2(j->output, STDOUT_FILENO);
	dup2(j->output, STDERR_FILENO);
	if (chdir(j->unit->directory) < 0) {
		launcher_say("cannot enter '%s': %s", j->unit->directory, strerror(errno));
		_exit(1);
	}
	for (const char **e = j->unit->environment; *e; e++)
		putenv((char *)(uintptr_t)*e);
	_exit(launcher_run((char *const *)(uintptr_t)j->unit->argv, o));
}

static int start_job(struct rebuild *r, struct command_job *j, struct diag *reterr)
{
	pid_t builder = getpid();

	j->output = memfd_create("vprof-rebuild", MFD_CLOEXEC);
	if (j->output >= 0)
		j->pid = fork();
	if (j->output < 0 || j->pid < 0)
		return diag_set(reterr, EXIT_ENVIRONMENT, -errno, "cannot start '%s': %s",
				j->unit->argv[0], strerror(errno));
	if (j->pid == 0)
		become_job(j, r->o, builder);
	r->running++;
	return 0;
}

/* The first lines that fit: a compiler prints the most important ones first. */
static int report_failure(const struct command_job *j, int status, struct diag *reterr)
{
	char text[900];
	ssize_t len = pread(j->output, text, sizeof(text) - 1, 0);

	text[len > 0 ? len : 0] = '\0';
	diag_set(reterr, EXIT_ENVIRONMENT, -EIO, "'%s' could not be compiled again (status %d)", j->unit->source, status);
	return diag_lines(reterr, -EIO, text);
}

/* The job that ended first; if none has, the oldest.  Does not collect children of other code. */
static struct command_job *ended_job(struct rebuild *r)
{
	struct command_job *oldest = NULL;
	siginfo_t info = { .si_pid = 0 };

	while (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	for (size_t i = 0; i < r->jobs.cnt; i++) {
		struct command_job *j = &r->jobs.items[i];

		if (j->pid > 0 && j->pid == info.si_pid)
			return j;
		if (j->pid > 0 && !oldest)
			oldest = j;
	}
	return oldest;
}

static int finish_job(struct rebuild *r, struct diag *reterr)
{
	struct command_job *j = ended_job(r);
	int status = 0;

	while (waitpid(j->pid, &status, 0) < 0 && errno == EINTR)
		;
	j->pid = 0;
	r->running--;
	r->done += j->unit_cnt;
	if (r->progress)
		r->progress(r->done, r->total, r->arg);
	if (proc_status(status))
		return report_failure(j, proc_status(status), reterr);
	product_renew_stand_ins(j->unit->object);
	return 0;
}

static int run_jobs(struct rebuild *r, unsigned jobs, struct diag *reterr)
{
	size_t next = 0;
	int err = 0;

	while (r->running || (next < r->jobs.cnt && err == 0)) {
		int failed;

		if (err == 0 && next < r->jobs.cnt && r->running < jobs) {
			err = start_job(r, &r->jobs.items[next++], reterr);
			continue;
		}
		failed = finish_job(r, err < 0 ? NULL : reterr);
		if (err == 0)
			err = failed;
	}
	return err;
}

int rebuild_changed(const units *list, const struct launcher_options *o, unsigned jobs,
		    void (*progress)(unsigned done, unsigned total, void *arg), void *arg,
		    struct diag *reterr)
{
	struct launcher_options absolute = *o;
	_cleanup_(freep) char *build_dir = path_real(o->build_dir);
	_cleanup_(freep) char *include_dir = o->include_dir ? path_real(o->include_dir) : NULL;
	_cleanup_(freep) char *runtime_dir = o->runtime_dir ? path_real(o->runtime_dir) : NULL;
	struct rebuild r = { .o = &absolute, .progress = progress, .arg = arg };
	int err;

	absolute.build_dir = build_dir;		/* the jobs run in other directories */
	absolute.include_dir = include_dir;
	absolute.runtime_dir = runtime_dir;
	absolute.again = true;
	collect_jobs(list, &r);
	err = run_jobs(&r, jobs ? jobs : 1, reterr);
	for (size_t i = 0; i < r.jobs.cnt; i++)
		closep(&r.jobs.items[i].output);
	VEC_RELEASE(&r.jobs);
	return err < 0 ? err : (int)(r.total + r.removed);
}
