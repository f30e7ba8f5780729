/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sampled.c - finds the places with too few samples, moves theirs up, and counts what the others rest on.
 */
#include "analysis/pass/sampled.h"

#include "base/banned.h"

struct effect {				/* of the samples of a place */
	double squares, fourths;	/* of d */
	uint64_t cnt;
};

struct settling {
	struct vtree *v;
	struct moments *m;
	struct rows *rows;
	int64_t period_ns;
	struct effect *effects;		/* per place, of its whole subtree */
	uint32_t *target;		/* per place: where its time goes */
	size_t place_cnt;
	size_t *cell_of_place;		/* per place: its cell of the row being made, if it has one there */
	cells row;
};

static bool any_sampled(const struct vtree *v)
{
	for (size_t i = 0; i < v->places.cnt; i++)
		if (v->places.items[i].is_sampled)
			return true;
	return false;
}

/* A row of weight 3 is one row here. */
static bool next_recorded(struct rows_walk *w, size_t *recorded)
{
	while (rows_next(w))
		if (w->recorded != *recorded) {
			*recorded = w->recorded;
			return true;
		}
	return false;
}

static void add_effects(struct settling *s, const struct rows_walk *w, double mean_ns)
{
	double d = (double)(w->head.end_ns - w->head.start_ns) - mean_ns, weight = w->head.weight;

	for (size_t c = 0; c < w->cells.cnt; c++) {
		const struct cell *x = &w->cells.items[c];
		uint64_t cnt = (uint64_t)(x->ns / s->period_ns);

		if (!s->v->places.items[x->place].is_sampled)
			continue;
		s->effects[x->place].cnt += cnt;
		s->effects[x->place].squares += (double)cnt * d * d * weight;
		s->effects[x->place].fourths += (double)cnt * d * d * d * d * weight * weight;
	}
}

/* Down to what they were taken from, not into it; children have larger numbers. */
static void sum_up(struct settling *s)
{
	for (size_t i = s->place_cnt; i-- > 1; ) {
		const struct effect *e = &s->effects[i];
		uint32_t parent = s->v->places.items[i].parent;

		if (!e->cnt || parent == vtree_sampled_root(s->v, (uint32_t)i))
			continue;
		s->effects[parent].cnt += e->cnt;
		s->effects[parent].squares += e->squares;
		s->effects[parent].fourths += e->fourths;
	}
}

static double effective(const struct effect *e)
{
	return e->fourths > 0 ? e->squares * e->squares / e->fourths : 0;
}

static void sum_all(struct settling *s)
{
	struct effect all = { 0, 0, 0 };

	for (size_t i = 0; i < s->place_cnt; i++)
		if (s->v->places.items[i].is_sampled) {
			all.cnt += s->effects[i].cnt;
			all.squares += s->effects[i].squares;
			all.fourths += s->effects[i].fourths;
		}
	s->v->all_samples = all.cnt;
	s->v->effective_samples = effective(&all);
}

static void find_effects(struct settling *s)
{
	double mean_ns = moments_mean(s->m->n, s->m->places.items[0].x);
	struct rows_walk w;
	size_t recorded = SIZE_MAX;

	for (rows_begin(&w, s->rows); next_recorded(&w, &recorded); )
		add_effects(s, &w, mean_ns);
	rows_end(&w);
	sum_all(s);
	sum_up(s);
}

static bool is_enough(const struct effect *e)
{
	return effective(e) >= SAMPLED_LEAST;
}

/* The innermost function around it of which there are enough, or what the samples were taken from. */
static uint32_t settled_at(const struct settling *s, uint32_t place)
{
	uint32_t root = vtree_sampled_root(s->v, place);

	for (place = s->v->places.items[place].parent; place != root && !is_enough(&s->effects[place]); )
		place = s->v->places.items[place].parent;
	return place;
}

/* Returns whether any samples move. */
static bool find_targets(struct settling *s)
{
	bool any = false;

	s->target = xcalloc(s->place_cnt, sizeof(*s->target));
	for (uint32_t i = 0; i < s->place_cnt; i++) {
		s->target[i] = i;
		if (s->v->places.items[i].is_sampled)
			s->target[i] = vtree_own_place(s->v, settled_at(s, i));
		any |= s->target[i] != i;
	}
	return any;
}

static void mark_present(struct vtree *v, uint32_t place, uint32_t weight)
{
	struct place *places = v->places.items;

	for (; place != NODE_NONE && places[place].last_row != v->row_cnt; place = places[place].parent) {
		places[place].last_row = v->row_cnt;
		places[place].presence += weight;
	}
}

static void move_row(struct settling *s, const struct rows_walk *w)
{
	s->row.cnt = 0;
	s->v->row_cnt++;
	for (size_t c = 0; c < w->cells.cnt; c++) {
		uint32_t to = s->target[w->cells.items[c].place];

		if (s->cell_of_place[to] >= s->row.cnt || s->row.items[s->cell_of_place[to]].place != to) {
			s->cell_of_place[to] = s->row.cnt;
			VEC_ADD(&s->row, (struct cell){ to, 0 });
		}
		s->row.items[s->cell_of_place[to]].ns += w->cells.items[c].ns;
	}
	for (size_t c = 0; c < s->row.cnt; c++)
		mark_present(s->v, s->row.items[c].place, w->head.weight);
}

/* Makes all rows anew, and the sums over them. */
static void move(struct settling *s, struct moments **m, struct rows **rows)
{
	struct moments *sums = moments_new();
	struct rows *moved = rows_new();
	struct rows_walk w;
	size_t recorded = SIZE_MAX;

	s->cell_of_place = xcalloc(s->v->places.cnt, sizeof(*s->cell_of_place));
	s->v->row_cnt = 0;
	for (size_t i = 0; i < s->v->places.cnt; i++)
		s->v->places.items[i].presence = s->v->places.items[i].last_row = 0;
	for (rows_begin(&w, s->rows); next_recorded(&w, &recorded); ) {
		move_row(s, &w);
		rows_add(moved, &w.head, s->row.items, s->row.cnt, w.works.items, w.works.cnt);
		moments_add_row(sums, s->v, &s->row, w.head.weight);
	}
	rows_end(&w);
	moments_end(sums);
	moments_free(*m);
	rows_free(*rows);
	*m = sums;
	*rows = moved;
}

/* Where they are now; what they were taken from rests on all of them. */
static void count(struct settling *s)
{
	struct vtree *v = s->v;
	uint64_t *cnt;

	while (v->sample_cnt.cnt < v->places.cnt)
		VEC_ADD(&v->sample_cnt, 0);
	cnt = v->sample_cnt.items;
	for (uint32_t i = 0; i < s->place_cnt; i++) {
		uint32_t to = s->target[i], root = vtree_sampled_root(v, i), rest;

		if (!v->places.items[i].is_sampled || v->places.items[to].parent == root)
			continue;
		for (uint32_t above = to; above != root; above = v->places.items[above].parent)
			cnt[above] += s->effects[i].cnt;
		rest = vtree_own_place(v, root);
		cnt[rest] += s->effects[i].cnt;
	}
}

void sampled_settle(struct vtree *v, struct moments **m, struct rows **rows, int64_t period_ns)
{
	struct settling s = { .v = v, .m = *m, .rows = *rows, .period_ns = period_ns, .place_cnt = v->places.cnt };

	if (period_ns <= 0 || !any_sampled(v))
		return;
	s.effects = xcalloc(s.place_cnt, sizeof(*s.effects));
	find_effects(&s);
	if (find_targets(&s))
		move(&s, m, rows);
	count(&s);
	free(s.effects);
	free(s.target);
	free(s.cell_of_place);
	VEC_RELEASE(&s.row);
}
