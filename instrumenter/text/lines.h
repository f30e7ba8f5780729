/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lines.h - the source line of a byte of preprocessed text.
 *
 * A preprocessor leaves line markers, `# 28 "log.c" 2`: what follows is line 28 of log.c.  A flag
 * 3 says that it belongs to a system header.
 */
#ifndef INSTRUMENTER_TEXT_LINES_H
#define INSTRUMENTER_TEXT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/cleanup.h"

struct lines;

struct position {
	const char *file;		/* real path; as in the marker if there is no such file */
	uint32_t line;
	bool foreign;			/* a system or library header, vprof's own files, the compiler */
};

/* Reads the markers of text.  directory: what relative names are relative to.  own_dir: where
 * vprof.h is (may be NULL). */
struct lines *lines_new(const char *text, size_t len, const char *directory, const char *own_dir);
void lines_free(struct lines *l);
DEFINE_CLEANUP(struct lines *, lines_free);

/* position.file lives as long as l. */
struct position lines_at(const struct lines *l, size_t offset);

/* The files that the markers name, real paths as in position.file. */
size_t lines_file_cnt(const struct lines *l);
const char *lines_file(const struct lines *l, size_t i);
bool lines_file_is_foreign(const struct lines *l, size_t i);

/* Calls found with the offset of each line of the text that stands for the given line of file i. */
void lines_find(const struct lines *l, size_t i, uint32_t line, void (*found)(size_t offset, void *arg),
		void *arg);

/* Where our own text can be inserted without moving anything else: after the first markers, which name the unit to
 * the compiler (its debug information uses them). */
size_t lines_top(const struct lines *l);

#endif
