/* SPDX-License-Identifier: GPL-3.0-or-later */
/* show_source.h - prints the functions of that name in the last build, from their files, as text or JSON. */
#ifndef CMD_ASK_SHOW_SOURCE_H
#define CMD_ASK_SHOW_SOURCE_H

#include <stdbool.h>

int show_source(const char *name, bool json);	/* NULL: prints that a name is missing; returns an exit status */

#endif
