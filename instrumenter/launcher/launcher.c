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
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "instrumenter/insert/instrument.h"
#include "instrumenter/launcher/compile_unit.h"
#include "instrumenter/products/guard.h"
#include "instrumenter/products/product.h"

/* --- the real compiler ------------------------------------------------------------------ */

/* Programs that are never the real compiler. */
static const char *const own_programs[] = { "vprof", "vprof-launcher" };

/* The directory of our own links; resolves a path without looking at its name. */
struct own_links {
	struct stat dir;
	bool known;
};

static struct own_links own_links(const char *masquerade_dir)
{
	struct own_links own = { .known = false };

	own.known = masquerade_dir && stat(masquerade_dir, &own.dir) == 0;
	return own;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_own_dir(const char *dir, const struct own_links *own)
{
	struct stat st;

	return own->known && stat(dir, &st) == 0 && same_file(&st, &own->dir);
}

/* Whether it is another link to this program, or to the program of which it is the launcher. */
static bool is_own_program(const char *path)
{
	_cleanup_(freep) char *real = path_real(path);
	struct stat st, self;

	for (size_t i = 0; i < ARRAY_SIZE(own_programs); i++)
		if (strcmp(path_base(real), own_programs[i]) == 0)
			return true;
	return stat("/proc/self/exe", &self) == 0 && stat(path, &st) == 0 && same_file(&st, &self);
}

static bool is_ourselves(const char *path, const struct own_links *own)
{
	_cleanup_(freep) char *dir = path_dir(path);

	return is_own_dir(dir, own) || is_own_program(path);
}

/* The program that name means to a shell, leaving out our own links; name itself if none. */
static char *find_program(const char *name, const struct own_links *own)
{
	const char *search = getenv("PATH");
	const char *word = name;

	if (strchr(name, '/')) {
		if (!is_ourselves(name, own))
			return xstrdup(name);
		word = path_base(name);		/* CC=/path/to/our/links/gcc */
	}
	while (search) {
		_cleanup_(freep) char *dir = path_list_next(&search);
		_cleanup_(freep) char *path = path_join(dir, word);
		struct stat st;

		if (access(path, X_OK) == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
		    !is_ourselves(path, own))
			return TAKE_PTR(path);
	}
	return xstrdup(name);
}

/* A compiler wrapper that searches for the real compiler (ccache) must not find us, or it would call us forever. */
static void leave_search_path(const struct own_links *own)
{
	_cleanup_(str_release) struct str rest = STR_INIT;
	const char *search = getenv("PATH");

	while (own->known && search) {
		_cleanup_(freep) char *dir = path_list_next(&search);

		if (!is_own_dir(dir, own))
			str_addf(&rest, "%s%s", rest.len ? ":" : "", dir);
	}
	if (rest.len)
		setenv("PATH", rest.data, 1);
}

/* Replaces the program words.  A bare name after ccache is left for ccache to find: it skips its own links as we skip
 * ours. */
static void resolve_programs(char *const *argv, const struct own_links *own, struct args *ret)
{
	struct command c;

	command_parse(argv, &c);
	for (size_t i = 0; argv[i]; i++) {
		bool is_program = i < 2 && i < c.kinds.cnt && c.kinds.items[i] == WORD_PROGRAM &&
				  (i == 0 || strchr(argv[i], '/'));
		_cleanup_(freep) char *found = is_program ? find_program(argv[i], own) : NULL;

		args_add(ret, found ? found : argv[i]);
	}
	command_release(&c);
}

/* --- compiling ------------------------------------------------------------------------------ */

/* gcc -c a.c b.S: b.S is not ours. */
static int assemble(const struct command *c)
{
	_cleanup_(args_release) struct args a = ARGS_INIT;

	for (size_t w = 0; w < c->words.cnt; w++)
		if (c->kinds.items[w] != WORD_SOURCE)
			args_add(&a, c->words.items[w]);
	return compiler_run(&a, NULL);
}

static int compile_only(const struct launcher_options *o, const struct command *c)
{
	int status = command_has(c, WORD_ASSEMBLER) ? assemble(c) : 0;

	for (size_t i = 0; i < c->sources.cnt; i++) {
		_cleanup_(freep) char *object = command_object(c, i);
		_cleanup_(unit_freep) struct unit *u = NULL;
		int s = compile_unit(o, c, i, object, &u);

		status = status ? status : s;
	}
	return status;
}

/* --- linking ---------------------------------------------------------------------------------- */

/*
 * --wrap=read: the linker leads calls of read() to the program's __wrap_read(), and would lead the runtime's own there as well.
 * So the runtime is not linked in, but preloaded by the recorder.  And vprof_x_read(), which leads past __wrap_read(), becomes a weak
 * reference to something that does not exist.  False: nothing is wrapped.
 */
static bool leave_wrapped(const struct launcher_options *o, const struct command *c, struct args *ret)
{
	_cleanup_(args_release) struct args names = ARGS_INIT;

	command_wrapped(c, &names);
	for (size_t i = 0; i < names.cnt; i++) {
		const struct primitive *p = primitives_find(o->sync, names.items[i]);

		if (p && p->builtin)
			args_addf(ret, "-Wl,--wrap=vprof_x_%s", names.items[i]);
	}
	return names.cnt;
}

static void add_runtime(const struct launcher_options *o, const struct command *c, struct args *ret)
{
	if (leave_wrapped(o, c, ret) || !o->runtime_dir || c->link != LINK_EXECUTABLE)
		return;
	args_add(ret, "-x");		/* else a language given before would apply to the library */
	args_add(ret, "none");
	args_add(ret, "-Wl,-u,vprof_anchor");
	args_addf(ret, "-Wl,--dynamic-list=%s/libvprof.list", o->runtime_dir);
	args_addf(ret, "%s/libvprof.a", o->runtime_dir);
	args_add(ret, "-lpthread");
}

/* made: the units that this command compiled as well; NULL: none. */
static int run_link(const struct launcher_options *o, const struct command *c, struct args *a,
		    const units *made)
{
	_cleanup_(product_release) struct product product = PRODUCT_INIT;
	int status;

	product_begin(a, c->output, c->output ? c->output : "a.out", o->build_dir, &product);
	status = compiler_run(a, NULL);
	if (status)
		product_drop(&product);
	else
		product_keep(&product, made ? made->items : NULL, made ? made->cnt : 0, o->build_dir);
	return status;
}

/* Passes the user's own words: a response file remains one, since the command line may be too long without. */
static int link_only(const struct launcher_options *o, const struct command *c, char *const *argv)
{
	_cleanup_(args_release) struct args a = ARGS_INIT;

	args_add_all(&a, argv);
	add_runtime(o, c, &a);
	return run_link(o, c, &a, NULL);
}

/* The link of a command that also compiles: objects[i] stands where source i stood. */
static int link_objects(const struct launcher_options *o, const struct command *c, char **objects,
			const units *made)
{
	_cleanup_(args_release) struct args a = ARGS_INIT;
	bool assembles = command_has(c, WORD_ASSEMBLER);	/* b.S has #includes, too */
	bool told = false;
	size_t next = 0;

	for (size_t w = 0; w < c->words.cnt; w++) {
		enum word_kind kind = c->kinds.items[w];

		told |= kind == WORD_LANGUAGE;
		if (kind == WORD_SOURCE) {
			if (told) {		/* only then, because for a source after -x, g++ links no libstdc++ */
				args_add(&a, "-x");
				args_add(&a, "none");
			}
			args_add(&a, objects[next++]);
		} else if (kind != WORD_DEPENDENCY && (kind != WORD_PREPROCESS || assembles)) {
			args_add(&a, c->words.items[w]);
		}
	}
	add_runtime(o, c, &a);
	return run_link(o, c, &a, made);
}

static int compile_and_link(const struct launcher_options *o, const struct command *c)
{
	char **objects = xcalloc(c->sources.cnt + 1, sizeof(*objects));
	_cleanup_(units_release) units made = { NULL, 0, 0 };
	int status = 0;

	for (size_t i = 0; i < c->sources.cnt; i++) {
		_cleanup_(freep) char *name = command_object(c, i);
		_cleanup_(freep) char *real = path_real(name);
		int s;

		objects[i] = unit_path(o->build_dir, real, ".o");
		guard_temporary(objects[i]);
		s = compile_unit(o, c, i, objects[i], VEC_EXTEND(&made));
		status = status ? status : s;
	}
	if (!status)
		status = link_objects(o, c, objects, &made);
	for (size_t i = 0; i < c->sources.cnt; i++) {
		if (objects[i])
			unlink(objects[i]);
		free(objects[i]);
	}
	free(objects);
	return status;
}

/* The user's own command, whose units can carry no probe, and a note of each. */
static int run_foreign(const struct launcher_options *o, const struct command *c, const struct args *given)
{
	int status = compiler_run(given, NULL);

	for (size_t i = 0; status == 0 && i < c->sources.cnt; i++)
		unit_note_untouched(o, c, i, c->foreign);
	return status;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* gcc -E -: only a foreground process may read from a terminal */
static bool reads_stdin(char *const *argv)
{
	for (size_t i = 0; argv[i]; i++)
		if (strcmp(argv[i], "-") == 0)
			return true;
	return false;
}

/* given: the words of c, before response files were expanded. */
static int run_command(const struct launcher_options *o, const struct command *c, const struct args *given)
{
	bool notes = o->build_dir && make_dirs(o->build_dir, 0700) >= 0;

	if (notes && c->kind != COMMAND_PASS && c->foreign)
		return run_foreign(o, c, given);
	switch (notes ? c->kind : COMMAND_PASS) {
	case COMMAND_COMPILE:
		return compile_only(o, c);
	case COMMAND_COMPILE_LINK:
		return compile_and_link(o, c);
	case COMMAND_LINK:
		return link_only(o, c, given->items);
	default:
		return compiler_run(given, NULL);
	}
}

/* gcc --coverage a.c -o prog: prog-a.gcno, which would be named after an object in our directory. */
static void leave_alone(struct command *c)
{
	if (c->kind == COMMAND_COMPILE_LINK && !c->foreign && product_names_other_files(&c->words))
		c->foreign = c->untouchable ? c->untouchable :
			     "the command compiles and links at once, and names files after the program (--coverage, -gsplit-dwarf ...)";
}

/* Returns true in the worker, false in the one after a crash. */
static bool begin_worker(char *const *argv)
{
	if (reads_stdin(argv) || guard_begin())
		return true;
	if (!guard_begin())
		_exit(EXIT_FAILURE);	/* twice: what there is to do is little */
	return false;
}

int launcher_run(char *const *argv, const struct launcher_options *o)
{
	_cleanup_(args_release) struct args resolved = ARGS_INIT;
	struct own_links own = own_links(o->masquerade_dir);
	bool works = begin_worker(argv);
	struct command c;
	int status;

	resolve_programs(argv, &own, &resolved);
	leave_search_path(&own);
	command_parse(resolved.items, &c);
	leave_alone(&c);
	if (!works)
		c.foreign = "vprof, or libclang, crashed";
	status = run_command(o, &c, &resolved);
	command_release(&c);
	return status;
}
