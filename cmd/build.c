/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * build.c - `vprof build -- make`: the user's build with the launcher in front of the compiler.
 *
 *	1. run the build; each unit leaves a scan record
 *	2. load the records: functions, call graph
 *	3. decide the plan (given by --functions, or roots and callees)
 *	4. if it changed: recompile the units whose probes change, run the build once more to link
 *
 * Nothing in the user's tree changes but what the build itself writes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/file.h"
#include "base/map.h"
#include "cmd/check_places.h"
#include "cmd/choose_plan.h"
#include "cmd/commands.h"
#include "cmd/common.h"
#include "cmd/launcher_names.h"
#include "cmd/project.h"

#define DEFAULT_DEPTH 3
#define SETTING_BUILD_COMMAND "build.command"

static const char *arg_functions;
static unsigned arg_depth = DEFAULT_DEPTH, arg_jobs;
static bool arg_verbose;

/* ---- step 1: the build ---- */

static int link_compiler(const char *dir, const char *name, const char *self)
{
	_cleanup_(freep) char *path = path_join(dir, name);

	unlink(path);
	return symlink(self, path) < 0 ? -errno : 0;
}

/* Links for every compiler that PATH has, plain and with the versions Debian uses. */
static int make_masquerade(const char *dir, struct diag *reterr)
{
	static const char *const names[] = COMPILER_NAMES;
	static const char *const forms[] = { "%s", "%s-11", "%s-12", "%s-13", "%s-14", "%s-15", "%s-16",
					     "x86_64-linux-gnu-%s", "x86_64-linux-gnu-%s-12",
					     "aarch64-linux-gnu-%s", "aarch64-linux-gnu-%s-12" };
	_cleanup_(freep) char *self = path_self();
	int r = make_dirs(dir, 0700);

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(names); i++)
		for (size_t f = 0; r == 0 && f < ARRAY_SIZE(forms); f++) {
			_cleanup_(str_release) struct str name = STR_INIT;
			const char *hole = strstr(forms[f], "%s");

			str_addn(&name, forms[f], (size_t)(hole - forms[f]));
			str_add(&name, names[i]);
			str_add(&name, hole + 2);

			_cleanup_(freep) char *real = path_which(str_cstr(&name), NULL);

			if (real)
				r = link_compiler(dir, str_cstr(&name), self);
		}
	if (r < 0)
		return diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot make the compiler links in '%s': %s",
				dir, strerror(-r));
	return 0;
}

/* CC=/usr/bin/gcc in the environment would pass by the links on PATH. */
static void wrap_compiler_variable(const char *name)
{
	_cleanup_(freep) char *self = path_self();
	const char *value = getenv(name);

	if (value && value[0] == '/') {
		_cleanup_(freep) char *wrapped = xasprintf("%s cc %s", self, value);

		setenv(name, wrapped, 1);
	}
}

static void prepare_environment(const char *masquerade_dir)
{
	const char *path = getenv("PATH");
	_cleanup_(freep) char *search = xasprintf("%s:%s", masquerade_dir, path ? path : "/usr/bin:/bin");

	setenv("PATH", search, 1);
	setenv("VPROF_DIR", data_dir(), 1);
	if (config_path())
		setenv("VPROF_CONF", config_path(), 1);
	if (arg_verbose)
		setenv("VPROF_VERBOSE", "1", 1);
	wrap_compiler_variable("CC");
	wrap_compiler_variable("CXX");
}

static int run_build(char *const *command, struct diag *reterr)
{
	fflush(stdout);
	int status = proc_run(command, NULL);

	if (status < 0)
		return diag_set(reterr, EXIT_ENVIRONMENT, status, "cannot run '%s': %s", command[0],
				strerror(-status));
	if (status > 0) {
		diag_set(reterr, EXIT_CHECK_FAILED, -EIO, "the build ended with status %d", status);
		reterr->status = (enum exit_status)status;
		return diag_remedy(reterr, -EIO, "does it build without vprof?  If so, "
				   "vprof build -v shows what the launcher does");
	}
	return 0;
}

/* The command of this build: given, [build] command, or the remembered one. */
static int find_command(struct store *s, const struct config *c, char *const *given,
			struct args *ret, struct diag *reterr)
{
	_cleanup_(freep) char *remembered = setting_get(s, SETTING_BUILD_COMMAND);
	const char *shell_text = c->build_command ? c->build_command : remembered;

	if (given && given[0]) {
		args_add_all(ret, given);
		return 0;
	}
	if (!shell_text) {
		diag_set(reterr, EXIT_USAGE, -EINVAL, "build: which command builds the program?");
		return diag_remedy(reterr, -EINVAL, "vprof build -- make");
	}
	args_add(ret, "/bin/sh");
	args_add(ret, "-c");
	args_add(ret, shell_text);
	return 0;
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

/* ---- step 2: what was built ---- */

static int load_units(struct store *s, const char *dir, units *ret, struct diag *reterr)
{
	int r = units_read(dir, ret, reterr);

	if (r == 0 && ret->cnt == 0) {
		diag_set(reterr, EXIT_ENVIRONMENT, -ENODATA,
			 "the build compiled no C or C++ unit through vprof");
		return diag_remedy(reterr, -ENODATA, "clean first (make clean), so that everything is "
				   "compiled again; a build that calls its compiler by an absolute path "
				   "wants CC=\"vprof cc /path/to/gcc\"");
	}
	return r < 0 ? r : project_load(s, ret, reterr);
}

/* ---- step 3: the plan ---- */

static int decide_plan(struct store *s, const struct config *c, const units *scanned,
		       struct plan **ret, struct diag *reterr)
{
	_cleanup_(plan_freep) struct plan *plan = plan_new();
	_cleanup_(project_freep) struct project *project = NULL;
	size_t root_cnt;
	int r = project_read(s, &project, reterr);

	if (r < 0)
		return r;
	if (arg_functions) {
		r = plan_from_text(project, arg_functions, plan, reterr);
		if (r < 0)
			return r;
	} else {
		choose_plan(project, c, scanned, arg_depth, plan, &root_cnt);
		/* Places that are nowhere are told by check_places(). */
		if (root_cnt == 0 && c->intervals.cnt == 0) {
			diag_set(reterr, EXIT_USAGE, -ENOENT,
				 "nothing says what an interval is: there is no [interval] in vprof.conf "
				 "and no VPROF_BEGIN in the sources");
			return diag_remedy(reterr, -ENOENT,
					   "vprof annotate --start FUNCTION --end FUNCTION, then vprof build");
		}
	}
	*ret = TAKE_PTR(plan);
	return 0;
}

/* ---- step 4: rebuild ---- */

static void show_progress(unsigned done, unsigned total, void *arg)
{
	(void)arg;
	progress_line("recompiling %u of %u units", done, total);
}

static int apply_plan(const units *scanned, const struct plan *plan, const struct args *command,
		      struct diag *reterr)
{
	_cleanup_(freep) char *path = plan_path();
	_cleanup_(launcher_context_release) struct launcher_context context = { 0 };
	unsigned jobs = arg_jobs ? arg_jobs : (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	int r = plan_write(path, plan, reterr);

	if (r == 0)
		r = launcher_context_read(&context, reterr);
	if (r < 0)
		return r;
	context.options.verbose = arg_verbose;

	int rebuilt = rebuild_changed(scanned, &context.options, jobs ? jobs : 1, show_progress, NULL,
				      reterr);

	progress_done();
	if (rebuilt <= 0)
		return rebuilt;
	note_line("%d of %zu unit%s recompiled with the new probes; linking", rebuilt, scanned->cnt,
		  scanned->cnt == 1 ? "" : "s");
	return run_build(command->items, reterr);
}

/* ---- the report ---- */

struct tally {
	const char *reason;
	unsigned cnt;
	const struct scan_function *example;
};

static void print_skipped(const units *list)
{
	_cleanup_(map_freep) struct map *seen = map_new();
	VEC(struct tally) tallies = { 0 };

	for (size_t u = 0; u < list->cnt; u++) {
		const struct unit *unit = list->items[u];

		if (unit->untouched)
			warn_line("'%s' was compiled untouched: %s", unit->source, unit->untouched);
		for (size_t i = 0; i < unit->functions.cnt; i++) {
			const struct scan_function *f = &unit->functions.items[i];
			size_t t = 0;

			if (!f->skipped || (*map_slot(seen, f->key))++)
				continue;
			while (t < tallies.cnt && strcmp(tallies.items[t].reason, f->skipped) != 0)
				t++;
			if (t == tallies.cnt)
				VEC_ADD(&tallies, (struct tally){ f->skipped, 0, f });
			tallies.items[t].cnt++;
		}
	}
	for (size_t t = 0; t < tallies.cnt; t++)
		note_line("%u function%s cannot take a probe: %s (%s at %s:%u%s)", tallies.items[t].cnt,
			  tallies.items[t].cnt == 1 ? "" : "s", tallies.items[t].reason,
			  tallies.items[t].example->name, path_base(tallies.items[t].example->file),
			  tallies.items[t].example->line, tallies.items[t].cnt > 1 ? ", ..." : "");
	VEC_RELEASE(&tallies);
}

static void print_summary(const units *list)
{
	_cleanup_(map_freep) struct map *functions = map_new(), *probed = map_new();

	for (size_t u = 0; u < list->cnt; u++)
		for (size_t i = 0; i < list->items[u]->functions.cnt; i++) {
			const struct scan_function *f = &list->items[u]->functions.items[i];

			map_set(functions, f->key, 1);
			if (f->probed)
				map_set(probed, f->key, 1);
		}
	print_skipped(list);
	note_line("%zu unit%s, %zu function%s, %zu of them probed (vprof show coverage lists them)",
		  list->cnt, list->cnt == 1 ? "" : "s", map_cnt(functions),
		  map_cnt(functions) == 1 ? "" : "s", map_cnt(probed));
	note_line("next: vprof record -- COMMAND   (what puts load on the program and ends by itself)");
}

/* ---- the stages ---- */

static int build(struct store *s, const struct config *c, char *const *given, struct diag *reterr)
{
	_cleanup_(args_release) struct args command = ARGS_INIT;
	_cleanup_(freep) char *dir = build_dir(), *masquerade = path_join(dir, "bin"), *path = plan_path();
	_cleanup_(units_release) units scanned = { 0 };
	_cleanup_(str_release) struct str unused = STR_INIT;
	_cleanup_(plan_freep) struct plan *plan = NULL;
	int r = find_command(s, c, given, &command, reterr);

	if (r == 0)
		r = make_masquerade(masquerade, reterr);
	if (r == 0 && arg_functions && strcmp(arg_functions, "all") == 0) {
		plan = plan_new();
		plan->all = PLAN_ALWAYS;
		r = plan_write(path, plan, reterr);
	}
	if (r < 0)
		return r;
	prepare_environment(masquerade);
	r = run_build(command.items, reterr);
	if (r == 0)
		r = load_units(s, dir, &scanned, reterr);
	if (r == 0)
		r = remember_command(s, &command, reterr);
	plan_free(TAKE_PTR(plan));
	if (r == 0)
		r = decide_plan(s, c, &scanned, &plan, reterr);
	if (r == 0)
		r = apply_plan(&scanned, plan, &command, reterr);
	units_release(&scanned);
	if (r == 0)
		r = load_units(s, dir, &scanned, reterr);
	if (r == 0)
		r = check_places(c, &scanned, &unused, reterr);
	if (unused.len)
		warn_line("%s: nothing in the build is called so: %s", c->path, unused.data);
	if (r == 0)
		print_summary(&scanned);
	return r;
}

static int build_run(int argc, char **argv)
{
	_cleanup_(config_release) struct config config = { 0 };
	_cleanup_(store_closep) struct store *store = NULL;
	struct diag diag = DIAG_INIT;
	char *const *command = NULL;
	int status;

	if (options_parse_command(argc, argv, &cmd_build, NULL, &command, &status))
		return status;
	if (config_read(config_path(), &config, &diag) < 0 ||
	    store_open(data_dir(), true, &store, &diag) < 0 ||
	    build(store, &config, command, &diag) < 0)
		return fail(&diag);
	return EXIT_DONE;
}

static const struct option_desc build_options[] = {
	{ 0, "functions", "LIST", OPT_STR, &arg_functions, "all, a file of names, or NAME,NAME...: what to probe" },
	{ 0, "depth", "N", OPT_UINT, &arg_depth, "without --functions: callees of the interval's root, N calls down (3)" },
	{ 'j', "jobs", "N", OPT_UINT, &arg_jobs, "recompile N units at a time (default: one a core)" },
	{ 'v', "verbose", NULL, OPT_FLAG, &arg_verbose, "say what the launcher does to each unit" },
	OPT_END
};
static const char *const build_examples[] = {
	"vprof build -- make -j4",
	"vprof build --functions all -- make",
	"vprof build --functions parse_request,server.c:flush_log",
	NULL
};
const struct cmd cmd_build = {
	.name = "build", .synopsis = "[--functions all|FILE|NAME,...] [-- COMMAND...]",
	.summary = "run your build with the probes in place",
	.options = build_options, .run = build_run, .examples = build_examples,
};
