/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * outliers.c - tests whether a few intervals carry the variance.
 *
 * One stall of 150 standard deviations among 10,000 intervals is two thirds of their variance: then every share is
 * about that one interval.  It is an incident, not a factor.  Example, T = 1, 1, 1, 1, 6: mean 2, squares 1, 1, 1, 1,
 * 16: the fifth has 80 %, and the effective number of intervals is (20)^2 / (4 + 256) = 1.5.
 */
#include "analysis/stats/latency_checks.h"

#include <string.h>
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/banned.h"

static void keep(struct carriers *c, size_t most, const double *squares, size_t row)
{
	size_t at = c->cnt;

	while (at > 0 && squares[c->rows[at - 1]] < squares[row])
		at--;
	if (at == most)
		return;
	c->cnt += c->cnt < most;
	memmove(c->rows + at + 1, c->rows + at, (c->cnt - at - 1) * sizeof(c->rows[0]));
	c->rows[at] = row;
}

struct carriers carriers_of(const int64_t *latencies_ns, const uint32_t *copies, size_t cnt)
{
	_cleanup_(freep) double *squares = xcalloc(cnt + 1, sizeof(*squares));
	struct carriers c = { .cnt = 0 };
	double mean = 0, sum = 0, fourth = 0, all = 0;
	size_t most = cnt / 100 < 1 ? 1 : cnt / 100 > CARRIERS_MAX ? CARRIERS_MAX : cnt / 100;

	for (size_t i = 0; i < cnt; i++)
		all += copies ? copies[i] : 1;
	for (size_t i = 0; i < cnt; i++)
		mean += (copies ? copies[i] : 1) * (double)latencies_ns[i] / all;
	for (size_t i = 0; i < cnt; i++) {
		squares[i] = ((double)latencies_ns[i] - mean) * ((double)latencies_ns[i] - mean) *
			     (copies ? copies[i] : 1);
		sum += squares[i];
		fourth += squares[i] * squares[i];
		keep(&c, most, squares, i);
	}
	for (size_t i = 0; i < c.cnt; i++)
		c.share += sum > 0 ? squares[c.rows[i]] / sum : 0;
	c.effective_cnt = fourth > 0 ? sum * sum / fourth : 0;
	return c;
}
