/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * preprocess.c - the command lines that a unit's compile becomes.
 *
 * Words are taken over by their kind (command.h).  The dependency file is the preprocessor's: only
 * it sees the headers.  What the compiler would name and put into it by default depends on -o and
 * -c, which the preprocessing run does not have, so both names are given to it:
 *
 *	-c -o x/log.lo	-> x/log.d, target x/log.lo	(gcc and clang agree on all four)
 *	-c log.c	-> log.d, target log.o
 *	-o prog log.c	-> prog.d, target prog
 *	log.c		-> log.d, target log.o		(linking a.out)
 */
#include <string.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "instrumenter/parse/preprocess.h"

#define KIND(k) (1u << (k))

static void take(const struct command *c, unsigned kinds, struct args *ret)
{
	for (size_t i = 0; i < c->words.cnt; i++)
		if (kinds & KIND(c->kinds.items[i]))
			args_add(ret, c->words.items[i]);
}

static void add_include_dir(const char *include_dir, struct args *ret)
{
	if (include_dir)
		args_addf(ret, "-I%s", include_dir);
}

/* If the user gave no -x, the name of the source decides the language, which clang++ may reject. */
static void add_source(const struct command *c, size_t i, struct args *ret)
{
	if (command_has(c, WORD_LANGUAGE)) {
		args_add(ret, "-x");
		args_add(ret, c->sources.items[i].language == LANG_CXX ? "c++" : "c");
	}
	args_add(ret, c->sources.items[i].path);
}

/* "x/log.lo" -> "x/log" */
static char *without_suffix(const char *path)
{
	const char *base = path_base(path), *dot = strrchr(base, '.');

	return dot && dot > base ? xstrndup(path, (size_t)(dot - path)) : xstrdup(path);
}

/* Also if it is called cc. */
static bool is_clang(const struct command *c)
{
	size_t last = 0;

	while (last + 1 < c->kinds.cnt && c->kinds.items[last + 1] == WORD_PROGRAM)
		last++;
	_cleanup_(freep) char *found = path_which(c->words.items[last], NULL);
	_cleanup_(freep) char *real = path_real(found ? found : c->words.items[last]);

	return strstr(path_base(real), "clang") != NULL;
}

/* -Wp,-MMD,FILE: FILE and what follows; NULL if the word is another. */
static const char *wrapped_deps(const char *word)
{
	return starts_with(word, "-Wp,-MD,") ? word + strlen("-Wp,-MD,") :
	       starts_with(word, "-Wp,-MMD,") ? word + strlen("-Wp,-MMD,") : NULL;
}

static bool has_wrapped_deps(const struct command *c)
{
	for (size_t w = 0; w < c->words.cnt; w++)
		if (wrapped_deps(c->words.items[w]))
			return true;
	return false;
}

/* The name that the compiler would choose. */
static char *default_dependency_file(const struct command *c, size_t i)
{
	const char *named = c->output ? c->output : path_base(c->sources.items[i].path);
	_cleanup_(freep) char *name = without_suffix(named);

	return xasprintf("%s.d", name);
}

char *dependency_file(const struct command *c, size_t i)
{
	char *found = NULL;

	for (size_t w = 0; w < c->words.cnt; w++) {
		const char *word = c->words.items[w], *named = wrapped_deps(word);

		if (c->kinds.items[w] != WORD_DEPENDENCY)
			continue;
		if (strcmp(word, "-MF") == 0 && w + 1 < c->words.cnt)
			named = c->words.items[w + 1];
		else if (starts_with(word, "-MF"))
			named = word + strlen("-MF");
		if (named) {
			free(found);
			found = xstrndup(named, wrapped_deps(word) ? strcspn(named, ",") : strlen(named));
		}
	}
	return found || !c->makes_deps ? found : default_dependency_file(c, i);
}

/* The target of -Wp,-MMD,FILE is gcc's own choice, but clang's driver reads it as -MMD -MF FILE. */
void add_dependency_names(const struct command *c, size_t i, struct args *ret)
{
	_cleanup_(freep) char *source = without_suffix(path_base(c->sources.items[i].path));

	if (!c->makes_deps && !(has_wrapped_deps(c) && is_clang(c)))
		return;
	if (c->makes_deps && !c->deps_named) {
		_cleanup_(freep) char *file = default_dependency_file(c, i);

		args_add(ret, "-MF");
		args_add(ret, file);
	}
	if (!c->deps_target) {
		args_add(ret, "-MQ");
		args_addf(ret, "%s%s", c->output ? c->output : source, c->output ? "" : ".o");
	}
}

void preprocess_command(const struct command *c, size_t i, const char *text_path,
			const char *include_dir, bool with_deps, struct args *ret)
{
	unsigned kinds = KIND(WORD_PROGRAM) | KIND(WORD_PREPROCESS) | KIND(WORD_WARNING) |
			 KIND(WORD_FLAG) | (with_deps ? KIND(WORD_DEPENDENCY) : 0);

	for (size_t w = 0; w < c->words.cnt; w++)
		if ((KIND(c->kinds.items[w]) & kinds) &&
		    strcmp(c->words.items[w], "-P") != 0)	/* would leave out the line markers */
			args_add(ret, c->words.items[w]);
	if (with_deps)
		add_dependency_names(c, i, ret);
	add_include_dir(include_dir, ret);
	args_add(ret, "-E");
	add_source(c, i, ret);
	args_add(ret, "-o");
	args_add(ret, text_path);
}

/* The user's own text decides whether a warning is an error. */
static void add_warning(const char *word, struct args *ret)
{
	if (strcmp(word, "-Werror") == 0 || strcmp(word, "-Wfatal-errors") == 0)
		return;
	if (strcmp(word, "-pedantic-errors") == 0)
		args_add(ret, "-pedantic");
	else if (starts_with(word, "-Werror=") || starts_with(word, "-Werror-"))
		args_addf(ret, "-W%s", word + strlen("-Werror="));
	else
		args_add(ret, word);
}

/* A profile that was made without probes, or with those of another plan, does not fit the functions: gcc calls that an
 * error, or else does without the profile for these functions.  It is named after the object. */
static bool uses_profile_by_gcc(const struct command *c)
{
	for (size_t w = 0; w < c->words.cnt; w++)
		if (starts_with(c->words.items[w], "-fprofile-use") || strcmp(c->words.items[w], "-fbranch-probabilities") == 0)
			return !is_clang(c);
	return false;
}

/* What -c has no use for: clang warns about such options, gcc about such files (gcc -c log.c config.mk). */
static unsigned unused_kinds(const struct command *c, size_t i)
{
	if (c->kind != COMMAND_COMPILE)
		return 0;
	return KIND(WORD_LINK) | (i == 0 ? KIND(WORD_INPUT) : 0);
}

void compile_command(const struct command *c, size_t i, const char *text_path, const char *object,
		     bool warn, struct args *ret)
{
	for (size_t w = 0; w < c->words.cnt; w++) {
		enum word_kind kind = c->kinds.items[w];

		if (kind == WORD_PROGRAM || kind == WORD_FLAG || (unused_kinds(c, i) & KIND(kind)))
			args_add(ret, c->words.items[w]);
		else if (kind == WORD_WARNING && warn)
			add_warning(c->words.items[w], ret);
	}
	if (!warn)
		args_add(ret, "-w");
	if (uses_profile_by_gcc(c)) {
		args_add(ret, "-Wno-coverage-mismatch");
		args_add(ret, "-Wno-missing-profile");
	}
#if defined(__x86_64__)
	args_add(ret, "-mno-red-zone");		/* the probes call: runtime/shared/probe_x86_64.h */
#endif
	args_add(ret, "-c");
	args_add(ret, "-x");
	args_add(ret, c->sources.items[i].language == LANG_CXX ? "c++-cpp-output" : "cpp-output");
	args_add(ret, text_path);
	args_add(ret, "-o");
	args_add(ret, object);
}

void messages_command(const struct command *c, size_t i, const char *text_path,
		      const char *include_dir, struct args *ret)
{
	take(c, KIND(WORD_PROGRAM) | KIND(WORD_PREPROCESS) | KIND(WORD_PRECOMPILED) |
	     KIND(WORD_WARNING) | KIND(WORD_FLAG) | unused_kinds(c, i), ret);
	add_include_dir(include_dir, ret);
	if (uses_profile_by_gcc(c)) {
		_cleanup_(freep) char *object = command_object(c, i), *named = without_suffix(object), *dir = path_dir(object);

		args_add(ret, "-dumpdir");
		args_addf(ret, "%s/", dir);
		args_add(ret, "-dumpbase");
		args_add(ret, path_base(named));
	}
	args_add(ret, "-S");
	add_source(c, i, ret);
	args_add(ret, "-o");
	args_add(ret, text_path);
}

void original_command(const struct command *c, size_t i, const char *object, const char *include_dir,
		      bool with_deps, struct args *ret)
{
	unsigned deps = with_deps ? KIND(WORD_DEPENDENCY) : 0;

	if (c->kind == COMMAND_COMPILE && c->sources.cnt == 1) {
		take(c, deps | (~0u & ~KIND(WORD_DEPENDENCY)), ret);
		add_include_dir(include_dir, ret);
		return;
	}
	take(c, KIND(WORD_PROGRAM) | KIND(WORD_PREPROCESS) | KIND(WORD_PRECOMPILED) | deps |
	     KIND(WORD_WARNING) | KIND(WORD_FLAG), ret);
	if (with_deps)
		add_dependency_names(c, i, ret);
	add_include_dir(include_dir, ret);
	args_add(ret, "-c");
	add_source(c, i, ret);
	args_add(ret, "-o");
	args_add(ret, object);
}
