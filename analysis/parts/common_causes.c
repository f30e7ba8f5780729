/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * common_causes.c - parts that vary together: one cause of many small covariances.
 *
 * Twelve functions that all wait for one allocator have 0.7 % of the variance each, every pair 1.4 %: nothing stands
 * out, yet together they are all of it.  The principal components of the parts' covariances find that: with u an
 * eigenvector of length 1 and l its eigenvalue, the component moves part i by u_i, the latency by s = sum u_i, and
 * explains
 *
 *	s^2 l / Var(T)		of it part i contributes u_i / s
 *
 * Members are the parts that contribute a fiftieth or more.  It counts as a common cause if it explains a tenth, has
 * three members or more, and more than half of the members' joint variance is covariance; else it is one part, or
 * independent parts of equal variance, of which any mixture is an eigenvector.
 *
 * Example: X, Y, Z each 0 or 1 at once: all covariances .25, u = 1/sqrt 3 each, l = .75, s^2 l = 2.25 = Var(T):
 * explains all; alone, the members have .75 of 2.25, so two thirds are covariance.
 */
#include "analysis/parts/common_causes.h"

#include <gsl/gsl_eigen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/parts/common_confidence.h"
#include "base/banned.h"

#define PARTS_MAX 128			/* the parts with most variance: the eigenvectors of more take too long */
#define CAUSES_MAX 3
#define EXPLAINED_MIN 0.1
#define MEMBERS_MIN 3
#define MEMBER_MIN 0.02
#define SHARED_MIN 0.5
#define NEGLIGIBLE 1e-5			/* of Var(T) */

struct cause_maker {
	const struct analysis *a;
	const struct part_columns *columns;
	size_t cnt;			/* number of parts in the matrix */
	uint32_t *parts;		/* their indexes */
	uint32_t *index_of_part;	/* NODE_NONE: not looked at */
	__int128 *x, *xy;		/* [i], [i * cnt + k] for k <= i */
	double *covariance;		/* [i * cnt + k] */
	struct times_row row;
	struct times_batch batch;
};

struct sized {
	uint32_t part;
	double variance;
};

static int larger_first(const void *a, const void *b)
{
	const struct sized *x = a, *y = b;

	if (x->variance != y->variance)
		return x->variance > y->variance ? -1 : 1;
	return (x->part > y->part) - (x->part < y->part);
}

static struct sized *variances_of_parts(const struct analysis *a, const struct part_columns *parts)
{
	size_t cnt = parts->times->column_cnt;
	struct sized *list = xcalloc(cnt + 1, sizeof(*list));

	for (uint32_t i = 0; i < cnt; i++) {
		const struct sums *s = &parts->sums[i];

		list[i] = (struct sized){ i, a->f->parts.items[i].is_estimated ? 0 : moments_covariance(a->m->n, s->x, s->x, s->xx) };
	}
	if (cnt > 1)
		qsort(list, cnt, sizeof(*list), larger_first);
	return list;
}

static void choose_parts(struct cause_maker *c)
{
	size_t all = c->columns->times->column_cnt;
	_cleanup_(freep) struct sized *list = variances_of_parts(c->a, c->columns);

	c->parts = xcalloc(all + 1, sizeof(*c->parts));
	c->index_of_part = xmalloc((all + 1) * sizeof(*c->index_of_part));
	memset(c->index_of_part, 0xff, (all + 1) * sizeof(*c->index_of_part));
	for (size_t i = 0; i < all && c->cnt < PARTS_MAX; i++) {
		if (list[i].variance < NEGLIGIBLE * c->a->variance_ns2)
			break;
		c->index_of_part[list[i].part] = (uint32_t)c->cnt;
		c->parts[c->cnt++] = list[i].part;
	}
}

static __int128 *product_of(struct cause_maker *c, uint32_t i, uint32_t k)
{
	return &c->xy[i > k ? i * c->cnt + k : k * c->cnt + i];
}

static void sum_row(void *arg, size_t row, const cells *places)
{
	struct cause_maker *c = arg;
	struct { uint32_t i; int64_t ns; } list[PARTS_MAX];
	size_t cnt = 0;

	(void)row;
	times_row(&c->row, places);
	for (size_t k = 0; k < c->row.cells.cnt; k++) {
		uint32_t i = c->index_of_part[c->row.cells.items[k].column];

		if (i == NODE_NONE)
			continue;
		list[cnt].i = i;
		list[cnt++].ns = c->row.cells.items[k].ns;
		c->x[i] += c->row.cells.items[k].ns;
	}
	for (size_t p = 0; p < cnt; p++)
		for (size_t q = 0; q <= p; q++)
			*product_of(c, list[p].i, list[q].i) += (__int128)list[p].ns * list[q].ns;
}

static void sum_batch(void *arg, const struct row_batch *b)
{
	struct cause_maker *c = arg;
	const struct times_column *list[PARTS_MAX];
	size_t cnt = 0;

	times_batch(&c->batch, b);
	for (size_t k = 0; k < c->batch.columns.cnt; k++) {
		const struct times_column *x = &c->batch.columns.items[k];
		uint32_t i = c->index_of_part[x->column];

		if (i == NODE_NONE)
			continue;
		list[cnt++] = x;
		c->x[i] += batch_sum(x->ns);
	}
	for (size_t p = 0; p < cnt; p++)
		for (size_t q = 0; q <= p; q++)
			*product_of(c, c->index_of_part[list[p]->column], c->index_of_part[list[q]->column]) +=
				batch_product(list[p]->ns, list[q]->ns, list[p]->rows_with & list[q]->rows_with);
}

static void fill_covariances(struct cause_maker *c)
{
	c->covariance = xcalloc(c->cnt * c->cnt + 1, sizeof(*c->covariance));
	for (size_t i = 0; i < c->cnt; i++)
		for (size_t k = 0; k <= i; k++)
			c->covariance[i * c->cnt + k] = c->covariance[k * c->cnt + i] =
				moments_covariance(c->a->m->n, c->x[i], c->x[k], c->xy[i * c->cnt + k]);
}

static int by_contribution(const void *a, const void *b)
{
	const struct common_member *x = a, *y = b;

	if (x->contribution != y->contribution)
		return x->contribution > y->contribution ? -1 : 1;
	return (x->part > y->part) - (x->part < y->part);
}

/* Judges one component: adds it to f->common_causes if it is one. */
static bool judge(struct cause_maker *c, const gsl_matrix *vectors, size_t at, double value)
{
	struct common_cause cause = { .explained = 0 };
	double sum = 0, own = 0, joint = 0, variance = c->a->variance_ns2;
	size_t members[PARTS_MAX], cnt = 0;

	for (size_t i = 0; i < c->cnt; i++)
		sum += gsl_matrix_get(vectors, i, at);
	cause.explained = sum * sum * value / variance;
	if (!(cause.explained >= EXPLAINED_MIN))
		return false;
	for (size_t i = 0; i < c->cnt; i++)
		if (gsl_matrix_get(vectors, i, at) / sum >= MEMBER_MIN)
			members[cnt++] = i;
	for (size_t p = 0; p < cnt; p++) {
		own += c->covariance[members[p] * c->cnt + members[p]];
		for (size_t q = 0; q < cnt; q++)
			joint += c->covariance[members[p] * c->cnt + members[q]];
	}
	if (cnt < MEMBERS_MIN || 1 - own / joint < SHARED_MIN)
		return false;
	cause.own = own / variance;
	cause.members.items = ARENA_NEW(c->a->f->arena, struct common_member, cnt);
	cause.members.cnt = cause.members.cap = cnt;
	for (size_t p = 0; p < cnt; p++)
		cause.members.items[p] = (struct common_member){
			c->parts[members[p]], gsl_matrix_get(vectors, members[p], at) / sum };
	qsort(cause.members.items, cnt, sizeof(*cause.members.items), by_contribution);
	VEC_ADD(&c->a->f->common_causes, cause);
	return true;
}

/* u = vectors[at], and how it turns.  Components with equal eigenvalues cannot be distinguished. */
static struct component component_of(const struct cause_maker *c, const gsl_matrix *vectors, const gsl_vector *values,
				     size_t at)
{
	double variance = c->a->variance_ns2, l = gsl_vector_get(values, at);
	struct component ret = { .l = l * variance };

	ret.u = xcalloc(2 * c->cnt, sizeof(*ret.u));
	ret.turn = ret.u + c->cnt;
	for (size_t j = 0; j < c->cnt; j++) {
		double sum = 0, apart = l - gsl_vector_get(values, j);

		for (size_t i = 0; i < c->cnt; i++)
			sum += gsl_matrix_get(vectors, i, j);
		if (j == at)
			ret.sum = sum;
		for (size_t i = 0; i < c->cnt; i++)
			if (j == at)
				ret.u[i] = gsl_matrix_get(vectors, i, j);
			else if (fabs(apart) > NEGLIGIBLE * l)
				ret.turn[i] += sum * gsl_matrix_get(vectors, i, j) / (apart * variance);
	}
	return ret;
}

static void find_components(struct cause_maker *c)
{
	gsl_matrix *matrix = gsl_matrix_alloc(c->cnt, c->cnt), *vectors = gsl_matrix_alloc(c->cnt, c->cnt);
	gsl_vector *values = gsl_vector_alloc(c->cnt);
	gsl_eigen_symmv_workspace *w = gsl_eigen_symmv_alloc(c->cnt);
	struct component components[CAUSES_MAX];
	size_t cnt = 0;

	for (size_t i = 0; i < c->cnt; i++)
		for (size_t k = 0; k < c->cnt; k++)
			gsl_matrix_set(matrix, i, k, c->covariance[i * c->cnt + k] / c->a->variance_ns2);
	gsl_eigen_symmv(matrix, values, vectors, w);
	gsl_eigen_symmv_sort(values, vectors, GSL_EIGEN_SORT_VAL_DESC);
	for (size_t i = 0; i < c->cnt && cnt < CAUSES_MAX; i++)
		if (judge(c, vectors, i, gsl_vector_get(values, i) * c->a->variance_ns2))
			components[cnt++] = component_of(c, vectors, values, i);
	if (cnt)
		find_common_confidence(c->a, c->columns->times, c->index_of_part, components);
	while (cnt)
		free(components[--cnt].u);
	gsl_eigen_symmv_free(w);
	gsl_matrix_free(matrix);
	gsl_matrix_free(vectors);
	gsl_vector_free(values);
}

struct cause_maker *begin_common_causes(const struct analysis *a, const struct part_columns *parts, struct row_reading *r)
{
	struct cause_maker *c = xcalloc(1, sizeof(*c));

	c->a = a;
	c->columns = parts;
	if (a->full->recorded_cnt < FINDINGS_INTERVALS_MIN || !(a->variance_ns2 > 0))
		return c;
	choose_parts(c);
	if (c->cnt < MEMBERS_MIN)
		return c;
	c->x = xcalloc(c->cnt + 1, sizeof(*c->x));
	c->xy = xcalloc(c->cnt * c->cnt + 1, sizeof(*c->xy));
	times_row_init(&c->row, parts->times);
	times_batch_init(&c->batch, parts->times);
	visit_rows(r, sum_row, sum_batch, c);
	return c;
}

void end_common_causes(struct cause_maker *c)
{
	if (c->x) {
		fill_covariances(c);
		find_components(c);
	}
	times_row_release(&c->row);
	times_batch_release(&c->batch);
	free(c->parts);
	free(c->index_of_part);
	free(c->x);
	free(c->xy);
	free(c->covariance);
	free(c);
}
