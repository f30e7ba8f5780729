/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_tuples.c - `vprof export --format tuples`: the paper's tuples.
 */
#include "base/banned.h"
#include "cmd/formats/export_format.h"
#include "cmd/messages.h"
#include "trace/tuples/tuples.h"

static void announce(const struct trace *t)
{
	if (tuples_left_out(t))
		note_line("%zu completed intervals of which no functions were recorded have no place in "
			  "tuples and are left out", tuples_left_out(t));
}

const struct export_format export_tuples = { .name = "tuples", .announce = announce, .write = tuples_write };
