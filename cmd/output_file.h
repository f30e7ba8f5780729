/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * output_file.h - a file that the user names with -o.
 *
 *	_cleanup_(output_release) struct output o = { .path = "run3.tuples" };	or NULL: stdout
 *	r = output_open(&o, reterr);
 *	fputs("...", o.file);
 *	r = output_finish(&o, reterr);
 *
 * For root a new file replaces the old one, in a directory that no other user can replace (base/ours.h): a link that
 * another user has put there is not followed.
 */
#ifndef CMD_OUTPUT_FILE_H
#define CMD_OUTPUT_FILE_H

#include <stdio.h>
#include "base/diag.h"

struct output {
	const char *path;
	FILE *file;
	char *temporary;
};

int output_open(struct output *o, struct diag *reterr);
int output_finish(struct output *o, struct diag *reterr);
void output_release(struct output *o);

#endif
