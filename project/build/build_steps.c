/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * build_steps.c - the user's build with the launcher in front of the compiler.
 *
 * Links named cc, gcc, ... stand first on PATH and lead to the launcher, a program of its own; a preloaded library
 * catches compilers that are called by an absolute path.  Nothing in the user's tree changes except the build's own
 * output, and that does not refer to vprof.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/file.h"
#include "instrumenter/products/owner.h"
#include "instrumenter/products/product.h"
#include "instrumenter/products/interrupted_output.h"
#include "project/build/build_steps.h"
#include "project/build/choose_plan.h"
#include "project/build/early_functions.h"
#include "project/config/data_lock.h"
#include "project/config/launch.h"
#include "project/config/locate.h"
#include "project/notices.h"

#define SETTING_BUILD_COMMAND "build.command"

/* ---- the build ---- */

static int link_compiler(const char *dir, const char *name, const char *launcher)
{
	_cleanup_(freep) char *path = path_join(dir, name);

	unlink(path);
	return symlink(launcher, path) < 0 ? -errno : 0;
}

/* Makes links for every compiler in a directory of PATH, except our own directory. */
static int link_compilers_of(const char *dir, const char *place, const char *launcher)
{
	DIR *d = strcmp(place, dir) ? opendir(place) : NULL;
	struct dirent *entry;
	int r = 0;

	while (d && r == 0 && (entry = readdir(d))) {
		_cleanup_(freep) char *path = path_join(place, entry->d_name);

		if (launcher_name(entry->d_name) && access(path, X_OK) == 0)
			r = link_compiler(dir, entry->d_name, launcher);
	}
	if (d)
		closedir(d);
	return r;
}

static int make_masquerade(const char *dir, struct diag *reterr)
{
	const char *search = getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin";
	_cleanup_(freep) char *launcher = launcher_path();
	int r;

	if (strchr(dir, ':')) {
		diag_set(reterr, EXIT_ENVIRONMENT, -EINVAL, "cannot build with data in '%s': $PATH, which leads to the compiler "
			 "links there, holds no name with ':'", data_dir());
		return diag_remedy(reterr, -EINVAL, "vprof -d DIR build, with a DIR without ':'");
	}
	r = make_dirs(dir, 0700);
	while (r == 0 && search) {
		_cleanup_(freep) char *place = path_list_next(&search);

		r = link_compilers_of(dir, place, launcher);
	}
	if (r < 0)
		return diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot make the compiler links in '%s': %s",
				dir, strerror(-r));
	return 0;
}

static const char *const variables[] = {
	"PATH", "LD_PRELOAD", "ASAN_OPTIONS", "CMAKE_PROGRAM_PATH", "CCACHE_DISABLE", "VPROF_CCACHE",
	"VPROF_LAUNCHER", "VPROF_LINKS", "VPROF_DIR", "VPROF_CONF", "VPROF_VERBOSE", OWNER_VARIABLE,
};

struct environment {
	char *values[ARRAY_SIZE(variables)];	/* NULL: not set */
};

/* Compilers called by an absolute path: catch_exec.c. */
static void catch_absolute_paths(const char *masquerade_dir)
{
	_cleanup_(freep) char *launcher = launcher_path();

	if (preload("libvprof-exec.so")) {
		setenv("VPROF_LAUNCHER", launcher, 1);
		setenv("VPROF_LINKS", masquerade_dir, 1);
	}
}

/* Only the build runs in this environment: the recorded program may call a compiler, too. */
static void enter_environment(const char *masquerade_dir, bool verbose, struct environment *ret_old)
{
	_cleanup_(freep) char *path = xstrdup(getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
	_cleanup_(freep) char *search = xasprintf("%s:%s", masquerade_dir, path), *owner = owner_name();

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *value = getenv(variables[i]);

		ret_old->values[i] = value ? xstrdup(value) : NULL;
	}
	setenv("PATH", search, 1);
	/* cmake stores the path of the compiler that it finds: make it find the real one. */
	environment_append("CMAKE_PROGRAM_PATH", path);
	if (owner)
		setenv(OWNER_VARIABLE, owner, 1);
	setenv("VPROF_DIR", data_dir(), 1);
	if (config_path())
		setenv("VPROF_CONF", config_path(), 1);
	if (verbose)
		setenv("VPROF_VERBOSE", "1", 1);
	/* A ccache in front of us would take us for the compiler: see stop_catching() of launch.c. */
	if (!getenv("CCACHE_DISABLE")) {
		setenv("CCACHE_DISABLE", "1", 1);
		setenv("VPROF_CCACHE", "1", 1);
	}
	catch_absolute_paths(masquerade_dir);
}

static void leave_environment(struct environment *old)
{
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		if (old->values[i])
			setenv(variables[i], old->values[i], 1);
		else
			unsetenv(variables[i]);
		free(old->values[i]);
	}
}

static int run_build(const struct args *command, const struct build_options *o, struct diag *reterr)
{
	_cleanup_(freep) char *dir = build_dir(), *masquerade = path_join(dir, "bin");
	_cleanup_(str_release) struct str said = STR_INIT;
	const struct proc_options options = { .out = o->quiet ? &said : NULL, .err_to_out = o->quiet, .ends_with_us = true };
	struct environment old;

	fflush(NULL);		/* before the build's output */
	enter_environment(masquerade, o->verbose, &old);
	int status = proc_run(command->items, &options);

	leave_environment(&old);
	if (status != 0 && said.len)
		tell_verbatim(said.data);
	if (status < 0)
		return diag_set(reterr, EXIT_ENVIRONMENT, status, "cannot run '%s': %s", command->items[0],
				strerror(-status));
	if (status > 0) {
		diag_set(reterr, EXIT_CHECK_FAILED, -EIO, "the build ended with status %d", status);
		if (reterr)
			reterr->status = (enum exit_status)status;
		return diag_remedy(reterr, -EIO, "does it build without vprof?  If so, "
				   "vprof build -v shows what the launcher does");
	}
	return 0;
}

/* The command of this build: given, [build] command, or the remembered one. */
int build_command(struct store *s, const struct config *c, const char *command_name,
		  char *const *given, struct args *ret, struct diag *reterr)
{
	_cleanup_(freep) char *remembered = setting_get(s, SETTING_BUILD_COMMAND);
	const char *shell_text = c->build_command ? c->build_command : remembered;

	if (given && given[0]) {
		args_add_all(ret, given);
		return 0;
	}
	if (!shell_text) {
		diag_set(reterr, EXIT_USAGE, -EINVAL, "%s: which command builds the program?",
			 command_name);
		return diag_remedy(reterr, -EINVAL, "vprof build -- make");
	}
	args_add(ret, "/bin/sh");
	args_add(ret, "-c");
	args_add(ret, shell_text);
	return 0;
}

int lock_to_build(struct config *c, struct diag *reterr)
{
	int r = data_lock(LOCK_BUILD, reterr);

	if (r <= 0)
		return r;
	config_release(c);
	*c = (struct config){ 0 };
	return project_config(c, reterr);
}

static int remember_command(struct store *s, const struct args *command, struct diag *reterr)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	if (command->cnt == 3 && !strcmp(command->items[0], "/bin/sh") && !strcmp(command->items[1], "-c")) {
		str_add(&text, command->items[2]);
	} else {
		for (size_t i = 0; i < command->cnt; i++) {
			if (i)
				str_addc(&text, ' ');
			str_add_shell_quoted(&text, command->items[i]);
		}
	}
	return setting_set(s, SETTING_BUILD_COMMAND, str_cstr(&text), reterr);
}

/* ---- what was built ---- */

static int load_units(struct store *s, const units *list, struct diag *reterr)
{
	if (list->cnt == 0) {
		diag_set(reterr, EXIT_ENVIRONMENT, -ENODATA,
			 "the build compiled no C or C++ unit through vprof: if the tree is compiled already, all of it is up to date");
		return diag_remedy(reterr, -ENODATA, "clean first (make clean), so that everything is "
				   "compiled again; a build that clears its environment, or whose make is a static "
				   "program, needs CC=\"vprof cc gcc\"; C from standard input, and what is compiled to "
				   "assembler (-S), carries no probe");
	}
	return project_load(s, list, reterr);
}

int build_load_units(struct store *s, units *ret, struct diag *reterr)
{
	_cleanup_(freep) char *dir = build_dir();
	int r = units_read(dir, ret, reterr);

	if (r == 0)
		units_sweep(ret, dir);
	return r < 0 ? r : load_units(s, ret, reterr);
}

/* Says why the build runs again. */
static void tell_again(size_t cnt, size_t lost)
{
	if (lost)
		note_line("what vprof knew of %zu unit%s is missing or damaged: compiling %s again", lost, lost == 1 ? "" : "s",
			  lost == 1 ? "it" : "them");
	if (cnt > lost)
		note_line("%zu object%s compiled without vprof since the last build: building %s again", cnt - lost,
			  cnt - lost == 1 ? " was" : "s were", cnt - lost == 1 ? "it" : "them");
}

/* Objects that were compiled without vprof since the last build count as up to date for make, and so do those with a
 * missing part of the scan: they are set aside, and the build makes them again.  list: the records, before and after. */
static int build_foreign(units *list, const struct args *command, const struct build_options *o,
			 struct diag *reterr)
{
	_cleanup_(freep) char *dir = build_dir();
	size_t lost = units_mend_lost(list, dir), cnt = products_set_aside(list, dir);
	int r;

	if (cnt == 0 && lost == 0)
		return 0;
	tell_again(cnt, lost);
	r = run_build(command, o, reterr);
	if (r < 0) {
		products_put_back(list, dir);
		return r;
	}
	products_forget(list, dir);
	units_release(list);
	return units_read(dir, list, reterr);
}

int build_scan(struct store *s, const struct args *command, const struct build_options *o,
	       units *ret, struct diag *reterr)
{
	_cleanup_(freep) char *dir = build_dir(), *masquerade = path_join(dir, "bin");
	_cleanup_(launcher_context_release) struct launcher_context context = { 0 };
	int r = launcher_context_read(&context, reterr);	/* what each compile needs; without it no unit gets
								 * probes */

	if (r == 0)
		r = make_masquerade(masquerade, reterr);
	unfinished_remove(dir);
	if (r == 0)
		r = run_build(command, o, reterr);
	if (r == 0)
		r = units_read_some(dir, ret, reterr);
	if (r == 0)
		r = build_foreign(ret, command, o, reterr);
	if (r == 0)
		units_sweep(ret, dir);
	if (r == 0)
		r = load_units(s, ret, reterr);
	return r < 0 ? r : remember_command(s, command, reterr);
}

/* ---- another plan ---- */

static void show_progress(unsigned done, unsigned total, void *arg)
{
	(void)arg;
	progress_line("recompiling %u of %u units", done, total);
}

static int rebuild_wanted(const units *scanned, const struct launcher_options *launcher, const struct build_options *o, unsigned jobs,
			  struct diag *reterr)
{
	units wanted = { NULL, 0, 0 };
	int rebuilt;

	for (size_t i = 0; i < scanned->cnt; i++)
		if (!o->leaves || !o->leaves(scanned->items[i], o->leaves_arg))
			VEC_ADD(&wanted, scanned->items[i]);
	rebuilt = rebuild_changed(&wanted, launcher, jobs, show_progress, NULL, reterr);
	VEC_RELEASE(&wanted);
	return rebuilt;
}

int build_apply(struct store *s, units *scanned, struct plan *plan, const struct args *command,
		const struct build_options *o, struct diag *reterr)
{
	_cleanup_(freep) char *path = plan_path();
	_cleanup_(launcher_context_release) struct launcher_context context = { 0 };
	unsigned jobs = o->jobs ? o->jobs : (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	int r = plan_early_functions(s, scanned, plan, reterr);

	if (r == 0)
		r = plan_fits(plan, scanned, reterr);
	if (r == 0)
		r = plan_write(path, plan, reterr);
	if (r == 0)
		r = launcher_context_read(&context, reterr);
	if (r < 0)
		return r;
	context.options.verbose = o->verbose;

	int rebuilt = rebuild_wanted(scanned, &context.options, o, jobs ? jobs : 1, reterr);

	progress_done();
	if (rebuilt <= 0)
		return rebuilt;
	if (!o->quiet)
		note_line("%d of %zu unit%s recompiled with the new probes; linking", rebuilt, scanned->cnt,
		  scanned->cnt == 1 ? "" : "s");
	else
		progress_line("linking with %d of %zu units new", rebuilt, scanned->cnt);
	r = run_build(command, o, reterr);
	progress_done();
	if (r < 0)
		return r;
	units_release(scanned);
	return build_load_units(s, scanned, reterr);
}
