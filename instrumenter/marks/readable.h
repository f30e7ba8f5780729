/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * readable.h - the instrumented text of a unit, for people.
 */
#ifndef INSTRUMENTER_MARKS_READABLE_H
#define INSTRUMENTER_MARKS_READABLE_H

#include "base/str.h"

/* text: as it is compiled.  directory, own_dir: as for lines_new(). */
void readable_text(const char *text, size_t len, const char *directory, const char *own_dir,
		   struct str *ret);

#endif
