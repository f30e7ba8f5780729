/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * chrome_own.h - what vprof export --format chrome-trace wrote, read back.
 *
 * Intervals, calls, waits with their class, and wake-ups come back unchanged.  The file does not hold: intervals and
 * threads that were not exported, a thread's time outside of calls and waits of the intervals, hand-overs of tasks.
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
