/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * preprocess.h - the command lines that a unit's compile becomes.
 *
 *	the user's	gcc -O2 -Wall -Werror -DX -MD -c log.c -o obj/log.o
 *	preprocess	gcc -O2 -Wall -Werror -DX -MD -MF obj/log.d -MQ obj/log.o -I... -E log.c -o T.i
 *	compile		gcc -O2 -Wall -c -x cpp-output T.i -o obj/log.o
 *	messages	gcc -O2 -Wall -Werror -DX -S log.c -I... -o T.s
 *	original	gcc -O2 -Wall -Werror -DX -MD -c log.c -o obj/log.o -I...
 */
#ifndef INSTRUMENTER_PARSE_PREPROCESS_H
#define INSTRUMENTER_PARSE_PREPROCESS_H

#include "instrumenter/parse/command.h"

/* Source i of c, for all of them.  include_dir: of vprof.h, may be NULL. */

/* with_deps: also writes the dependency file, if the user's command does. */
void preprocess_command(const struct command *c, size_t i, const char *text_path,
			const char *include_dir, bool with_deps, struct args *ret);

/* warn: enables the user's warnings, none as an error; else none at all. */
void compile_command(const struct command *c, size_t i, const char *text_path, const char *object,
		     bool warn, struct args *ret);

/* Prints what the user's compile would print, without its output: the assembler text goes to text_path. */
void messages_command(const struct command *c, size_t i, const char *text_path,
		      const char *include_dir, struct args *ret);

void original_command(const struct command *c, size_t i, const char *object, const char *include_dir,
		      bool with_deps, struct args *ret);

/* The names that the compiler would choose after -o: -MF FILE -MQ TARGET, unless the user gave them. */
void add_dependency_names(const struct command *c, size_t i, struct args *ret);

/* Where the compile's dependency file goes; NULL if there is none.  The caller frees it. */
char *dependency_file(const struct command *c, size_t i);

#endif
