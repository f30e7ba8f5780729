/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perfetto_unpack.h - the packets of a Perfetto trace that stand in it compressed. */
#ifndef CMD_FORMATS_SPANS_PERFETTO_UNPACK_H
#define CMD_FORMATS_SPANS_PERFETTO_UNPACK_H

#include <stdbool.h>
#include "base/str.h"
#include "cmd/formats/spans/protobuf_read.h"

/* Appends the packets, of zlib or of zstd.  -EBADMSG: damaged; -E2BIG: more than a writer packs into one. */
int perfetto_unpack(struct pb packed, bool is_zstd, struct str *ret);

#endif
