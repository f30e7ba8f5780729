/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * chrome_own.h - what vprof export --format chrome-trace wrote, read back (own_export.h).
 */
#ifndef CMD_FORMATS_SPANS_CHROME_OWN_H
#define CMD_FORMATS_SPANS_CHROME_OWN_H

#include <jansson.h>
#include "base/diag.h"
#include "trace/model.h"

bool chrome_is_own(const json_t *root);

/* text: from which root was made.  EXIT_DATA names the event and its line. */
int chrome_own_read(const json_t *root, const char *path, const char *text, struct trace **ret, struct diag *reterr);

#endif
