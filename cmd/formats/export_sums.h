/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_sums.h - the common part of formats that write a digest: reads it from a run, or from FILE.vpd, and parses --window,
 * --table and --service.  Private to cmd/formats/ and cmd/export.c.
 */
#ifndef CMD_FORMATS_EXPORT_SUMS_H
#define CMD_FORMATS_EXPORT_SUMS_H

#include <stdio.h>
#include "base/option.h"
#include "digest/tsv.h"
#include "store/store.h"

struct export_sums_writer {
	int (*check)(struct diag *reterr);	/* the options, before anything is read */
	int (*write)(FILE *out, const struct summed *digest, struct diag *reterr);	/* 0, or a negative errno */
};

extern const struct option_desc export_sums_options[];
bool export_sums_given(void);

/* file NULL: of the run.  EXIT_NO_EVIDENCE: there are no intervals. */
int export_sums_read(struct store *s, const struct run *r, const char *file, struct summed **ret, struct diag *reterr);

int export_tsv_options(struct tsv_options *ret, struct diag *reterr);
int export_refuse_tsv_options(struct diag *reterr);

#endif
