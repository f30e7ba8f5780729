/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * config_comments.h - comments and quotes of vprof.conf, kept from inih.
 *
 * As in git's files '#' and ';' open a comment, also after a value, and quotes protect both: before inih sees a line
 * its comment is gone (a piece of a long one would be taken for more of the value), and those that belong to a value
 * or to an interval's name are masks (a piece that begins with one would be taken for a comment). A text has no
 * control characters, so masks cannot be confused with it.
 *
 * As in git's files a value goes on in the next line if its line ends in a backslash; these two are then one line, with
 * JOINED_LINES in place of the backslash and the end of the line.
 */
#ifndef PROJECT_CONFIG_CONFIG_COMMENTS_H
#define PROJECT_CONFIG_CONFIG_COMMENTS_H

#include <stddef.h>

#define JOINED_LINES '\x03'

/* The caller frees what these return. */

char *config_without_comments(const char *text);	/* as inih may see it */

/* The user's text: of a section in inih's form, and of a value, without quotes around the whole of it. */
char *config_section(const char *section);
char *config_value(const char *value);

#endif
