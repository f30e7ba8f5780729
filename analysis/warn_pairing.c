/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * warn_pairing.c - starts and ends that did not come to each other.
 *
 * Example: of 8,045 starts 4,108 had no end, and 4,100 ends had no start; key 0x40 was started and never ended, and
 * the same thread ended 0x41, which was never started.
 */
#include <inttypes.h>
#include <string.h>
#include "analysis/passes.h"
#include "base/str.h"
#include "base/banned.h"

enum { ONE_IN = 20 };			/* fewer than 5 % are not worth a warning */

static const struct pairing *pairing_of_interval(const struct analysis *a)
{
	for (uint32_t i = 0; i < a->t->interval_names.cnt; i++)
		if (a->f->interval.name && !strcmp(a->t->interval_names.items[i], a->f->interval.name))
			return trace_pairing(a->t, i);
	return NULL;
}

static void add_key(struct str *s, uint64_t key)
{
	if (key >> 63)			/* as the runtime makes it (runtime/event.c) */
		str_addf(s, "that of thread %" PRIu64, key & INT64_MAX);
	else
		str_addf(s, "key %#" PRIx64 " (%" PRIu64 ")", key, key);
}

static void add_examples(struct str *s, const struct pairing *p)
{
	if (p->start.known) {
		str_add(s, ": ");
		add_key(s, p->start.key);
		str_add(s, " was started and not ended");
	}
	if (p->end.known) {
		str_add(s, p->start.known ? ", " : ": ");
		add_key(s, p->end.key);
		str_addf(s, " was ended%s and never started",
			 p->start.known && p->start.tid == p->end.tid ? " by the same thread" : "");
	}
}

void warn_unpaired(struct analysis *a)
{
	static const struct pairing none;
	const struct pairing *p = pairing_of_interval(a);
	uint64_t open = a->counted->open, aborted = a->counted->aborted, unended = open + aborted, starts;
	_cleanup_(str_release) struct str examples = STR_INIT;

	p = p ? p : &none;
	starts = p->starts ? p->starts : a->counted->completed + unended;
	if (p->unended > unended)
		unended = p->unended;
	/* What is under way when a recording ends is nobody's fault. */
	if (!aborted && unended == open && open <= a->t->threads.cnt && !p->unmatched_ends)
		return;
	if ((unended + p->unmatched_ends) * ONE_IN <= starts)
		return;
	add_examples(&examples, p);
	findings_warn(a->f, "aborted",
		      "%" PRIu64 " of %" PRIu64 " starts of '%s' have no end (%" PRIu64 " intervals open at the end, %" PRIu64
		      " aborted), and %" PRIu64 " ends have no start%s; the answer rests on the others. %s",
		      unended, starts, a->f->interval.name, open, aborted, p->unmatched_ends, str_cstr(&examples),
		      p->unmatched_ends ? "Give start and end keys of the same value (vprof.conf: key =)" :
		      "Name every place where it ends (vprof.conf: end =, or VPROF_END, VPROF_ABORT)");
}

void warn_nested(struct analysis *a)
{
	const struct pairing *p = pairing_of_interval(a);

	if (!p || p->nested * ONE_IN <= p->starts || p->unended * 2 > p->nested)
		return;
	findings_warn(a->f, "nested",
		      "%" PRIu64 " of %" PRIu64 " starts of '%s' were inside another one of the same key: what counts is the outermost, "
		      "or the innermost with nested = inner in vprof.conf", p->nested, p->starts, a->f->interval.name);
}
