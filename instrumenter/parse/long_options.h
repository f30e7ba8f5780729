/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * long_options.h - the long names that gcc and clang have for their options.
 *
 *	gcc --shared --std=c11 --output=lib.so a.c	means	gcc -shared -std=c11 -o lib.so a.c
 */
#ifndef INSTRUMENTER_PARSE_LONG_OPTIONS_H
#define INSTRUMENTER_PARSE_LONG_OPTIONS_H

#include "base/proc.h"

/* Puts the short name in place of each long one that command.c has to understand. */
void long_options_shorten(struct args *words);

#endif
