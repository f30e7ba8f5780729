/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export_window.h - what the two formats of digests share: --window, and the digest of a run. */
#ifndef CMD_FORMATS_EXPORT_WINDOW_H
#define CMD_FORMATS_EXPORT_WINDOW_H

#include "analysis/summed/summed.h"
#include "base/diag.h"
#include "base/option.h"
#include "store/store.h"

extern const struct option_desc export_window_options[];
bool export_window_given(void);

int export_window_ns(int64_t *ret_ns, struct diag *reterr);

/* EXIT_NO_EVIDENCE: it has no intervals. */
int export_digest_of(struct store *s, const struct run *r, struct summed **ret, struct diag *reterr);

#endif
