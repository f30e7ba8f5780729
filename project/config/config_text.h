/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * config_text.h - vprof.conf as text: what `vprof init` and `vprof annotate` write.
 * Comments and order of the user's file stay as they are.
 */
#ifndef PROJECT_CONFIG_CONFIG_TEXT_H
#define PROJECT_CONFIG_CONFIG_TEXT_H

#include "instrumenter/plan/location.h"

/* The commented file of `vprof init`. */
extern const char config_template[];

/* text with [interval "NAME"] appended, or put in the place of the one of that name (the whole
 * section, up to the next '['); the caller frees it.  text may be "". */
char *config_put_interval(const char *text, const struct interval_directive *d);

/* The section alone; the caller frees it. */
char *config_interval_text(const struct interval_directive *d);

#endif
