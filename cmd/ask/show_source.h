/* SPDX-License-Identifier: GPL-3.0-or-later */
/* show_source.h - prints every function of that name of the last build, as it stands in its file. */
#ifndef CMD_ASK_SHOW_SOURCE_H
#define CMD_ASK_SHOW_SOURCE_H

int show_source(const char *name);	/* NULL: which is asked for; an exit status */

#endif
