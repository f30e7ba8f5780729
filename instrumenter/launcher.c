/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * launcher.c - `vprof cc COMPILER ARG...`.
 *
 * A command that compiles and links at once is taken apart:
 *
 *	gcc -O2 a.c b.o -o prog
 *
 * compiles a.c to an object of our own below build_dir, then links
 *
 *	gcc -O2 ...a.o b.o -o prog  and the runtime
 *
 * Each unit is preprocessed, parsed, edited, compiled.  The compiler's messages about all this are
 * held back: they would speak of the edited text, without the macros, comments and columns of the
 * user's.  If there are any, the user's own command is run as well, for its messages and its exit
 * status alone.  So a unit without a warning is compiled once, and -Werror means what it always did.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "instrumenter/command.h"
#include "instrumenter/instrument.h"
#include "instrumenter/preprocess.h"

#define STATUS_NOT_FOUND 127		/* as a shell says it */

static int run(const struct args *a, struct str *err)
{
	struct proc_options o = { .err = err };
	int status = proc_run(a->items, &o);

	return status < 0 ? STATUS_NOT_FOUND : status;
}

/* --- the real compiler ------------------------------------------------------------------ */

static bool is_ourselves(const char *path, const char *masquerade_dir)
{
	_cleanup_(freep) char *self = path_self(), *real = path_real(path), *dir = path_dir(path);
	_cleanup_(freep) char *real_dir = path_real(dir);
	_cleanup_(freep) char *ours = masquerade_dir ? path_real(masquerade_dir) : NULL;

	return (self && strcmp(self, real) == 0) || (ours && strcmp(ours, real_dir) == 0);
}

/* The program that name means to a shell, leaving out our own links; name itself if none. */
static char *find_program(const char *name, const char *masquerade_dir)
{
	const char *search = getenv("PATH");
	const char *word = name;

	if (strchr(name, '/')) {
		if (!is_ourselves(name, masquerade_dir))
			return xstrdup(name);
		word = path_base(name);		/* CC=/path/to/our/links/gcc */
	}
	while (search && *search) {
		size_t len = strcspn(search, ":");
		_cleanup_(freep) char *dir = xstrndup(search, len);
		_cleanup_(freep) char *path = path_join(*dir ? dir : ".", word);
		struct stat st;

		if (access(path, X_OK) == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
		    !is_ourselves(path, masquerade_dir))
			return TAKE_PTR(path);
		search += len + (search[len] == ':');
	}
	return xstrdup(name);
}

/* A compiler's wrapper that looks for the real one (ccache) must not find us, or it runs in circles. */
static void leave_search_path(const char *masquerade_dir)
{
	_cleanup_(freep) char *ours = masquerade_dir ? path_real(masquerade_dir) : NULL;
	_cleanup_(str_release) struct str rest = STR_INIT;
	const char *search = getenv("PATH");

	while (ours && search && *search) {
		size_t len = strcspn(search, ":");
		_cleanup_(freep) char *dir = xstrndup(search, len);
		_cleanup_(freep) char *real = path_real(*dir ? dir : ".");

		if (strcmp(real, ours) != 0)
			str_addf(&rest, "%s%s", rest.len ? ":" : "", *dir ? dir : ".");
		search += len + (search[len] == ':');
	}
	if (rest.len)
		setenv("PATH", rest.data, 1);
}

/* Replaces the program words.  A bare name behind ccache is for ccache to find: it leaves out its
 * own links as we leave out ours. */
static void resolve_programs(char *const *argv, const char *masquerade_dir, struct args *ret)
{
	struct command c;

	command_parse(argv, &c);
	for (size_t i = 0; argv[i]; i++) {
		bool is_program = i < 2 && i < c.kinds.cnt && c.kinds.items[i] == WORD_PROGRAM &&
				  (i == 0 || strchr(argv[i], '/'));
		_cleanup_(freep) char *found = is_program ? find_program(argv[i], masquerade_dir) : NULL;

		args_add(ret, found ? found : argv[i]);
	}
	command_release(&c);
}

/* --- one unit ----------------------------------------------------------------------------- */

struct unit_job {
	const struct launcher_options *o;
	const struct command *c;
	size_t source;
	char *object;			/* the file to be made */
	char *text_path;		/* of the preprocessed, then edited text */
	struct unit *unit;
	struct str messages;		/* about the unit's text as we see it */
};

static const char *const mattering_environment[] = {
	"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX",
	"LIBRARY_PATH", "SOURCE_DATE_EPOCH", "PATH", "CCACHE_DIR", "TMPDIR",
};

static void record_command(struct unit *u, const struct args *words)
{
	size_t cnt = 0;

	u->argv = ARENA_NEW(u->arena, const char *, words->cnt + 1);
	for (size_t i = 0; i < words->cnt; i++)
		u->argv[i] = arena_strdup(u->arena, words->items[i]);
	u->environment = ARENA_NEW(u->arena, const char *, ARRAY_SIZE(mattering_environment) + 1);
	for (size_t i = 0; i < ARRAY_SIZE(mattering_environment); i++) {
		const char *value = getenv(mattering_environment[i]);

		if (value)
			u->environment[cnt++] = arena_printf(u->arena, "%s=%s",
							     mattering_environment[i], value);
	}
}

static struct unit *new_unit(const struct command *c, size_t i)
{
	struct unit *u = unit_new();
	_cleanup_(freep) char *directory = path_real(".");
	_cleanup_(freep) char *name = command_object(c, i);
	_cleanup_(freep) char *joined = path_join(directory, name);
	_cleanup_(freep) char *object = path_real(joined), *source = path_real(c->sources.items[i].path);

	u->directory = arena_strdup(u->arena, directory);
	u->object = arena_strdup(u->arena, object);
	u->source = arena_strdup(u->arena, source);
	record_command(u, &c->words);
	return u;
}

static void give_up(struct unit_job *j, const char *why)
{
	if (!j->unit->untouched)
		j->unit->untouched = arena_strdup(j->unit->arena, why);
}

/* A build may have renamed or swallowed the dependency file of the first time (automake, ninja). */
static bool writes_deps(const struct unit_job *j)
{
	_cleanup_(freep) char *file = j->o->again ? dependency_file(j->c, j->source) : NULL;

	return !j->o->again || (file && file_exists(file));
}

static bool preprocess(struct unit_job *j, char **ret_text, size_t *ret_len)
{
	_cleanup_(args_release) struct args a = ARGS_INIT;

	preprocess_command(j->c, j->source, j->text_path, j->o->include_dir, writes_deps(j), &a);
	if (run(&a, &j->messages) != 0) {
		give_up(j, "the preprocessor reports an error");
		return false;
	}
	if (file_read(j->text_path, ret_text, ret_len) < 0) {
		give_up(j, "the preprocessor's output cannot be read");
		return false;
	}
	return true;
}

static bool wants_prototype(const char *name, void *arg)
{
	return primitives_find(arg, name) != NULL;
}

/* Parses and edits.  False: the unit is to be compiled as it is, because nothing is to be
 * inserted or because of what unit->untouched says. */
static bool edit_text(struct unit_job *j, const char *text, size_t len, struct str *ret)
{
	_cleanup_(lines_freep) struct lines *lines = lines_new(text, len, j->unit->directory,
								j->o->include_dir);
	struct parse_input input = {
		.path = j->text_path, .text = text, .len = len, .lines = lines,
		.language = j->c->sources.items[j->source].language, .standard = j->c->standard,
		.wants_prototype = wants_prototype, .arg = (void *)(uintptr_t)j->o->sync,
	};
	_cleanup_(parsed_freep) struct parsed *parsed = parse_text(&input);
	_cleanup_(instrumenting_release) struct instrumenting in = {
		.o = j->o, .text = text, .len = len, .language = input.language,
		.standard = input.standard, .lines = lines, .parsed = parsed, .unit = j->unit,
	};

	if (!parsed) {
		give_up(j, "libclang could not parse it");
		return false;
	}
	if (parsed->error) {
		struct position at = lines_at(lines, parsed->error_offset);

		j->unit->untouched = arena_printf(j->unit->arena, "libclang does not understand %s:%u: "
						  "%s", at.file, at.line, parsed->error);
		return false;
	}
	scan_unit(&in);
	return instrument_unit(&in, ret);
}

/* The first line of a compiler's messages that speaks of an error. */
static void give_up_compiling(struct unit_job *j, const struct str *messages)
{
	const char *error = strstr(str_cstr(messages), "error:");
	size_t len = error ? strcspn(error, "\n") : 0;

	j->unit->untouched = arena_printf(j->unit->arena, "the instrumented text did not compile: %.*s",
					  (int)len, error ? error : "");
	for (size_t i = 0; i < j->unit->functions.cnt; i++)
		j->unit->functions.items[i].probed = false;
}

/* The edited text to the object; true if there is one. */
static bool compile_instrumented(struct unit_job *j)
{
	_cleanup_(freep) char *text = NULL;
	_cleanup_(str_release) struct str edited = STR_INIT;
	_cleanup_(args_release) struct args a = ARGS_INIT;
	size_t len;

	if (!preprocess(j, &text, &len) || !edit_text(j, text, len, &edited))
		return false;
	if (file_write(j->text_path, edited.data, edited.len, 0600) < 0) {
		give_up(j, "the instrumented text cannot be written");
		return false;
	}
	compile_command(j->c, j->source, j->text_path, j->object, !j->o->again, &a);
	/* These would write a second dependency file, of a unit without headers. */
	unsetenv("DEPENDENCIES_OUTPUT");
	unsetenv("SUNPRO_DEPENDENCIES");
	if (run(&a, &j->messages) != 0) {
		give_up_compiling(j, &j->messages);
		return false;
	}
	return true;
}

static int compile_original(struct unit_job *j)
{
	_cleanup_(args_release) struct args a = ARGS_INIT;

	original_command(j->c, j->source, j->object, j->o->include_dir, writes_deps(j), &a);
	return run(&a, NULL);
}

/* The compiler has something to say: let it say that about the user's text.  It may be an error
 * there (-Werror); then there is no object. */
static int say_messages(struct unit_job *j)
{
	_cleanup_(args_release) struct args a = ARGS_INIT;
	int status;

	if (j->o->again || !j->messages.len)
		return 0;
	messages_command(j->c, j->source, j->text_path, j->o->include_dir, &a);
	status = run(&a, NULL);
	if (status)
		unlink(j->object);
	return status;
}

static int compile_unit(struct unit_job *j)
{
	char *const saved[] = { getenv("DEPENDENCIES_OUTPUT"), getenv("SUNPRO_DEPENDENCIES") };
	_cleanup_(freep) char *gcc_deps = saved[0] ? xstrdup(saved[0]) : NULL;
	_cleanup_(freep) char *sun_deps = saved[1] ? xstrdup(saved[1]) : NULL;
	bool done = !j->c->untouchable && compile_instrumented(j);
	int status = done ? say_messages(j) : 0;

	if (j->c->untouchable)
		give_up(j, j->c->untouchable);
	if (gcc_deps)
		setenv("DEPENDENCIES_OUTPUT", gcc_deps, 1);
	if (sun_deps)
		setenv("SUNPRO_DEPENDENCIES", sun_deps, 1);
	if (!done)
		status = compile_original(j);
	unlink(j->text_path);
	if (status == 0) {
		j->unit->probe_set = probe_set_of(j->unit, j->o);
		/* Without its record a unit is not rebuilt and not reported; the object is good. */
		unit_write(j->o->build_dir, j->unit, NULL);
	}
	return status;
}

static void say_untouched(const struct unit *u)
{
	_cleanup_(str_release) struct str s = STR_INIT;

	str_addf(&s, "vprof cc: %s: compiled untouched: %s\n", u->source, u->untouched);
	(void)!write(STDERR_FILENO, s.data, s.len);
}

/* Compiles source i to object (in the user's terms a path relative to here). */
static int run_unit(const struct launcher_options *o, const struct command *c, size_t i,
		    const char *object)
{
	struct unit *u = new_unit(c, i);
	struct unit_job j = {
		.o = o, .c = c, .source = i, .object = xstrdup(object), .unit = u,
		.text_path = unit_path(o->build_dir, u->object,
				       c->sources.items[i].language == LANG_CXX ? ".ii" : ".i"),
	};
	int status = compile_unit(&j);

	if (o->verbose && status == 0 && u->untouched)
		say_untouched(u);
	str_release(&j.messages);
	free(j.object);
	free(j.text_path);
	unit_free(u);
	return status;
}

/* gcc -c a.c b.S: b.S is not ours. */
static int assemble(const struct command *c)
{
	_cleanup_(args_release) struct args a = ARGS_INIT;

	for (size_t w = 0; w < c->words.cnt; w++)
		if (c->kinds.items[w] != WORD_SOURCE)
			args_add(&a, c->words.items[w]);
	return run(&a, NULL);
}

static int compile_only(const struct launcher_options *o, const struct command *c)
{
	int status = command_has(c, WORD_ASSEMBLER) ? assemble(c) : 0;

	for (size_t i = 0; i < c->sources.cnt; i++) {
		_cleanup_(freep) char *object = command_object(c, i);
		int s = run_unit(o, c, i, object);

		status = status ? status : s;
	}
	return status;
}

/* --- linking ---------------------------------------------------------------------------------- */

static void add_runtime(const struct launcher_options *o, const struct command *c, struct args *ret)
{
	if (!o->runtime_dir || c->link != LINK_EXECUTABLE)
		return;
	args_add(ret, "-x");		/* a language given before would be taken for the library's */
	args_add(ret, "none");
	args_add(ret, "-Wl,-u,vprof_anchor");
	args_addf(ret, "-Wl,--dynamic-list=%s/libvprof.list", o->runtime_dir);
	args_addf(ret, "%s/libvprof.a", o->runtime_dir);
	args_add(ret, "-lpthread");
}

/* The user's own words: a response file stays one, a command line may be too long without. */
static int link_only(const struct launcher_options *o, const struct command *c, char *const *argv)
{
	_cleanup_(args_release) struct args a = ARGS_INIT;

	args_add_all(&a, argv);
	add_runtime(o, c, &a);
	return run(&a, NULL);
}

/* The link of a command that also compiles: objects[i] stands where source i stood. */
static int link_objects(const struct launcher_options *o, const struct command *c, char **objects)
{
	_cleanup_(args_release) struct args a = ARGS_INIT;
	bool assembles = command_has(c, WORD_ASSEMBLER);	/* b.S has #includes, too */
	size_t next = 0;

	for (size_t w = 0; w < c->words.cnt; w++) {
		enum word_kind kind = c->kinds.items[w];

		if (kind == WORD_SOURCE) {
			args_add(&a, "-x");
			args_add(&a, "none");
			args_add(&a, objects[next++]);
		} else if (kind != WORD_DEPENDENCY && (kind != WORD_PREPROCESS || assembles)) {
			args_add(&a, c->words.items[w]);
		}
	}
	add_runtime(o, c, &a);
	return run(&a, NULL);
}

static int compile_and_link(const struct launcher_options *o, const struct command *c)
{
	char **objects = xcalloc(c->sources.cnt + 1, sizeof(*objects));
	int status = 0;

	for (size_t i = 0; i < c->sources.cnt; i++) {
		_cleanup_(freep) char *name = command_object(c, i);
		_cleanup_(freep) char *real = path_real(name);
		int s;

		objects[i] = unit_path(o->build_dir, real, ".o");
		s = run_unit(o, c, i, objects[i]);
		status = status ? status : s;
	}
	if (!status)
		status = link_objects(o, c, objects);
	for (size_t i = 0; i < c->sources.cnt; i++) {
		if (objects[i])
			unlink(objects[i]);
		free(objects[i]);
	}
	free(objects);
	return status;
}

/* --- the whole -------------------------------------------------------------------------------- */

int launcher_run(char *const *argv, const struct launcher_options *o)
{
	_cleanup_(args_release) struct args resolved = ARGS_INIT;
	struct command c;
	int status;

	resolve_programs(argv, o->masquerade_dir, &resolved);
	leave_search_path(o->masquerade_dir);
	command_parse(resolved.items, &c);
	switch (o->build_dir && make_dirs(o->build_dir, 0700) >= 0 ? c.kind : COMMAND_PASS) {
	case COMMAND_COMPILE:
		status = compile_only(o, &c);
		break;
	case COMMAND_COMPILE_LINK:
		status = compile_and_link(o, &c);
		break;
	case COMMAND_LINK:
		status = link_only(o, &c, resolved.items);
		break;
	default:
		status = run(&resolved, NULL);
	}
	command_release(&c);
	return status;
}
