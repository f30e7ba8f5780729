/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perfetto_own.h - what vprof export --format perfetto wrote, read back (own_export.h). */
#ifndef CMD_FORMATS_SPANS_PERFETTO_OWN_H
#define CMD_FORMATS_SPANS_PERFETTO_OWN_H

#include "cmd/formats/spans/perfetto_read.h"
#include "trace/model.h"

/* p->is_own.  EXIT_DATA names the event. */
int perfetto_own_read(const struct perfetto *p, const char *path, struct trace **ret, struct diag *reterr);

#endif
