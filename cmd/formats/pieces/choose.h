/* SPDX-License-Identifier: GPL-3.0-or-later */
/* choose.h - --intervals: selects the intervals to write.  Private to cmd/formats/. */
#ifndef CMD_FORMATS_PIECES_CHOOSE_H
#define CMD_FORMATS_PIECES_CHOOSE_H

#include "analysis/findings/findings.h"
#include "base/diag.h"

enum { CHOICE_DEFAULT = 200 };

struct choice {
	enum { CHOICE_SLOWEST, CHOICE_SAMPLE, CHOICE_ALL } kind;
	size_t cnt;
};

/* "SLOWEST:200", "SAMPLE:1000", "all"; NULL: the default.  EXIT_USAGE. */
int choice_parse(const char *text, struct choice *ret, struct diag *reterr);
/* Indexes into f->intervals, in order of start; the caller frees it. */
size_t *choose_intervals(const struct findings *f, const struct choice *c, size_t *ret_cnt);

#endif
