/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * interrupted_output.h - products that are made in place: removes half-written ones.
 */
#ifndef INSTRUMENTER_PRODUCTS_INTERRUPTED_OUTPUT_H
#define INSTRUMENTER_PRODUCTS_INTERRUPTED_OUTPUT_H

#include <stddef.h>

/* Notes that the file is about to be written; the mark is held by the descriptor that it returns, -1
 * if it could not be set. */
int unfinished_mark(const char *path, const char *build_dir);

/* The file was written, or removed: clears the mark and closes the descriptor.  -1 is fine. */
void unfinished_done(const char *path, const char *build_dir, int fd);

/* Removes the files whose makers were killed; how many. */
size_t unfinished_remove(const char *build_dir);

#endif
