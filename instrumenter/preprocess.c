/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * preprocess.c - the three command lines that a unit's compile becomes.
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
#include "instrumenter/preprocess.h"

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

static void add_language(const struct command *c, size_t i, bool preprocessed, struct args *ret)
{
	bool cxx = c->sources.items[i].language == LANG_CXX;

	args_add(ret, "-x");
	if (preprocessed)
		args_add(ret, cxx ? "c++-cpp-output" : "cpp-output");
	else
		args_add(ret, cxx ? "c++" : "c");
}

/* "x/log.lo" -> "x/log" */
static char *without_suffix(const char *path)
{
	const char *base = path_base(path), *dot = strrchr(base, '.');

	return dot && dot > base ? xstrndup(path, (size_t)(dot - path)) : xstrdup(path);
}

/* Also where it is called cc. */
static bool is_clang(const struct command *c)
{
	size_t last = 0;

	while (last + 1 < c->kinds.cnt && c->kinds.items[last + 1] == WORD_PROGRAM)
		last++;
	_cleanup_(freep) char *real = path_real(c->words.items[last]);

	return strstr(path_base(real), "clang") != NULL;
}

/* -Wp,-MMD,FILE: the target is gcc's own choice, but clang's driver reads it as -MMD -MF FILE. */
static bool has_wrapped_deps(const struct command *c)
{
	for (size_t w = 0; w < c->words.cnt; w++)
		if (starts_with(c->words.items[w], "-Wp,-MD,") ||
		    starts_with(c->words.items[w], "-Wp,-MMD,"))
			return true;
	return false;
}

static void add_dependency_names(const struct command *c, size_t i, struct args *ret)
{
	_cleanup_(freep) char *source = without_suffix(path_base(c->sources.items[i].path));
	_cleanup_(freep) char *output = c->output ? without_suffix(c->output) : NULL;

	if (!c->makes_deps && !(has_wrapped_deps(c) && is_clang(c)))
		return;
	if (c->makes_deps && !c->deps_named) {
		args_add(ret, "-MF");
		args_addf(ret, "%s.d", output ? output : source);
	}
	if (!c->deps_target) {
		args_add(ret, "-MQ");
		args_addf(ret, "%s%s", c->output ? c->output : source, c->output ? "" : ".o");
	}
}

void preprocess_command(const struct command *c, size_t i, const char *text_path,
			const char *include_dir, struct args *ret)
{
	for (size_t w = 0; w < c->words.cnt; w++) {
		const char *word = c->words.items[w];

		if (!(KIND(c->kinds.items[w]) & (KIND(WORD_PROGRAM) | KIND(WORD_PREPROCESS) |
		      KIND(WORD_DEPENDENCY) | KIND(WORD_WARNING) | KIND(WORD_FLAG))))
			continue;
		if (strcmp(word, "-P") != 0)		/* would leave out the line markers */
			args_add(ret, word);
	}
	add_dependency_names(c, i, ret);
	add_include_dir(include_dir, ret);
	args_add(ret, "-E");
	add_language(c, i, false, ret);
	args_add(ret, c->sources.items[i].path);
	args_add(ret, "-o");
	args_add(ret, text_path);
}

void compile_command(const struct command *c, size_t i, const char *text_path, const char *object,
		     struct args *ret)
{
	take(c, KIND(WORD_PROGRAM) | KIND(WORD_FLAG), ret);
	args_add(ret, "-w");
	args_add(ret, "-c");
	add_language(c, i, true, ret);
	args_add(ret, text_path);
	args_add(ret, "-o");
	args_add(ret, object);
}

void original_command(const struct command *c, size_t i, const char *object, const char *include_dir,
		      struct args *ret)
{
	if (c->kind == COMMAND_COMPILE && c->sources.cnt == 1) {
		args_add_all(ret, c->words.items);
		add_include_dir(include_dir, ret);
		return;
	}
	take(c, KIND(WORD_PROGRAM) | KIND(WORD_PREPROCESS) | KIND(WORD_DEPENDENCY) |
	     KIND(WORD_WARNING) | KIND(WORD_FLAG), ret);
	add_dependency_names(c, i, ret);
	add_include_dir(include_dir, ret);
	args_add(ret, "-c");
	add_language(c, i, false, ret);
	args_add(ret, c->sources.items[i].path);
	args_add(ret, "-o");
	args_add(ret, object);
}
