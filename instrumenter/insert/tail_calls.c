/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tail_calls.c - keeps calls that compilers turn into jumps as jumps where they may form a loop.
 *
 *	static long count(long n, long sum) { return n ? count(n - 1, sum + 1) : sum; }
 *	static long add(struct vm *m) { m->acc += 3; return ops[m->left--](m); }
 *
 * run in one frame with -O2, however many steps there are.  Nothing may be left to do after the call, so the span
 * ends before it: (vprof_tail(&vprof_span_), count(n - 1, sum + 1)).
 *
 * That is done for calls in circles of tail calls.  OUTSIDE stands for all other units and for what pointers and
 * virtual calls reach: such a call goes there, and every function that another unit can name, or whose address is
 * taken, can be called from there.  A tail call to a function of the same unit that leads back to no one keeps its
 * span, and so does one to a system's function: the number of their frames is bounded.  doc/design/compile.md says
 * why.
 *
 * Where exceptions pass, gcc keeps a frame behind a call in tail position if any call of the function before it may
 * throw: both have one landing pad, and the span is open there or it is not.  Such a function has no probe if its
 * circle goes through pointers or stays in the unit; if the circle needs a direct call of another unit, the frame
 * remains.
 */
#include <string.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "instrumenter/insert/instrument.h"
#include "instrumenter/insert/unit_directives.h"

struct edge {
	size_t from, to;		/* functions; their count: OUTSIDE */
	struct parsed_tail tail;
};

struct graph {
	VEC(struct edge) edges;
	size_t *in, *out;		/* edges of each function */
};

static const struct parsed_tail no_call;

static void add_edge(struct graph *g, size_t from, size_t to, const struct parsed_tail *tail)
{
	VEC_ADD(&g->edges, (struct edge){ from, to, *tail });
	g->out[from]++;
	g->in[to]++;
}

/* Only edges that are on a circle, or between two, remain. */
static void keep_circles(struct graph *g)
{
	for (size_t removed = 1; removed; ) {
		removed = 0;
		for (size_t i = 0; i < g->edges.cnt; ) {
			struct edge *e = &g->edges.items[i];

			if (g->in[e->from] && g->out[e->to]) {
				i++;
				continue;
			}
			g->out[e->from]--;
			g->in[e->to]--;
			*e = g->edges.items[--g->edges.cnt];
			removed++;
		}
	}
}

static void graph_init(struct graph *g, size_t cnt)
{
	*g = (struct graph){ .in = xcalloc(cnt + 1, sizeof(*g->in)),
			     .out = xcalloc(cnt + 1, sizeof(*g->out)) };
}

static void graph_release(struct graph *g)
{
	VEC_RELEASE(&g->edges);
	free(g->in);
	free(g->out);
}

static bool makes_jumps(const struct instrumenting *in);

static uint64_t place_of(size_t start, size_t end)
{
	return (uint64_t)start << 32 | (uint32_t)end;
}

/* place of a call -> its number + 1; for a constructor that takes a call's result, that call. */
static struct map *index_calls(const struct parsed *p)
{
	struct map *calls = map_new();

	for (size_t i = 0; i < p->calls.cnt; i++)
		map_set(calls, place_of(p->calls.items[i].offset, p->calls.items[i].end), i + 1);
	return calls;
}

static struct map *index_bodies(const struct parsed *p)
{
	struct map *functions = map_new();

	for (size_t f = 0; f < p->functions.cnt; f++)
		map_set(functions, p->functions.items[f].body, f + 1);
	return functions;
}

/* Only functions of the project: system libraries do not end in calls of its functions. */
static bool goes_outside(const struct parsed_call *c)
{
	return !c->callee || (!c->callee_foreign && !c->callee_body);
}

struct index {
	const struct parsed *parsed;
	struct map *calls, *functions;
	bool jumps;			/* this compiler turns calls to outside into jumps */
	struct graph *tails, *loops;
	struct graph *near;		/* tails without calls of other units' functions and of a template's by their names */
};

static void add_near(const struct index *x, size_t from, size_t to, const struct parsed_tail *tail)
{
	add_edge(x->tails, from, to, tail);
	add_edge(x->near, from, to, tail);
}

/*
 * "1 + f()" becomes a loop only in f() itself, and only where jumps are made: or in g(), which f() calls and which
 * the compiler has put into f().  So loops gets the calls within the unit, and functions on a circle there are loops
 * as well.
 */
static void add_direct(const struct index *x, size_t f, size_t to, const struct parsed_tail *tail, bool may_jump)
{
	if (!tail->accumulates || (to == f && x->jumps && !tail->passes_local)) {
		add_edge(x->tails, f, to, tail);
		if (may_jump)
			add_edge(x->near, f, to, tail);
	}
	if (to != f && may_jump)
		add_edge(x->loops, f, to, tail);
}

/*
 * Whatever a template's parameter is, it may lead back here.  "1 + self(self, i - 1)" in a lambda, where self is a
 * parameter of its own, is meant to.
 */
static void add_dependent(const struct index *x, size_t f, const struct parsed_tail *tail)
{
	size_t outside = x->parsed->functions.cnt;

	if (tail->accumulates && tail->calls_value && x->parsed->functions.items[f].is_lambda)
		add_near(x, f, f, tail);
	if (tail->accumulates)
		return;
	add_edge(x->tails, f, outside, tail);
	add_edge(x->tails, outside, f, &no_call);
	if (tail->calls_value) {
		add_edge(x->near, f, outside, tail);
		add_edge(x->near, outside, f, &no_call);
	}
}

static void add_tails_of(const struct index *x, size_t f)
{
	const struct parsed *p = x->parsed;
	struct parsed_tails tails = { .needs_frame = false };

	parsed_tails(p, f, &tails);
	for (size_t t = 0; t < tails.items.cnt; t++) {
		const struct parsed_tail *tail = &tails.items.items[t];
		const struct parsed_call *c;
		bool may_jump = x->jumps && !tails.needs_frame && !tail->passes_local;
		uint64_t n, to;

		if (!map_get(x->calls, place_of(tail->call.start, tail->call.end), &n)) {
			if (tail->depends && may_jump)
				add_dependent(x, f, tail);
			continue;
		}
		c = &p->calls.items[n - 1];
		if (c->callee_body && map_get(x->functions, c->callee_body, &to))
			add_direct(x, f, (size_t)to - 1, tail, may_jump);
		else if (may_jump && goes_outside(c) && !tail->accumulates && c->callee)
			add_edge(x->tails, f, p->functions.cnt, tail);
		else if (may_jump && goes_outside(c) && !tail->accumulates)
			add_near(x, f, p->functions.cnt, tail);
	}
	VEC_RELEASE(&tails.items);
}

/* Which functions other units can call; main() is called once. */
static void add_entries(const struct index *x)
{
	const struct parsed *p = x->parsed;
	_cleanup_(names_freep) struct names *taken = names_new();

	for (size_t i = 0; i < p->address_taken.cnt; i++)
		names_add(taken, p->address_taken.items[i]);
	for (size_t i = 0; i < p->functions.cnt; i++) {
		const struct parsed_function *f = &p->functions.items[i];

		if (strcmp(f->name, "main") == 0)
			continue;
		if (!f->is_static || f->is_virtual || f->is_lambda || names_find(taken, f->name) != NAMES_NONE)
			add_near(x, p->functions.cnt, i, &no_call);
	}
}

static void add_tail(struct instrumenting *in, const struct edge *e)
{
	bool is_scalar = e->tail.is_scalar && in->parsed->functions.items[e->from].result_is_scalar;

	VEC_ADD(&in->tails, (struct scan_tail){ (uint32_t)e->from, is_scalar, e->tail.call.start, e->tail.call.end });
}

/* --- where exceptions pass ---------------------------------------------------------------------- */

/* gcc, and the unit has landing pads. */
static bool keeps_frames(const struct instrumenting *in)
{
	bool exceptions = in->language == LANG_CXX;

	for (size_t i = 0; in->unit->argv && in->unit->argv[i]; i++)
		if (strcmp(in->unit->argv[i], "-fexceptions") == 0 || strcmp(in->unit->argv[i], "-fno-exceptions") == 0)
			exceptions = strcmp(in->unit->argv[i], "-fexceptions") == 0;
	return exceptions && !probe_form_is_clang(in->text, in->len);
}

static bool is_mark(const struct parsed_call *c)
{
	return c->callee && strcmp(c->callee, SCAN_MARK) == 0;
}

/* Functions that may throw before they reach such a call; not those with a VPROF_ mark, which keep their probes. */
static bool *find_throwing(const struct instrumenting *in)
{
	const struct parsed *p = in->parsed;
	bool *ret = xcalloc(p->functions.cnt + 1, sizeof(*ret));
	_cleanup_(map_freep) struct map *tails = map_new();
	uint64_t n;

	for (size_t i = 0; i < in->tails.cnt; i++)
		map_set(tails, place_of(in->tails.items[i].start, in->tails.items[i].end), i);
	for (size_t i = 0; i < p->calls.cnt; i++) {
		const struct parsed_call *c = &p->calls.items[i];

		if (!c->never_throws && !map_get(tails, place_of(c->offset, c->end), &n))
			ret[c->caller] = true;
	}
	for (size_t i = 0; i < p->functions.cnt; i++)
		ret[i] |= p->functions.items[i].throws;
	for (size_t i = 0; i < p->calls.cnt; i++)
		if (is_mark(&p->calls.items[i]))
			ret[p->calls.items[i].caller] = false;
	return ret;
}

static bool is_place_of_interval(const struct directives *all, const struct scan_function *f)
{
	for (size_t i = 0; i < all->list.cnt; i++)
		if (directive_concerns(&all->list.items[i], f))
			return true;
	return false;
}

static void leave_out(struct instrumenting *in, const struct graph *g, bool accumulating)
{
	_cleanup_(directives_release) struct directives all = { .list = { NULL, 0, 0 } };
	_cleanup_(freep) bool *throwing = find_throwing(in);

	directives_collect(in->o, &all);
	for (size_t i = 0; i < g->edges.cnt; i++) {
		const struct edge *e = &g->edges.items[i];
		struct scan_function *f = e->from < in->unit->functions.cnt ? &in->unit->functions.items[e->from] : NULL;

		if (f && !f->skipped && throwing[e->from] && (e->tail.accumulates || !accumulating) &&
		    !is_place_of_interval(&all, f))
			f->skipped = TAIL_BEHIND_THROW;
	}
}

static void add_tails(struct instrumenting *in, const struct graph *g, bool accumulating)
{
	for (size_t i = 0; i < g->edges.cnt; i++) {
		const struct edge *e = &g->edges.items[i];

		if (e->from < in->parsed->functions.cnt && (e->tail.accumulates || !accumulating))
			add_tail(in, e);
	}
}

static void mark_calls(struct instrumenting *in)
{
	for (size_t i = 0; i < in->tails.cnt; i++)
		for (size_t c = 0; c < in->unit->calls.cnt; c++) {
			struct scan_call *call = &in->unit->calls.items[c];

			call->is_tail |= call->caller == in->tails.items[i].function && call->offset == in->tails.items[i].start;
		}
}

void find_tail_calls(struct instrumenting *in)
{
	const struct parsed *p = in->parsed;
	_cleanup_(map_freep) struct map *calls = index_calls(p), *functions = index_bodies(p);
	struct graph tails, loops, near;
	struct index x = { p, calls, functions, makes_jumps(in), &tails, &loops, &near };

	graph_init(&tails, p->functions.cnt + 1);
	graph_init(&near, p->functions.cnt + 1);
	graph_init(&loops, p->functions.cnt);
	for (size_t f = 0; f < p->functions.cnt; f++)
		add_tails_of(&x, f);
	add_entries(&x);
	keep_circles(&tails);
	keep_circles(&near);
	keep_circles(&loops);
	add_tails(in, &tails, false);
	add_tails(in, &loops, true);
	mark_calls(in);
	if (x.jumps && keeps_frames(in)) {
		leave_out(in, &near, false);
		leave_out(in, &loops, true);
	}
	graph_release(&tails);
	graph_release(&near);
	graph_release(&loops);
}

bool ends_in_circle(const struct instrumenting *in, size_t function)
{
	for (size_t i = 0; i < in->tails.cnt; i++)
		if (in->tails.items[i].function == function)
			return true;
	return false;
}

/* --- does this compiler make jumps? ------------------------------------------------------------ */

static bool level_makes_jumps(const char *level, bool is_clang)
{
	if (strcmp(level, "0") == 0)
		return false;
	return is_clang || (*level && strcmp(level, "1") != 0 && strcmp(level, "g") != 0);
}

/* By the options; -O2 includes -foptimize-sibling-calls in gcc, -O1 in clang. */
bool options_make_jumps(const char *const *argv, bool is_clang)
{
	bool jumps = false;
	int told = -1;

	for (size_t i = 0; argv && argv[i]; i++) {
		const char *word = argv[i];

		if (starts_with(word, "-O"))
			jumps = level_makes_jumps(word + 2, is_clang);
		else if (strcmp(word, "-foptimize-sibling-calls") == 0)
			told = 1;
		else if (strcmp(word, "-fno-optimize-sibling-calls") == 0)
			told = 0;
	}
	return told < 0 ? jumps : told;
}

/* The text can request it as well: optimize("O2") as an attribute or a #pragma. */
static bool text_asks(const struct instrumenting *in)
{
	static const char word[] = "optimize";
	const char *p = in->text, *end = in->text + in->len;

	while ((p = memmem(p, (size_t)(end - p), word, strlen(word)))) {
		p += strlen(word);
		p += strspn(p, "_ ");
		if (starts_with(p, "(\""))
			return true;
	}
	return false;
}

static bool makes_jumps(const struct instrumenting *in)
{
	return options_make_jumps(in->unit->argv, probe_form_is_clang(in->text, in->len)) || text_asks(in);
}
