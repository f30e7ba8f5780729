/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clock.c - how far the clocks of two hosts are apart: bounded by causes, as in Cristian's method, and never assumed.
 *
 * A request cannot arrive before it was sent, nor an answer:
 *
 *	called at 10, answered at 90 (front); served from 1020 to 1080 (back)
 *	the back's clock is ahead by 1080 - 90 = 990 at least, and by 1020 - 10 = 1010 at most
 *
 * The bounds of many calls intersect.  Clocks drift, so a stretch of calls has a straight line: its slope is the median of the slopes
 * between calls half a stretch apart, its height lies between the bounds of all.  A call whose bounds do not meet the line, or that
 * took longer at the callee than the caller waited, cannot be what its ids say.
 *
 * A program may note the end of an interval a moment after it sent the answer.  An end that is later than the answer came by no more
 * than four times what a call usually takes on the way counts as that.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include "base/banned.h"
#include "base/saturate.h"
#include "base/search.h"
#include "trace/stitch/stitching.h"

enum {
	STRETCH_CALLS = 256,
	FIT_CALLS_MIN = 4,		/* fewer have no line: each counts by its own bounds */
	LATE_ENDS = 4,
	WIDTH_MIN_NS = 1000,
};

#define DRIFT_MAX 1e-3			/* no clock gains or loses more; what seems so is a wrong id */

static int compare_reals(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

static double median(double *values, size_t cnt)
{
	if (!cnt)
		return 0;
	qsort(values, cnt, sizeof(*values), compare_reals);
	return cnt % 2 ? values[cnt / 2] : (values[cnt / 2 - 1] + values[cnt / 2]) / 2;
}

/* In order of the callee's start, a stretch of one pair of runs. */
struct stretch {
	const struct stitching *s;
	struct remote *const *items;
	size_t cnt;
	double slack_ns;		/* by which an end may be noted late */
	double origin_ns, origin_ahead_ns;	/* the line goes through this point ... */
	double slope;			/* ... so steeply */
	double low_ns, high_ns;		/* bounds of what must be added to it */
};

static double start_of(const struct stretch *x, size_t i)
{
	return (double)(x->s->t->intervals.items[x->items[i]->callee].start_ns -
			x->s->t->intervals.items[x->items[0]->callee].start_ns);
}

/* Relative to the first call's, so that a double holds it. */
static double middle_of(const struct stretch *x, size_t i)
{
	const struct remote *r = x->items[i], *first = x->items[0];

	return ((double)((__int128)r->low_ns - first->low_ns) + (double)((__int128)r->high_ns - first->low_ns)) / 2;
}

static double line_at(const struct stretch *x, size_t i)
{
	return x->origin_ahead_ns + x->slope * (start_of(x, i) - x->origin_ns);
}

/* The caller's wait less the callee's time; negative: the callee took longer. */
static double room_of(const struct stretch *x, size_t i)
{
	return (double)((__int128)x->items[i]->high_ns - x->items[i]->low_ns);
}

static double median_room(const struct stretch *x)
{
	_cleanup_(freep) double *values = xcalloc(x->cnt + 1, sizeof(*values));

	for (size_t i = 0; i < x->cnt; i++)
		values[i] = fabs(room_of(x, i));
	return median(values, x->cnt);
}

/* By the tighter half of the calls. */
static void fit_line(struct stretch *x)
{
	_cleanup_(freep) double *values = xcalloc(x->cnt + 1, sizeof(*values));
	_cleanup_(freep) size_t *tight = xcalloc(x->cnt + 1, sizeof(*tight));
	double most_ns = median_room(x);
	size_t tight_cnt = 0, half, cnt = 0;

	for (size_t i = 0; i < x->cnt; i++)
		if (fabs(room_of(x, i)) <= most_ns)
			tight[tight_cnt++] = i;
	half = tight_cnt / 2;
	for (size_t k = 0; tight_cnt >= FIT_CALLS_MIN && k + half < tight_cnt; k++) {
		size_t i = tight[k], j = tight[k + half];

		if (start_of(x, j) > start_of(x, i))
			values[cnt++] = (middle_of(x, j) - middle_of(x, i)) / (start_of(x, j) - start_of(x, i));
	}
	x->slope = median(values, cnt);
	if (!(fabs(x->slope) <= DRIFT_MAX))
		x->slope = 0;
	x->origin_ns = start_of(x, x->cnt / 2);
	for (size_t k = 0; k < tight_cnt; k++)
		values[k] = middle_of(x, tight[k]) - x->slope * (start_of(x, tight[k]) - x->origin_ns);
	x->origin_ahead_ns = median(values, tight_cnt);
}

/* Marks what does not meet the line; the others bound it further. */
static void check_stretch(struct stretch *x)
{
	double near_ns = x->cnt < FIT_CALLS_MIN ? DBL_MAX : median_room(x) / 2;

	if (near_ns < WIDTH_MIN_NS)
		near_ns = WIDTH_MIN_NS;
	x->low_ns = -DBL_MAX;
	x->high_ns = DBL_MAX;
	for (size_t i = 0; i < x->cnt; i++) {
		struct remote *r = x->items[i];
		double low = (double)((__int128)r->low_ns - x->items[0]->low_ns) - line_at(x, i);
		double high = (double)((__int128)r->high_ns - x->items[0]->low_ns) - line_at(x, i);

		r->wrong |= low - x->slack_ns > high || low - x->slack_ns > near_ns || high < -near_ns;
		if (r->wrong)
			continue;
		x->low_ns = low > x->low_ns ? low : x->low_ns;
		x->high_ns = high < x->high_ns ? high : x->high_ns;
	}
}

/* Between the bounds; above the upper one nothing is possible, whatever ends were noted late. */
static double height_of(const struct stretch *x)
{
	if (x->high_ns == DBL_MAX)
		return 0;
	return x->low_ns <= x->high_ns ? (x->low_ns + x->high_ns) / 2 : x->high_ns;
}

static void place_calls(const struct stretch *x)
{
	for (size_t i = 0; i < x->cnt; i++) {
		struct remote *r = x->items[i];
		int64_t ahead_ns = narrow_saturated((__int128)x->items[0]->low_ns + real_saturated(line_at(x, i) + height_of(x)));

		if (ahead_ns < r->low_ns)
			ahead_ns = r->low_ns;
		r->ahead_ns = ahead_ns < r->high_ns ? ahead_ns : r->high_ns;
	}
}

static void add_knot(struct clock_line *line, const struct stretch *x)
{
	VEC_ADD(&line->knots, (struct clock_knot){
		(double)x->s->t->intervals.items[x->items[0]->callee].start_ns + x->origin_ns,
		(double)x->items[0]->low_ns + x->origin_ahead_ns + height_of(x) });
	line->slope = x->slope;
}

/* All calls between two runs. */
static void bound_pair(struct stitching *s, struct remote *const *items, size_t cnt)
{
	struct clock_line line = { .caller = items[0]->caller_run, .callee = items[0]->callee_run };
	struct stitched_clocks told = { .caller = line.caller, .callee = line.callee };
	double slack_ns, width_ns = 0;
	size_t stretches = (cnt + STRETCH_CALLS - 1) / STRETCH_CALLS;

	slack_ns = LATE_ENDS * median_room(&(struct stretch){ .s = s, .items = items, .cnt = cnt });
	for (size_t k = 0; k < stretches; k++) {
		size_t from = cnt * k / stretches, until = cnt * (k + 1) / stretches;
		struct stretch x = { .s = s, .items = items + from, .cnt = until - from, .slack_ns = slack_ns };

		fit_line(&x);
		check_stretch(&x);
		place_calls(&x);
		for (size_t i = 0; i < x.cnt; i++)
			told.call_cnt += !x.items[i]->wrong;
		if (x.high_ns == DBL_MAX)
			continue;		/* none is right */
		add_knot(&line, &x);
		width_ns = x.high_ns - x.low_ns > width_ns ? x.high_ns - x.low_ns : width_ns;
	}
	if (line.knots.cnt) {
		const struct clock_knot *first = &line.knots.items[0], *last = &line.knots.items[line.knots.cnt - 1];

		told.ahead_ns = real_saturated(first->ahead_ns);
		told.width_ns = real_saturated(width_ns);
		told.drift = last->callee_ns > first->callee_ns ? (last->ahead_ns - first->ahead_ns) / (last->callee_ns - first->callee_ns) : line.slope;
		VEC_ADD(&s->lines, line);
	}
	VEC_ADD(&s->ret->clocks, told);
}

static const struct stitching *sorted_for;

static int by_pair(const void *pa, const void *pb)
{
	const struct remote *a = *(struct remote *const *)pa, *b = *(struct remote *const *)pb;
	const struct interval *list = sorted_for->t->intervals.items;

	if (a->caller_run != b->caller_run)
		return a->caller_run < b->caller_run ? -1 : 1;
	if (a->callee_run != b->callee_run)
		return a->callee_run < b->callee_run ? -1 : 1;
	if (list[a->callee].start_ns != list[b->callee].start_ns)
		return list[a->callee].start_ns < list[b->callee].start_ns ? -1 : 1;
	return (a->callee > b->callee) - (a->callee < b->callee);
}

/* ---- from each run's clock to a root's ---- */

static double ahead_at(const struct clock_line *line, double callee_ns)
{
	const struct clock_knot *k = line->knots.items;
	size_t at = partition_point(i, line->knots.cnt, k[i].callee_ns < callee_ns);

	if (at == 0)
		return k[0].ahead_ns + line->slope * (callee_ns - k[0].callee_ns);
	if (at == line->knots.cnt)
		return k[at - 1].ahead_ns + line->slope * (callee_ns - k[at - 1].callee_ns);
	return k[at - 1].ahead_ns + (k[at].ahead_ns - k[at - 1].ahead_ns) * (callee_ns - k[at - 1].callee_ns) /
				    (k[at].callee_ns - k[at - 1].callee_ns);
}

int64_t stitch_time(const struct stitching *s, size_t run, int64_t ns)
{
	for (size_t steps = 0; steps < s->run_cnt && s->clocks[run].via != run; steps++) {
		const struct run_clock *c = &s->clocks[run];
		const struct clock_line *line = &s->lines.items[c->line];
		double ahead_ns = ahead_at(line, c->is_caller ? (double)ns + line->knots.items[0].ahead_ns : (double)ns);

		ns = narrow_saturated((__int128)ns + (c->is_caller ? real_saturated(ahead_ns) : -(__int128)real_saturated(ahead_ns)));
		run = c->via;
	}
	return ns;
}

/* Runs that lines connect to known ones become known, until none is left. */
static void spread(struct stitching *s)
{
	for (bool again = true; again; ) {
		again = false;
		for (size_t i = 0; i < s->lines.cnt; i++) {
			const struct clock_line *l = &s->lines.items[i];

			if (s->clocks[l->caller].known == s->clocks[l->callee].known)
				continue;
			if (s->clocks[l->caller].known)
				s->clocks[l->callee] = (struct run_clock){ true, i, false, l->caller };
			else
				s->clocks[l->caller] = (struct run_clock){ true, i, true, l->callee };
			again = true;
		}
	}
}

/* The roots are the runs that nobody calls; where all are called, any. */
static void find_ways(struct stitching *s)
{
	_cleanup_(freep) bool *called = xcalloc(s->run_cnt + 1, sizeof(*called));

	for (size_t i = 0; i < s->lines.cnt; i++)
		called[s->lines.items[i].callee] = true;
	for (unsigned pass = 0; pass < 2; pass++)
		for (size_t run = 0; run < s->run_cnt; run++) {
			if (s->clocks[run].known || (called[run] && !pass))
				continue;
			s->clocks[run] = (struct run_clock){ true, 0, false, run };
			spread(s);
		}
}

void stitch_clocks(struct stitching *s)
{
	_cleanup_(freep) struct remote **list = xcalloc(s->remotes.cnt + 1, sizeof(*list));

	for (size_t i = 0; i < s->remotes.cnt; i++)
		list[i] = &s->remotes.items[i];
	sorted_for = s;
	if (s->remotes.cnt > 1)
		qsort(list, s->remotes.cnt, sizeof(*list), by_pair);
	for (size_t i = 0, end; i < s->remotes.cnt; i = end) {
		for (end = i; end < s->remotes.cnt && list[end]->caller_run == list[i]->caller_run &&
			      list[end]->callee_run == list[i]->callee_run; end++)
			;
		bound_pair(s, list + i, end - i);
	}
	find_ways(s);
}
