/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * braces.h - finds the end of a {...} without parsing its contents.
 */
#ifndef INSTRUMENTER_TEXT_BRACES_H
#define INSTRUMENTER_TEXT_BRACES_H

#include <stddef.h>

/* The offset past the brace that closes the one at text[open]; 0: none does. */
size_t braces_end(const char *text, size_t len, size_t open);

#endif
