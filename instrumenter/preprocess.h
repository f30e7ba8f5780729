/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * preprocess.h - the three command lines that a unit's compile becomes.
 *
 *	the user's	gcc -O2 -Wall -DX -MD -c log.c -o obj/log.o
 *	preprocess	gcc -O2 -Wall -DX -MD -MF obj/log.d -MQ obj/log.o -I... -E -x c log.c -o T.i
 *	compile		gcc -O2 -w -c -x cpp-output T.i -o obj/log.o
 *	original	gcc -O2 -Wall -DX -MD -c log.c -o obj/log.o -I...
 */
#ifndef INSTRUMENTER_PREPROCESS_H
#define INSTRUMENTER_PREPROCESS_H

#include "instrumenter/command.h"

/* Source i of c.  object: where the object goes.  include_dir: of vprof.h, may be NULL. */
void preprocess_command(const struct command *c, size_t i, const char *text_path,
			const char *include_dir, struct args *ret);
void compile_command(const struct command *c, size_t i, const char *text_path, const char *object,
		     struct args *ret);
void original_command(const struct command *c, size_t i, const char *object, const char *include_dir,
		      struct args *ret);

#endif
