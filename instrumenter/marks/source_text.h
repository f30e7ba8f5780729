/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source_text.h - places in a source file as the user wrote it, found by line and token.
 *
 * Offsets count bytes of the text; SOURCE_NONE means "not there": what the compiler saw on that
 * line came out of a macro.  Comments, strings and character constants are passed over.
 */
#ifndef INSTRUMENTER_MARKS_SOURCE_TEXT_H
#define INSTRUMENTER_MARKS_SOURCE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define SOURCE_NONE SIZE_MAX

/* Where line number (from 1) begins. */
size_t source_line(const char *text, uint32_t line);

/* The nth (from 0) occurrence of a token on that line: a word, or one punctuation character. */
size_t source_token(const char *text, uint32_t line, const char *token, unsigned nth);

/* The last one on that line. */
size_t source_last_token(const char *text, uint32_t line, const char *token);

/* The ';' that ends the statement at offset: outside of all brackets. */
size_t source_statement_end(const char *text, size_t offset);

/* Where our #include belongs: after the last #include that precedes all code and is not conditional, else after the
 * first comment, else at 0. */
size_t source_include_place(const char *text);

#endif
