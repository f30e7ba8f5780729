/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * label.h - a function's name, perhaps with what it waits for, in the columns that there are.
 *
 *	52  store::pool<std::string, 16>::take(int, long) › lock wait
 *	40  store::pool<…>::take(int, long) › lock wait
 *	36  …::pool<…>::take(int, long) › lock wait
 *	30  …::take(int, long) › lock wait
 *	22  …::take(…) › lock wait
 *	16  …ke(…) › lock wait
 *
 * The end of a name distinguishes it from others: its last part, and the parameters of overloads.  So the end
 * is cut last.  A cut name of C keeps more of its end than of its beginning: "my…te_command".
 */
#ifndef BASE_TEXT_LABEL_H
#define BASE_TEXT_LABEL_H

#include "base/str.h"

void label_add_shortened(struct str *to, const char *text, size_t width, const char *ellipsis);

/* The same for a sentence, which cuts nothing: a C++ name that is too long drops arguments and parameters only. */
void label_add_readable(struct str *to, const char *text, size_t width, const char *ellipsis);

#endif
