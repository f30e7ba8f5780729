/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compile_unit.h - one unit of a command: preprocess, parse, edit, compile.
 */
#ifndef INSTRUMENTER_LAUNCHER_COMPILE_UNIT_H
#define INSTRUMENTER_LAUNCHER_COMPILE_UNIT_H

#include "instrumenter/launcher/launcher.h"
#include "instrumenter/parse/command.h"

/* Compiles source i of c to object (in the user's terms a path relative to here), writes the scan record.  Returns
 * the exit status to end with; the compiler has printed why.  The caller frees *ret. */
int compile_unit(const struct launcher_options *o, const struct command *c, size_t i,
		 const char *object, struct unit **ret);

/* Writes the record of source i of c, whose command was run as it is; why: for the user. */
void unit_note_untouched(const struct launcher_options *o, const struct command *c, size_t i, const char *why);

/* The edited text that u would be compiled from now.  1, or 0 if nothing is to be inserted, or a
 * negative errno.  Goes into u's directory and environment. */
int unit_text(const struct unit *u, const struct launcher_options *o, struct str *ret,
	      struct diag *reterr);

/* Runs a compiler; err collects its messages, NULL: they are printed.  The exit status, 127 if there is no such program. */
int compiler_run(const struct args *words, struct str *err);

#endif
