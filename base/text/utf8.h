/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * utf8.h - makes foreign text safe to print.
 *
 * Names come from sources and traces: they may hold bytes that are no UTF-8, or control characters
 * that would drive the reader's terminal.
 */
#ifndef BASE_TEXT_UTF8_H
#define BASE_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "base/str.h"

/* Does the user's locale say UTF-8? */
bool locale_is_utf8(void);

/* The next character; *s moves past it.  0 at the end; U+FFFD for a byte that is no UTF-8. */
uint32_t utf8_next(const char **s);

/* Columns on a terminal: 0 for combining marks, 2 for wide characters. */
size_t utf8_width(const char *s);

/* Appends text as valid UTF-8: wrong bytes and control characters (but not '\n' and '\t') become
 * U+FFFD. */
void utf8_add_clean(struct str *to, const char *text);

/* The same for one line of a table: '\n' and '\t' go as well. */
void utf8_add_line(struct str *to, const char *text);

/* As utf8_add_line(), for the text and the attributes of XML and HTML: < > & " ' are escaped. */
void utf8_add_xml(struct str *to, const char *text);
void utf8_put_xml(FILE *out, const char *text);

/* Appends text, its middle replaced by ellipsis if it is wider than width. */
void utf8_add_shortened(struct str *to, const char *text, size_t width, const char *ellipsis);

#endif
