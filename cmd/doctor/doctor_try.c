/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * doctor_try.c - builds and records a small program with every compiler on PATH.
 *
 * Whatever prevents a user's build and run (a compiler that does not link, a security module, a full /dev/shm)
 * prevents this one, too.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/str.h"
#include "cmd/doctor/doctor.h"

static const char source[] =
	"static volatile int sink;\n"
	"void handle(int n) { sink += n; }\n"
	"int main(void) { for (int i = 0; i < 50; i++) handle(i); return 0; }\n";
static const char conf[] = "[interval \"request\"]\nstart = handle\nend = handle\n";

/* Runs our own program, with "build" or "record", in the trial's project; collects its output. */
static int run_vprof(const char *dir, char *const *words, struct str *said)
{
	static const char *const users[] = { "VPROF_DIR", "VPROF_CONF", NULL };
	_cleanup_(freep) char *self = path_self();
	_cleanup_(args_release) struct args a = ARGS_INIT;
	struct proc_options o = { .dir = dir, .out = said, .err_to_out = true, .unset = users };

	args_add(&a, self);
	args_add_all(&a, words);
	str_reset(said);
	return proc_run(a.items, &o);
}

static int build_and_record(const char *dir, const char *compiler, struct str *said)
{
	const char *const build[] = { "build", "--functions", "all", "--", compiler, "-O1", "try.c", "-o", "try", NULL };
	const char *const record[] = { "record", "--", "./try", NULL };
	int status = run_vprof(dir, (char *const *)(uintptr_t)build, said);

	return status ? status : run_vprof(dir, (char *const *)(uintptr_t)record, said);
}

/* Reports the last "vprof: error: TEXT" and its "  → REMEDY", else the last line. */
static void tell(struct diagnosis *d, const char *compiler, const char *said)
{
	static const char mark[] = "vprof: error: ", then[] = "  → ";
	const char *error = NULL, *remedy;

	for (const char *p = strstr(said, mark); p; p = strstr(p + 1, mark))
		error = p + strlen(mark);
	remedy = error ? strstr(error, then) : NULL;
	_cleanup_(freep) char *text = error ? xstrndup(error, strcspn(error, "\n")) : xstrdup(said);
	_cleanup_(freep) char *fix = remedy ? xstrndup(remedy + strlen(then), strcspn(remedy + strlen(then), "\n")) : NULL;

	diagnosis_add(d, "trial", DIAGNOSIS_PROBLEM, fix,
		      "a program of three lines cannot be built and recorded with %s: %s", compiler, text);
}

static volatile sig_atomic_t ended_by;

static void on_end(int number)
{
	ended_by = number;
}

static const int ends[] = { SIGINT, SIGTERM, SIGHUP };

/* Until uncatch_ends(), a signal that ends the program waits until the directory is removed. */
static void catch_ends(struct sigaction old[static ARRAY_SIZE(ends)])
{
	struct sigaction note = { .sa_handler = on_end, .sa_flags = SA_RESTART };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		sigaction(ends[i], NULL, &old[i]);
		if (old[i].sa_handler != SIG_IGN)	/* nohup's */
			sigaction(ends[i], &note, NULL);
	}
}

static void uncatch_ends(const struct sigaction old[static ARRAY_SIZE(ends)])
{
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		sigaction(ends[i], &old[i], NULL);
	if (ended_by)
		raise(ended_by);
}

void doctor_try(struct diagnosis *d)
{
	struct sigaction old[ARRAY_SIZE(ends)];
	static const char *const compilers[] = { "gcc", "g++", "clang", "clang++" };
	const char *tmp = getenv("TMPDIR");
	_cleanup_(freep) char *dir = path_join(tmp && *tmp ? tmp : "/tmp", "vprof-doctor-XXXXXX");
	_cleanup_(str_release) struct str said = STR_INIT, good = STR_INIT;

	if (!mkdtemp(dir)) {
		diagnosis_add(d, "trial", DIAGNOSIS_PROBLEM, "set TMPDIR to a directory that can be written",
			      "cannot make a directory like '%s'", dir);
		return;
	}
	_cleanup_(freep) char *file = path_join(dir, "try.c"), *conf_file = path_join(dir, "vprof.conf");

	catch_ends(old);
	for (size_t i = 0; i < ARRAY_SIZE(compilers) && !ended_by; i++) {
		_cleanup_(freep) char *path = path_which(compilers[i], NULL);
		int status;

		if (!path)
			continue;
		status = file_write(file, source, strlen(source), 0600);
		if (status == 0)
			status = file_write(conf_file, conf, strlen(conf), 0600);
		if (status == 0)
			status = build_and_record(dir, compilers[i], &said);
		if (ended_by)
			break;
		if (status)
			tell(d, compilers[i], str_cstr(&said));
		else
			str_addf(&good, "%s%s", good.len ? ", " : "", compilers[i]);
	}
	if (good.len)
		diagnosis_add(d, "trial", DIAGNOSIS_OK, NULL, "built and recorded a small program with %s",
			      good.data);
	remove_tree(dir);
	uncatch_ends(old);
}
