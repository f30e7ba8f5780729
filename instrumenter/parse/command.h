/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * command.h - a compiler's command line, understood.
 *
 *	ccache gcc -O2 -DX -MD -c log.c -o obj/log.o
 *
 * Program words {ccache gcc}; flags {-O2 -DX -MD}; one source, log.c, language C; not linking;
 * output obj/log.o.  Response files (@FILE) are expanded.
 */
#ifndef INSTRUMENTER_PARSE_COMMAND_H
#define INSTRUMENTER_PARSE_COMMAND_H

#include <stdbool.h>
#include "base/alloc.h"
#include "base/proc.h"

enum language { LANG_OTHER, LANG_C, LANG_CXX };

enum command_kind {
	COMMAND_PASS,			/* neither compiles nor links C or C++: pass it through unchanged */
	COMMAND_COMPILE,		/* -c */
	COMMAND_COMPILE_LINK,		/* sources and no -c */
	COMMAND_LINK			/* only objects and libraries */
};

enum link_kind { LINK_EXECUTABLE, LINK_NO_RUNTIME };

/* The kind of an argument; one entry per word of the expanded command line. */
enum word_kind {
	WORD_PROGRAM,
	WORD_SOURCE,			/* C or C++ */
	WORD_INPUT,			/* object, library ... */
	WORD_ASSEMBLER,			/* assembler source */
	WORD_LANGUAGE,			/* -x and its value */
	WORD_OUTPUT,			/* -o and its value */
	WORD_COMPILE,			/* -c */
	WORD_PREPROCESS,		/* -D -I -include ...: used up by the preprocessor */
	WORD_PRECOMPILED,		/* clang's precompiled header: -E has to read the header instead */
	WORD_DEPENDENCY,		/* -MD -MF ... */
	WORD_WARNING,			/* -W... -pedantic...: no effect on the object */
	WORD_LINK,			/* -L -Wl,...: for the linker alone */
	WORD_FLAG
};

struct source {
	const char *path;		/* as given */
	enum language language;
	size_t word;			/* its index */
};

struct command {
	enum command_kind kind;
	enum link_kind link;
	struct args words;		/* expanded */
	VEC(enum word_kind) kinds;	/* of the words */
	VEC(struct source) sources;
	const char *output;		/* value of -o; NULL */
	const char *standard;		/* value of -std=; NULL */
	const char *untouchable;	/* NULL, or why its units must be compiled as they are */
	const char *foreign;		/* NULL, or why the whole command has to run as it is, its link, too */
	bool makes_deps;		/* -MD or -MMD */
	bool deps_named, deps_target;	/* -MF, -MT/-MQ given */
};

/* Never fails: a command that it does not understand is COMMAND_PASS. */
void command_parse(char *const *argv, struct command *ret);
void command_release(struct command *c);	/* also a _cleanup_ function */

bool command_has(const struct command *c, enum word_kind kind);

/* The functions that the linker replaces: NAME of each -Wl,--wrap=NAME. */
void command_wrapped(const struct command *c, struct args *ret);

/* The object that source i becomes, as the compiler would name it; the caller frees it. */
char *command_object(const struct command *c, size_t i);

#endif
