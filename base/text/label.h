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
 * What a name ends with tells it from others: its last part, and the parameters where it has overloads.  So that goes last.
 * Of a name in C the larger part of what is left is its end: "my…te_command".
 */
#ifndef BASE_TEXT_LABEL_H
#define BASE_TEXT_LABEL_H

#include "base/str.h"

void label_add_shortened(struct str *to, const char *text, size_t width, const char *ellipsis);

/* The same, for a sentence, where nothing is cut: names of C++ that are longer than that lose what they can do without. */
void label_add_readable(struct str *to, const char *text, size_t width, const char *ellipsis);

#endif
