/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * warn_pairing.c - starts and ends without a partner.
 *
 * Example: of 8,045 starts 4,108 had no end, and 4,100 ends had no start; key 0x40 was started and not ended, and the
 * same thread ended 0x41, which was never started.
 */
#include "analysis/warnings/warnings.h"

#include <inttypes.h>
#include "base/str.h"
#include "base/banned.h"

enum { ONE_IN = 20 };			/* below 5 %, no warning */

static void add_key(struct str *s, uint64_t key)
{
	if (key >> 63)			/* as the runtime makes it (runtime/event.c) */
		str_addf(s, "that of thread %" PRIu64, key & INT64_MAX);
	else if (key < 10)
		str_addf(s, "key %" PRIu64, key);
	else
		str_addf(s, "key %#" PRIx64 " (%" PRIu64 ")", key, key);
}

/* "1 of 3 starts of 'r' has", "2 of 3 starts of 'r' have" */
static const char *have(uint64_t cnt)
{
	return cnt == 1 ? "has" : "have";
}

static void add_examples(struct str *s, const struct pairing *p)
{
	const char *before = ": ";

	if (p->start.known) {
		str_add(s, before);
		add_key(s, p->start.key);
		str_add(s, " was started and not ended");
		before = ", ";
	}
	if (p->end.known) {
		str_add(s, before);
		add_key(s, p->end.key);
		str_addf(s, " was ended%s and never started",
			 p->start.known && p->start.tid == p->end.tid ? " by the same thread" : "");
		before = ", ";
	}
	if (p->given_up.known) {
		str_add(s, before);
		add_key(s, p->given_up.key);
		str_add(s, " was aborted");
	}
}

/* The starts and ends of one name without a partner. */
struct loose {
	uint64_t starts, unended, open, aborted, ends;
	uint64_t completed;
};

/* "1 open at the end of the run, 3 followed by the next start" */
static void add_ways(struct str *s, const struct loose *l)
{
	uint64_t others = l->unended - l->open - l->aborted;
	const struct {
		uint64_t cnt;
		const char *what;
	} ways[] = {
		{ l->open, "open when the recording ended" }, { l->aborted, "aborted by VPROF_ABORT" },
		{ others, "given up at the next start of that key, or left without an end" },
	};
	const char *before = " (";

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		if (ways[i].cnt) {
			str_addf(s, "%s%" PRIu64 " %s", before, ways[i].cnt, ways[i].what);
			before = ", ";
		}
	str_add(s, *before == ',' ? ")" : "");
}

static const char *remedy(const struct loose *l)
{
	if (l->ends && !l->starts)
		return "Name the place where it starts (vprof.conf: start =, or VPROF_BEGIN)";
	if (l->ends)
		return "Give start and end keys of the same value (vprof.conf: key =)";
	if (l->aborted * 2 > l->unended)
		return "Where these are requests like the others, VPROF_END in place of VPROF_ABORT counts them";
	return "Name every place where it ends (vprof.conf: end =, or VPROF_END, VPROF_ABORT)";
}

/* "4 of 9 starts of 'r' have no end (...), and 3 ends have no start: key 7 was started and not ended" */
static void describe(struct str *s, const char *name, const struct loose *l, const struct pairing *p)
{
	if (l->starts) {
		str_addf(s, "%" PRIu64 " of %" PRIu64 " starts of '%s' %s no end", l->unended, l->starts, name,
			 have(l->unended));
		add_ways(s, l);
	}
	if (l->starts && l->ends)
		str_addf(s, ", and %" PRIu64 " ends %s no start", l->ends, have(l->ends));
	else if (l->ends)
		str_addf(s, "'%s' never started, and ended %" PRIu64 " times", name, l->ends);
	add_examples(s, p);
}

/* Imported tuples have intervals, but no starts and ends; open: number in the trace. */
static struct loose loose_of(const struct pairing *p, const struct counted_intervals *c)
{
	struct loose l = { .starts = p->starts, .unended = p->unended + p->aborted, .aborted = p->aborted,
			   .ends = p->unmatched_ends, .completed = c->completed, .open = c->open };

	if (!l.starts && !l.ends) {
		l.unended = c->open + c->aborted;
		l.aborted = c->aborted;
		l.starts = c->completed + l.unended;
	}
	if (l.open > l.unended - l.aborted)
		l.open = l.unended - l.aborted;
	return l;
}

/* Intervals under way when a recording ends are normal; if nothing ever ended, that is not. */
static bool is_worth_a_warning(const struct analysis *a, const struct loose *l)
{
	if (l->unended + l->ends == 0)
		return false;
	if (l->completed && !l->ends && l->unended == l->open && l->open <= a->t->threads.cnt)
		return false;
	return (l->unended + l->ends) * ONE_IN > l->starts;
}

void warn_unpaired(const struct analysis *a, const struct counted_intervals *counted)
{
	static const struct pairing none;
	const struct pairing *p = pairing_of_interval(a);
	_cleanup_(str_release) struct str text = STR_INIT;
	struct loose l;

	p = p ? p : &none;
	l = loose_of(p, counted);
	if (!is_worth_a_warning(a, &l))
		return;
	describe(&text, a->f->interval.name, &l, p);
	findings_warn(a->f, "aborted", "%s; %s. %s", str_cstr(&text),
		      l.completed ? "the answer rests on the others" : "no start came to its end", remedy(&l));
}

void warn_nested(const struct analysis *a)
{
	const struct pairing *p = pairing_of_interval(a);
	_cleanup_(str_release) struct str example = STR_INIT;

	if (!p || p->nested * ONE_IN <= p->starts || p->unended * 2 > p->nested)
		return;
	add_key(&example, p->inner.key);
	findings_warn(a->f, "nested",
		      "%" PRIu64 " of %" PRIu64 " starts of '%s' were inside another one of the same key, as that of %s: what "
		      "counts is the outermost, or the innermost with nested = inner in vprof.conf", p->nested, p->starts,
		      a->f->interval.name, str_cstr(&example));
}

/* If another name has more completed intervals, the answer does not show this one. */
void warn_unpaired_others(const struct analysis *a)
{
	const struct pairing *own = pairing_of_interval(a);

	for (uint32_t i = 0; i < a->t->interval_names.cnt; i++) {
		const struct pairing *p = trace_pairing(a->t, i);
		_cleanup_(str_release) struct str text = STR_INIT;
		struct counted_intervals unknown = { .completed = 0 };
		struct loose l;

		if (!p || p == own)
			continue;
		l = loose_of(p, &unknown);
		l.completed = l.starts > l.unended;
		l.open = l.completed && l.unended - l.aborted <= a->t->threads.cnt ? l.unended - l.aborted : 0;
		if (!is_worth_a_warning(a, &l))
			continue;
		describe(&text, a->t->interval_names.items[i], &l, p);
		findings_warn(a->f, "other-intervals", "the answer is not about '%s': %s. %s",
			      a->t->interval_names.items[i], str_cstr(&text), remedy(&l));
	}
}
