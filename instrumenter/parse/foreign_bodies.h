/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * foreign_bodies.h - function bodies of system headers, which libclang need not read.
 *
 *	# 7 "/usr/include/x.h" 1 3
 *	inline int twice(int a) { return a * 2; }	becomes
 *	inline int twice(int a) {               }
 *
 * Nothing in them is looked at, and what stands outside does not depend on them, but for constexpr functions and
 * those whose type is "auto": their bodies stay.  This works on tokens, without a grammar: if libclang then finds an
 * error in the project's own code, parse the original text.
 */
#ifndef INSTRUMENTER_PARSE_FOREIGN_BODIES_H
#define INSTRUMENTER_PARSE_FOREIGN_BODIES_H

#include "instrumenter/text/lines.h"

/* view: of the same length as the text of lines.  Returns the number of bytes that are blank now. */
size_t foreign_bodies_blank(char *view, size_t len, const struct lines *lines);

#endif
