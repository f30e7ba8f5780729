/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fallthrough.h - comments that gcc reads.
 *
 *	case 1: begin();
 *		/\* fall through *\/
 *	case 2:
 *
 * The preprocessor drops the comment, and -Wimplicit-fallthrough then warns about the preprocessed text, though not
 * about the user's.  So such comments are put back where they stood.
 */
#ifndef INSTRUMENTER_INSERT_FALLTHROUGH_H
#define INSTRUMENTER_INSERT_FALLTHROUGH_H

#include "instrumenter/parse/command.h"
#include "instrumenter/text/edit.h"
#include "instrumenter/text/lines.h"

/* Whether the command enables that warning. */
bool fallthrough_is_told(const struct command *c);

void fallthrough_insert(const struct lines *lines, const char *text, size_t len, struct edits *ret);

#endif
