/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dialect.h - a preprocessed text in words that libclang knows.
 *
 *	char *view = dialect_view(text, len, LANG_CXX);
 *	dialect_prologue(LANG_CXX, "gnu++17")		what view includes as DIALECT_FILE
 *
 * The view has the length of the text, and every function in it the place it has there.
 */
#ifndef INSTRUMENTER_PARSE_DIALECT_H
#define INSTRUMENTER_PARSE_DIALECT_H

#include "instrumenter/parse/command.h"

#define DIALECT_FILE "vprof"

/* The caller frees it. */
char *dialect_view(const char *text, size_t len, enum language language);

/* Also a caller's. */
char *dialect_prologue(enum language language, const char *standard);

#endif
