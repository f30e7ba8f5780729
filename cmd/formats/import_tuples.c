/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_tuples.c - `vprof import --from tuples`: the paper's tuples, as `vprof export` writes them.
 */
#include "base/banned.h"
#include "cmd/formats/import_format.h"
#include "trace/tuples/tuples.h"

const struct import_format import_tuples = { .name = "tuples", .read = tuples_read };
