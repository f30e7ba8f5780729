/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * warn_holes.c - says what is missing in a damaged trace, and what is discarded because of that.
 *
 *	the trace is damaged: 1 block of records is missing (67935 records of thread 25472, 0.85 s to 0.98 s after the first
 *	one); the 5937 intervals that were under way then are left out
 */
#include "analysis/warnings/warnings.h"

#include <inttypes.h>
#include "base/str.h"
#include "base/banned.h"

bool losses_have_holes(const struct losses *l)
{
	return l->holes.blocks || l->holes.tables || l->holes.files || l->holes.bytes || l->holes.twice;
}

static const char *begin(struct str *to)
{
	return to->len ? "; " : ": ";
}

static void add_threads(const struct losses *l, struct str *to)
{
	for (size_t i = 0; i < l->holes.tid_cnt && i < HOLE_TIDS; i++)
		str_addf(to, "%s%" PRIu64, i ? ", " : l->holes.tid_cnt > 1 ? " of threads " : " of thread ",
			 l->holes.tids[i] & UINT32_MAX);
	if (l->holes.tid_cnt > HOLE_TIDS)
		str_addf(to, " and others");
}

static void add_moment(struct str *to, int64_t ns, const char *before, const char *after)
{
	str_addf(to, "%.3g%s", (double)(ns < 0 ? -ns : ns) / 1e9, ns < 0 ? before : after);
}

static void add_records(const struct analysis *a, const struct lives *lives, struct str *to)
{
	const struct losses *l = &a->t->losses;
	int64_t first_ns = lives->first_ns == INT64_MAX ? l->holes.since_ns : lives->first_ns;

	if (!l->holes.blocks)
		return;
	str_addf(to, "%s%" PRIu64 " block%s of records %s missing", begin(to), l->holes.blocks, l->holes.blocks == 1 ? "" : "s",
		 l->holes.blocks == 1 ? "is" : "are");
	if (!l->holes.cnt)
		return;
	str_addf(to, " (");
	if (l->holes.records)
		str_addf(to, "%" PRIu64 " records", l->holes.records);
	add_threads(l, to);
	str_add(to, l->holes.records || l->holes.tid_cnt ? ", " : "");
	add_moment(to, l->holes.since_ns - first_ns, " s before the first one that is left", " s");
	str_add(to, " to ");
	add_moment(to, l->holes.until_ns - first_ns, " s before it", l->holes.since_ns < first_ns ? " s after it" :
		   " s after the first one");
	if (l->holes.cnt > 1)
		str_addf(to, ", in %" PRIu64 " holes of together %.3g s", l->holes.cnt, (double)l->holes.ns / 1e9);
	str_addf(to, ")");
}

static void add_others(const struct losses *l, struct str *to)
{
	if (l->holes.files)
		str_addf(to, "%snothing is whole in %" PRIu64 " of its files", begin(to), l->holes.files);
	if (l->holes.tables)
		str_addf(to, "%ssome names, or anchors of the clock, are missing", begin(to));
	if (l->holes.twice)
		str_addf(to, "%s%" PRIu64 " block%s there twice, and count%s once", begin(to), l->holes.twice,
			 l->holes.twice == 1 ? " is" : "s are", l->holes.twice == 1 ? "s" : "");
	if (l->holes.bytes)
		str_addf(to, "%s%" PRIu64 " bytes belong to no block", begin(to), l->holes.bytes);
}

void warn_holes(const struct analysis *a, const struct lives *lives)
{
	const struct losses *l = &a->t->losses;
	_cleanup_(str_release) struct str what = STR_INIT;

	if (l->kernel_damaged)
		findings_warn(a->f, "hole", "what the kernel saw (kernel.vpk) is damaged, and left out: the answer is one of a recording "
			      "without --kernel");
	if (l->callers_line)
		findings_warn(a->f, "hole", "the run's file of callers is damaged in line %" PRIu64 ": some functions that wait and carry "
			      "no probe have no name", l->callers_line);
	if (!losses_have_holes(l))
		return;
	add_records(a, lives, &what);
	add_others(l, &what);
	if (l->holes.cnt)
		str_addf(&what, "; the %" PRIu64 " intervals that were under way then are left out", l->intervals);
	else if (!l->holes.blocks && !l->holes.files)
		str_addf(&what, "; no record is missing");
	findings_warn(a->f, "hole", "the trace is damaged%s", str_cstr(&what));
}
