/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compile_unit.c - one unit: preprocess, parse, edit, compile.
 *
 *	gcc -Wall -O2 -c log.c		becomes
 *	gcc -Wall -O2 -E log.c -o .../log.o.i
 *	gcc -Wall -O2 -c -x cpp-output .../log.o.i -o log.o	after the probes have been put in
 *
 * The compiler's messages about the edited text are not printed: they would refer to a text without the user's
 * macros, comments and columns.  If there are any, the user's own command is run as well, for its messages and its
 * exit status alone.  So a unit without a warning is compiled once, and -Werror means what it always did.  If the
 * edited text does not compile and the user's does, it is edited anew, without the probes that the compiler rejects
 * (refused.h).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/map.h"
#include "base/str.h"
#include "instrumenter/insert/fallthrough.h"
#include "instrumenter/insert/instrument.h"
#include "instrumenter/insert/redirect_object.h"
#include "instrumenter/insert/unit_cache.h"
#include "instrumenter/launcher/compile_unit.h"
#include "instrumenter/parse/preprocess.h"
#include "instrumenter/products/guard.h"
#include "instrumenter/products/product.h"
#include "instrumenter/products/text_name.h"
#include "instrumenter/scan/refused.h"

#define STATUS_NOT_FOUND 127		/* as in a shell */
#define STATUS_KILLED 128		/* and more: the signal */
#define TRIES 6				/* attempts to compile an instrumented text, before the user's own text is
					 * compiled */

int compiler_run(const struct args *a, struct str *err)
{
	struct proc_options o = { .err = err };
	int status = proc_run(a->items, &o);

	if (status < 0 && !err)
		launcher_say("vprof cc: cannot run '%s': %s", a->items[0], strerror(-status));
	return status < 0 ? STATUS_NOT_FOUND : status;
}

struct unit_job {
	const struct launcher_options *o;
	const struct command *c;
	size_t source;
	char *object;			/* the file to be made */
	char *text_path;		/* of the preprocessed, then edited text */
	int text_lock;
	struct unit *unit;
	struct unit *before;		/* the record of the last compile; NULL */
	uint64_t since_ns;		/* when this compile began */
	struct product product;
	struct str messages;		/* about the unit's text as we see it */
	bool were_said;			/* the compiler has printed its messages about the user's text */
	bool in_text;			/* do not edit the object to redirect primitives */
	struct refused refused;		/* functions that the compiler rejects with a probe */
	int ended;			/* the status of a compiler that a signal ended, which says nothing about the
					 * text, so nothing else is tried; or of one that rejected the user's own text */
};

/* The first words of messages ("error:") and names in quotes are parsed, so messages must be in English. */
static const char *const languages[] = { "LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE", NULL };

/* The compiler's status; its messages go to j. */
static int run(struct unit_job *j, const struct args *a)
{
	struct proc_options o = { .err = &j->messages, .unset = languages };
	int status = proc_run(a->items, &o);

	status = status < 0 ? STATUS_NOT_FOUND : status;
	if (status > STATUS_KILLED)
		j->ended = status;
	return status;
}

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

/* The record of the last compile holds; only how to compile is decided now. */
static void go_by_record(struct unit_job *j)
{
	struct unit *u = TAKE_PTR(j->before);

	record_command(u, &j->c->words);
	u->product = NULL;
	for (size_t i = 0; i < u->functions.cnt; i++)
		u->functions.items[i].probed = false;
	unit_free(j->unit);
	j->unit = u;
}

static void say_trouble(const struct unit *u)
{
	if (u->untouched)
		launcher_say("vprof cc: %s: compiled untouched: %s", u->source, u->untouched);
	if (u->misread)
		launcher_say("vprof cc: %s: not fully understood: %s", u->source, u->misread);
}

void unit_note_untouched(const struct launcher_options *o, const struct command *c, size_t i, const char *why)
{
	_cleanup_(unit_freep) struct unit *u = new_unit(c, i);

	u->untouched = arena_strdup(u->arena, why);
	u->probe_set = probe_set_of(u, o);
	unit_write(o->build_dir, u, NULL);	/* without a record it is not reported; the object is good */
	if (o->verbose)
		say_trouble(u);
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
	if (run(j, &a) != 0) {
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

/* Parses and edits.  False: compile the unit without edits, because there is nothing to insert or because of
 * unit->untouched. */
static bool parse_and_edit(struct unit_job *j, struct instrumenting *in, struct str *ret)
{
	struct parse_input input = {
		.path = j->text_path, .text = in->text, .len = in->len, .lines = in->lines,
		.language = in->language, .standard = in->standard,
		.wants_prototype = wants_prototype, .arg = (void *)(uintptr_t)j->o->sync,
	};
	_cleanup_(parsed_freep) struct parsed *parsed = parse_text(&input);
	bool edited;

	if (!parsed) {
		give_up(j, "libclang could not parse it");
		return false;
	}
	if (parsed->error) {
		struct position at = lines_at(in->lines, parsed->error_offset);

		j->unit->misread = arena_printf(j->unit->arena, "%s:%u: %s", at.file, at.line,
						parsed->error);
	}
	in->parsed = parsed;
	scan_unit(in);
	refused_apply(&j->refused, in->unit);
	edited = instrument_unit(in, ret);
	in->parsed = NULL;
	return edited;
}

static bool edit_text(struct unit_job *j, const char *text, size_t len, struct str *ret)
{
	_cleanup_(lines_freep) struct lines *lines = lines_new(text, len, j->unit->directory,
								j->o->include_dir);
	_cleanup_(instrumenting_release) struct instrumenting in = {
		.o = j->o, .text = text, .len = len,
		.language = j->c->sources.items[j->source].language, .standard = j->c->standard,
		.form = probe_form_of(text, len, j->unit->argv), .lines = lines, .in_text = j->in_text,
	};
	bool jumps = options_make_jumps(j->unit->argv, probe_form_is_clang(text, len));
	uint64_t hash = hash_u64(known_text_hash(text, len, in.language, in.standard), jumps);
	bool edited;

	if (fallthrough_is_told(j->c))
		fallthrough_insert(lines, text, len, &in.edits);
	if (j->before && j->before->known.text == hash && j->before->known.settings == settings_of(j->o))
		refused_take(&j->refused, j->before);
	if (known_text(j->before, hash, len, j->o)) {
		go_by_record(j);
		in.unit = j->unit;
		refused_apply(&j->refused, in.unit);
		edited = instrument_known(&in, ret);
	} else {
		in.unit = j->unit;
		edited = parse_and_edit(j, &in, ret);
		if (!j->unit->untouched)
			known_note(&in, hash, j->since_ns);
	}
	return edited;
}

static void give_up_compiling(struct unit_job *j)
{
	const char *error;
	size_t len = refused_first_error(str_cstr(&j->messages), &error);

	j->unit->untouched = arena_printf(j->unit->arena, "the instrumented text did not compile: %.*s", (int)len, error);
	for (size_t i = 0; i < j->unit->functions.cnt; i++)
		j->unit->functions.items[i].probed = false;
}

/* Compiles the edited text to the object; true if that worked.  ret_refused: the compiler rejected it. */
static bool compile_edited(struct unit_job *j, const char *text, size_t len, bool *ret_refused)
{
	_cleanup_(str_release) struct str edited = STR_INIT;
	_cleanup_(args_release) struct args a = ARGS_INIT;

	*ret_refused = false;
	if (!edit_text(j, text, len, &edited))
		return false;
	if (file_write(j->text_path, edited.data, edited.len, 0600) < 0) {
		give_up(j, "the instrumented text cannot be written");
		return false;
	}
	compile_command(j->c, j->source, j->text_path, j->object, !j->o->again, &a);
	product_begin(&a, j->object, j->object, j->o->build_dir, &j->product);
	/* These would make the compiler write a second dependency file, of a unit without headers. */
	unsetenv("DEPENDENCIES_OUTPUT");
	unsetenv("SUNPRO_DEPENDENCIES");
	if (run(j, &a) != 0) {
		product_drop(&j->product);
		*ret_refused = !j->ended;
		return false;
	}
	return true;
}

/* The compiler has a message: compiles the user's text, so that it refers to that.  It may be an error there
 * (-Werror); then there is no object. */
static int say_messages(struct unit_job *j)
{
	_cleanup_(args_release) struct args a = ARGS_INIT;
	int status;

	if (j->o->again || j->were_said || !j->messages.len)
		return 0;
	messages_command(j->c, j->source, j->text_path, j->o->include_dir, &a);
	status = compiler_run(&a, NULL);
	j->were_said = true;
	if (status)
		product_drop(&j->product);
	return status;
}

/* Keeps all that is known about the text, except which functions get a probe. */
static void begin_anew(struct unit_job *j)
{
	unit_free(j->before);
	j->before = j->unit;
	j->unit = new_unit(j->c, j->source);
	str_reset(&j->messages);
}

/* Preprocesses and inserts probes; then tries without those that the compiler rejects. */
static bool compile_instrumented(struct unit_job *j)
{
	_cleanup_(freep) char *text = NULL;
	bool refused;
	size_t len;

	if (!preprocess(j, &text, &len))
		return false;
	for (unsigned tries = 1; !compile_edited(j, text, len, &refused); tries++) {
		if (!refused)
			return false;
		if (tries == 1)
			j->ended = say_messages(j);
		if (j->ended || tries == TRIES || !refused_add(&j->refused, j->unit, str_cstr(&j->messages))) {
			give_up_compiling(j);
			return false;
		}
		begin_anew(j);
	}
	return true;
}

static bool has_output(const struct args *a)
{
	for (size_t i = 0; i < a->cnt; i++)
		if (starts_with(a->items[i], "-o"))
			return true;
	return false;
}

/* Prints no message twice, but the reason of a failure in any case. */
static int run_as_is(struct unit_job *j, const struct args *a)
{
	_cleanup_(str_release) struct str messages = STR_INIT;
	int status = compiler_run(a, j->were_said ? &messages : NULL);

	if (status)
		(void)!write(STDERR_FILENO, str_cstr(&messages), messages.len);
	return status;
}

static int compile_original(struct unit_job *j)
{
	_cleanup_(args_release) struct args a = ARGS_INIT;
	int status;

	original_command(j->c, j->source, j->object, j->o->include_dir, writes_deps(j), &a);
	product_begin(&a, has_output(&a) ? j->object : NULL, j->object, j->o->build_dir, &j->product);
	if (j->product.temporary && writes_deps(j))
		add_dependency_names(j->c, j->source, &a);
	status = run_as_is(j, &a);
	if (status)
		product_drop(&j->product);
	return status;
}

/* Properties of a unit compiled without edits that its text does not show. */
static void names_to_redirect(const struct unit_job *j, struct args *ret)
{
	if (j->unit->untouched || !known_redirected(j->unit, j->unit->known.pragmas, j->o, ret))
		args_release(ret);
}

/* False: the object is of an unexpected kind, and was not edited. */
static bool redirect(const struct unit_job *j, const struct args *names)
{
	const char *path = j->product.temporary ? j->product.temporary : j->product.target;

	return !names->cnt || object_redirect(path, (const char *const *)names->items, names->cnt);
}

/* Prints no message twice. */
static bool compile_in_text(struct unit_job *j)
{
	product_drop(&j->product);
	unit_free(j->unit);
	j->unit = new_unit(j->c, j->source);
	str_reset(&j->messages);
	j->in_text = j->were_said = true;
	return compile_instrumented(j);
}

static void restore(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
}

/* By the user's own command; in the end with the primitives in the text, where the object cannot be redirected.
 * ret_plain: by that command alone. */
static int compile_as_is(struct unit_job *j, const struct args *names, bool *ret_plain)
{
	int status = compile_original(j);

	*ret_plain = status == 0 && redirect(j, names);
	if (status || *ret_plain)
		return status;
	status = compile_in_text(j) ? 0 : j->ended ? j->ended : compile_original(j);
	unlink(j->text_path);
	return status;
}

static void keep_product(struct unit_job *j)
{
	j->unit->probe_set = probe_set_of(j->unit, j->o);
	product_keep(&j->product, &j->unit, 1, j->o->build_dir);
}

/* If nothing has changed since the user's own command made the object, runs that command, and no more.  False:
 * something changed, or the whole record has to be read. */
static bool compile_unchanged(struct unit_job *j, int *ret_status)
{
	_cleanup_(known_record_release) struct known_record record = { NULL, NULL, 0 };
	_cleanup_(args_release) struct args names = ARGS_INIT;
	uint64_t ns = 0, bytes = 0;
	bool plain;

	if (j->c->kind != COMMAND_COMPILE || j->c->untouchable || j->o->again || j->o->verbose ||
	    !known_unchanged(j->unit, j->o, &names, &record))
		return false;
	*ret_status = compile_as_is(j, &names, &plain);
	if (plain) {
		product_stat(&j->product, &ns, &bytes);
		known_record_keep(&record, ns, bytes);
		product_place(&j->product);
	} else if (*ret_status == 0) {
		keep_product(j);
	}
	return true;
}

static int compile_job(struct unit_job *j)
{
	const char *gcc_given = getenv("DEPENDENCIES_OUTPUT"), *sun_given = getenv("SUNPRO_DEPENDENCIES");
	_cleanup_(freep) char *gcc_deps = gcc_given ? xstrdup(gcc_given) : NULL;
	_cleanup_(freep) char *sun_deps = sun_given ? xstrdup(sun_given) : NULL;
	_cleanup_(args_release) struct args names = ARGS_INIT;
	bool as_is = !j->c->untouchable && known_plain(j->before, j->unit, j->o), plain = false;
	bool done = !j->c->untouchable && !as_is && compile_instrumented(j);
	int status;

	if (as_is)
		go_by_record(j);
	if (j->c->untouchable)
		give_up(j, j->c->untouchable);
	restore("DEPENDENCIES_OUTPUT", gcc_deps);
	restore("SUNPRO_DEPENDENCIES", sun_deps);
	names_to_redirect(j, &names);
	status = j->ended ? j->ended : done ? say_messages(j) : compile_as_is(j, &names, &plain);
	unlink(j->text_path);
	if (plain && j->c->kind == COMMAND_COMPILE)
		known_note_plain(j->unit, &names, j->o);
	else
		j->unit->known.plain = 0;
	if (status == 0)
		keep_product(j);
	return status;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Compiles source i to object (in the user's terms a path relative to here). */
int compile_unit(const struct launcher_options *o, const struct command *c, size_t i,
		 const char *object, struct unit **ret)
{
	struct unit_job j = {
		.o = o, .c = c, .source = i, .object = xstrdup(object), .unit = new_unit(c, i),
	};
	int status;

	j.text_path = text_name(o->build_dir, j.unit->object, c->sources.items[i].language == LANG_CXX ? ".ii" : ".i",
				&j.text_lock);
	guard_temporary(j.text_path);
	j.since_ns = now_ns();
	if (!compile_unchanged(&j, &status)) {
		j.before = unit_find(o->build_dir, j.unit->object);
		status = compile_job(&j);
		unit_free(j.before);
	}
	if (o->verbose && status == 0)
		say_trouble(j.unit);
	str_release(&j.messages);
	refused_release(&j.refused);
	free(j.object);
	free(j.text_path);
	closep(&j.text_lock);
	product_release(&j.product);
	*ret = j.unit;
	return status;
}

/* --- the text alone ----------------------------------------------------------------------- */

static size_t source_of(const struct command *c, const struct unit *u)
{
	size_t i = 0;

	for (; i < c->sources.cnt; i++) {
		_cleanup_(freep) char *real = path_real(c->sources.items[i].path);

		if (strcmp(real, u->source) == 0)
			break;
	}
	return i;
}

static int make_text(struct unit_job *j, struct str *ret, struct diag *reterr)
{
	_cleanup_(freep) char *text = NULL;
	bool edited;
	size_t len;

	if (!preprocess(j, &text, &len)) {
		unlink(j->text_path);
		diag_set(reterr, EXIT_ENVIRONMENT, -EIO, "'%s': %s", j->unit->source, j->unit->untouched);
		return diag_lines(reterr, -EIO, str_cstr(&j->messages));
	}
	edited = edit_text(j, text, len, ret);
	unlink(j->text_path);
	return edited;
}

int unit_text(const struct unit *u, const struct launcher_options *o, struct str *ret,
	      struct diag *reterr)
{
	struct launcher_options again = *o;
	_cleanup_(command_release) struct command c = { 0 };
	struct unit_job j = { .o = &again, .c = &c, .in_text = true, .text_lock = -1 };
	int r;

	again.again = true;
	if (chdir(u->directory) < 0)
		return diag_set(reterr, EXIT_ENVIRONMENT, -errno, "cannot enter '%s': %s", u->directory,
				strerror(errno));
	for (const char **e = u->environment; *e; e++)
		putenv((char *)(uintptr_t)*e);
	command_parse((char *const *)(uintptr_t)u->argv, &c);
	j.source = source_of(&c, u);
	if (j.source == c.sources.cnt)
		return diag_set(reterr, EXIT_ENVIRONMENT, -EINVAL,
				"the recorded command of '%s' compiles it no more", u->source);
	j.unit = new_unit(&c, j.source);
	j.text_path = text_name(o->build_dir, u->object, ".print.i", &j.text_lock);
	r = make_text(&j, ret, reterr);
	str_release(&j.messages);
	refused_release(&j.refused);
	free(j.text_path);
	closep(&j.text_lock);
	unit_free(j.unit);
	return r;
}
