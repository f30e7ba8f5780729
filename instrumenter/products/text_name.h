/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * text_name.h - the file name of a unit's preprocessed text while it is compiled.
 *
 * Compilers write that name into the object, so it is derived from the object's: build/%src%log.o.i, the same each
 * time.  Two compiles of one object at the same time (two targets of a makefile that make it) would write and remove
 * each other's, so the second has its process number in the name.
 */
#ifndef INSTRUMENTER_PRODUCTS_TEXT_NAME_H
#define INSTRUMENTER_PRODUCTS_TEXT_NAME_H

/* The caller frees it, and closes *ret_lock, which may be -1, when the text is gone. */
char *text_name(const char *build_dir, const char *object, const char *suffix, int *ret_lock);

#endif
