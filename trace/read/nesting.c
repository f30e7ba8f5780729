/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * nesting.c - what is inside an open interval: a list of BEGINs that are open and of pairs that are complete.
 *
 * END turns the last open BEGIN into a pair and removes the pairs after it, which were inside.  When the
 * interval is given up, the remaining pairs are outermost.
 *
 *	BEGIN 1 (the interval)	-
 *	BEGIN 2			2
 *	BEGIN 3			2 3
 *	END			2 (3)
 *	END			(2)
 *	BEGIN 4, END		(2) (4)		1 never ends: 2 and 4 are outermost
 */
#include "trace/read/nesting.h"

#include <string.h>
#include "base/banned.h"

#define PAIR (1ULL << 63)		/* the number is that of a BEGIN with its END */

enum { INSIDE_MAX = 1 << 20 };		/* deeper than any stack: an interval with so much inside is assumed
					 * never to end */

struct pairing *pairing_of(struct replay *p, uint32_t name)
{
	while (p->t->pairings.cnt <= name)
		VEC_ADD(&p->t->pairings, (struct pairing){ .starts = 0 });
	return &p->t->pairings.items[name];
}

static void note(struct unpaired *u, uint64_t key, uint64_t tid)
{
	*u = (struct unpaired){ .known = true, .key = key, .tid = tid };
}

bool nesting_is_inner(const struct replay *p, uint32_t name)
{
	const struct reader_options *o = p->rd->options;

	for (size_t i = 0; o && i < o->inner_cnt; i++)
		if (!strcmp(o->inner[i], p->t->interval_names.items[name]))
			return true;
	return false;
}

/* No interval that ends contains these pairs. */
static void learn(struct replay *p, struct worker *w)
{
	for (size_t i = 0; p->learns && i < w->inside.cnt; i++)
		if (w->inside.items[i] & PAIR)
			map_set(p->outermost, w->inside.items[i] & ~PAIR, 1);
	w->inside.cnt = 0;
}

/* The last nested interval to begin is the one that counts: w becomes that one. */
static void restart(struct replay *p, struct worker *w, const struct raw_event *e, uint64_t sid)
{
	struct interval *i = &w->interval;

	map_set(p->place_of, i->sid, 0);
	i->sid = sid;
	i->start_ns = e->ns;
	i->lost = e->words[2] & BEGIN_SHORT;
	i->root_only = e->words[2] & BEGIN_ROOT_ONLY;
	i->weight = begin_weight(e->words[2]);
	w->is_spent = false;
	map_set(p->place_of, sid, (uint64_t)(w - p->workers.items) + 1);
	map_set(p->open, interval_hash(w->pid, i->name, w->key), sid);
}

bool nesting_begin(struct replay *p, struct worker *w, const struct raw_event *e, uint64_t sid)
{
	struct pairing *c = pairing_of(p, w->interval.name);
	uint64_t unused;

	if (p->outermost && !p->learns && map_get(p->outermost, sid, &unused))
		return false;
	c->nested++;
	if (!c->inner.known)
		note(&c->inner, w->key, tid_of(p, e->thread));
	w->depth++;
	if (nesting_is_inner(p, w->interval.name)) {
		restart(p, w, e, sid);
		return true;
	}
	w->interval.lost |= e->words[2] & BEGIN_SHORT;
	w->interval.root_only |= e->words[2] & BEGIN_ROOT_ONLY;
	if (p->learns && !w->in_frame) {
		if (w->inside.cnt == INSIDE_MAX)
			learn(p, w);
		VEC_ADD(&w->inside, sid);
	}
	return true;
}

bool nesting_end(struct replay *p, struct worker *w)
{
	size_t at = w->inside.cnt;

	if (!w->depth || nesting_is_inner(p, w->interval.name))
		return false;
	w->depth--;
	while (at && w->inside.items[at - 1] & PAIR)
		at--;
	if (at) {
		w->inside.items[at - 1] |= PAIR;
		w->inside.cnt = at;
	}
	return true;
}

void nesting_unwound(struct replay *p, struct worker *w)
{
	pairing_of(p, w->interval.name)->unended += w->depth;
	/* If the innermost counts, it was one of those that ended. */
	w->is_spent |= w->depth && nesting_is_inner(p, w->interval.name);
	w->depth = 0;
	w->inside.cnt = 0;
}

void replay_learn_nesting(struct replay *p)
{
	p->learns = true;
	p->outermost = map_new();
}

struct map *replay_nesting(struct replay *p)
{
	struct map *outermost = p->outermost;

	p->outermost = NULL;
	return outermost;
}

void replay_know_nesting(struct replay *p, struct map *outermost)
{
	map_free(p->outermost);
	p->outermost = outermost;
}

void nesting_give_up(struct replay *p, struct worker *w)
{
	struct pairing *c = pairing_of(p, w->interval.name);

	c->unended += 1 + w->depth;
	if (!c->start.known || (c->end.known && c->start.tid != c->end.tid && w->interval.start_tid == c->end.tid))
		note(&c->start, w->key, w->interval.start_tid);
	learn(p, w);
}

void nesting_abort(struct replay *p, const struct worker *w)
{
	struct pairing *c = pairing_of(p, w->interval.name);

	c->aborted++;
	if (!c->given_up.known)
		note(&c->given_up, w->key, w->interval.start_tid);
}

void nesting_stray(struct replay *p, const struct raw_event *e, uint32_t name)
{
	struct pairing *c = pairing_of(p, name);

	c->unmatched_ends++;
	if (!c->end.known)
		note(&c->end, e->words[1], p->rd->raw.threads.items[e->thread].tid);
}
