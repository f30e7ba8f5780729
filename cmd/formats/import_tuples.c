/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_tuples.c - `vprof import --from tuples`: the paper's tuples, as `vprof export` writes them.
 */
#include "base/banned.h"
#include "cmd/formats/import_format.h"
#include "cmd/messages.h"
#include "trace/tuples/tuples.h"

static int read_tuples(const char *const *paths, size_t cnt, struct trace **ret, struct diag *reterr)
{
	int r = tuples_read(paths, cnt, ret, reterr);

	if (r < 0)
		return r;
	note_line("found %zu intervals, %zu segments, %zu invocations, %zu functions, %zu wake-ups", (*ret)->intervals.cnt,
		  (*ret)->segments.cnt, (*ret)->invocations.cnt, (*ret)->functions.cnt, (*ret)->wakeups.cnt);
	if ((*ret)->intervals.cnt)
		note_line("views that work: all%s", (*ret)->wakeups.cnt ? "" : "; no waker is known, so no wait has a blame");
	else
		note_line("views that work: wait-graph, criticality and samples; the others need intervals");
	return 0;
}

const struct import_format import_tuples = { .name = "tuples", .read = read_tuples };
