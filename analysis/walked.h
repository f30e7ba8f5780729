/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * walked.h - what an analyzer knows of a trace after its last window, as bytes: rows of its intervals, places and sums.
 *
 * One of the doors of analysis/.  To merge traces again and again each is walked once:
 *
 *	analyzer_archive(a, names, &bytes)	instead of analyzer_finish(), for each part by itself
 *	analyzer_take(all, &bytes, &part)	into one analyzer, each part; then analyzer_finish(all, ...)
 *
 * The findings are those of an analyzer that is given the windows of all parts, bit for bit, but for before.by, whose sums of
 * doubles are by part.
 */
#ifndef ANALYSIS_WALKED_H
#define ANALYSIS_WALKED_H

#include "analysis/analyze.h"
#include "trace/archive.h"

/* Whether all that the results rest on is in the bytes: not of a look at requests, or of samples. */
bool analyzer_can_archive(const struct trace *names);

/* Ends the windows of a; it can do nothing else afterwards. */
void analyzer_archive(struct analyzer *a, const struct trace *names, struct archive *to);

/* A part in numbers of all: [its own]. */
struct taken_part {
	const struct trace *names;	/* its own */
	const uint32_t *functions, *interval_names, *call_sites, *work_names;
	uint64_t (*tid)(const void *arg, uint64_t tid);
	uint64_t (*sid)(const void *arg, uint64_t sid);
	const void *arg;
	uint32_t origin;
};

/* -EBADMSG: the bytes make no sense; then a is of no more use. */
int analyzer_take(struct analyzer *a, struct archive *from, const struct taken_part *part);

#endif
