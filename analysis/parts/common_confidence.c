/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * common_confidence.c - confidence intervals of what common causes explain.
 *
 * A cause explains E = s^2 l / V of the variance V, s the sum of its eigenvector u and l its eigenvalue (common_causes.c).
 * With y = u (X - mean X) and t = T - mean T an interval moves
 *
 *	l	by y^2 - l
 *	u	by y times the sum over the other components j of u_j y_j / (l - l_j), so s by y z,
 *		z = sum over j of s_j y_j / (l - l_j) = turn (X - mean X)
 *	E	by f = (2 s l y z + s^2 (y^2 - l) - E (t^2 - V)) / V
 *
 * (first order, over n); sums of f over blocks of time are taken as in confidence.c.  Example: X, Y, Z each 0 or 1 at once
 * have all of the variance: z = 0, s^2 y^2 = t^2, so f = 0: there is no doubt.
 */
#include "analysis/parts/common_confidence.h"

#include <math.h>
#include "analysis/stats/confidence.h"
#include "base/banned.h"

/* y and z of a row, not centred. */
static void project(const struct times_walk *w, const uint32_t *index_of_part, const struct component *c,
		    double *ret_y, double *ret_z)
{
	*ret_y = *ret_z = 0;
	for (size_t k = 0; k < w->times.cells.cnt; k++) {
		uint32_t i = index_of_part[w->times.cells.items[k].column];

		if (i == NODE_NONE)
			continue;
		*ret_y += c->u[i] * (double)w->times.cells.items[k].ns;
		*ret_z += c->turn[i] * (double)w->times.cells.items[k].ns;
	}
}

static void sum_means(const struct analysis *a, const struct times *times, const uint32_t *index_of_part,
		      const struct component *list, double (*ret)[2])
{
	size_t cnt = a->f->common_causes.cnt;
	struct times_walk w;

	for (times_begin(&w, times); times_next(&w); )
		for (size_t i = 0; i < cnt; i++) {
			double y, z;

			project(&w, index_of_part, &list[i], &y, &z);
			ret[i][0] += y / (double)a->m->n;
			ret[i][1] += z / (double)a->m->n;
		}
	times_end(&w);
}

void find_common_confidence(const struct analysis *a, const struct times *times, const uint32_t *index_of_part,
			    const struct component *list)
{
	size_t cnt = a->f->common_causes.cnt, block_cnt = analysis_blocks(a).cnt;
	double (*means)[2] = xcalloc(cnt + 1, sizeof(*means)), variance = a->variance_ns2;
	_cleanup_(freep) double *blocks = xcalloc(cnt * block_cnt + 1, sizeof(*blocks));
	struct times_walk w;

	sum_means(a, times, index_of_part, list, means);
	for (times_begin(&w, times); times_next(&w); ) {
		double t = (double)a->full->of_row[w.row] - a->f->interval.mean_ns;

		for (size_t i = 0; i < cnt; i++) {
			const struct component *c = &list[i];
			double y, z, explained = a->f->common_causes.items[i].explained;

			project(&w, index_of_part, c, &y, &z);
			y -= means[i][0];
			z -= means[i][1];
			blocks[i * block_cnt + a->full->block_of_row[w.row]] +=
				(2 * c->sum * c->l * y * z + c->sum * c->sum * (y * y - c->l) -
				 explained * (t * t - variance)) / variance;
		}
	}
	times_end(&w);
	for (size_t i = 0; i < cnt; i++) {
		struct common_cause *cause = &a->f->common_causes.items[i];
		struct confidence c = confidence_of(blocks + i * block_cnt, analysis_blocks(a), a->m->n);

		findings_ci95(cause->explained, c.half_width, cause->ci95);
	}
	free(means);
}
