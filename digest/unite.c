/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unite.c - gives the same names in several digests the same numbers, and sorts everything.
 *
 * A place is identified by its parent and its kind; a function by name, file and line, as in merged traces.  Numbers are assigned
 * twice: in order of appearance, and at the end in the final order (united_order.c).
 */
#include "digest/unite.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "base/banned.h"
#include "base/map.h"
#include "digest/united_order.h"

struct uniter {
	struct summed *s;
	struct names *interval_names, *call_sites, *functions, *places, *sources;
	struct names *calls;
	bool has_twins;			/* some digest lists the same function or place twice */
};

struct renaming {			/* of the numbers of one digest */
	uint32_t *interval_names, *call_sites, *functions, *places, *sources;
};

struct uniter *uniter_new(void)
{
	struct uniter *u = xcalloc(1, sizeof(*u));

	u->s = summed_new();
	u->interval_names = names_new();
	u->call_sites = names_new();
	u->functions = names_new();
	u->places = names_new();
	u->sources = names_new();
	u->calls = names_new();
	return u;
}

void uniter_free(struct uniter *u)
{
	if (!u)
		return;
	summed_free(u->s);
	names_free(u->interval_names);
	names_free(u->call_sites);
	names_free(u->functions);
	names_free(u->places);
	names_free(u->sources);
	names_free(u->calls);
	free(u);
}

static const char *kept(struct uniter *u, const char *text)
{
	return text ? arena_strdup(u->s->arena, text) : NULL;
}

/* ---- names ---- */

static uint32_t *add_texts(struct uniter *u, struct names *known, strings *to, const strings *from)
{
	uint32_t *numbers = xcalloc(from->cnt + 1, sizeof(*numbers));

	for (size_t i = 0; i < from->cnt; i++) {
		numbers[i] = names_add(known, from->items[i]);
		if (numbers[i] == to->cnt)
			VEC_ADD(to, kept(u, from->items[i]));
	}
	return numbers;
}

static uint32_t add_function(struct uniter *u, const struct summed_function *f)
{
	_cleanup_(freep) char *identity = xasprintf("%s\n%s\n%" PRIu32, f->name, f->file ? f->file : "", f->line);
	uint32_t id = names_add(u->functions, identity);
	struct summed_function *ours;

	if (id == u->s->functions.cnt) {
		VEC_ADD(&u->s->functions, *f);
		ours = &u->s->functions.items[id];
		ours->name = kept(u, f->name);
		ours->file = f->file && *f->file ? kept(u, f->file) : NULL;
		return id;
	}
	ours = &u->s->functions.items[id];
	if (ours->key == 0 || (f->key && f->key < ours->key))
		ours->key = f->key;
	if (f->height > ours->height)
		ours->height = f->height;
	ours->open &= f->open;		/* one digest may have recorded what another one did not */
	ours->registered |= f->registered;
	ours->left_out |= f->left_out;
	return id;
}

static uint32_t function_of(const struct renaming *r, uint32_t function)
{
	return function > SUMMED_DEVICE(SUMMED_DEVICES) ? function : r->functions[function];
}

static uint32_t call_site_of(const struct renaming *r, uint32_t call_site)
{
	return call_site >= SUMMED_THROUGH_OTHERS ? call_site : r->call_sites[call_site];
}

static void add_calls(struct uniter *u, const struct renaming *r, const struct summed *s)
{
	for (size_t i = 0; i < s->calls.cnt; i++) {
		struct summed_call c = { r->functions[s->calls.items[i].caller], r->functions[s->calls.items[i].callee],
					 call_site_of(r, s->calls.items[i].call_site) };
		_cleanup_(freep) char *identity = xasprintf("%" PRIx32 " %" PRIx32 " %" PRIx32, c.caller, c.callee, c.call_site);

		if (names_add(u->calls, identity) == u->s->calls.cnt)
			VEC_ADD(&u->s->calls, c);
	}
}

static uint32_t add_place(struct uniter *u, struct summed_place p)
{
	_cleanup_(freep) char *identity =
		xasprintf("%" PRIx32 " %" PRIx32 " %" PRIx32 " %" PRIx32 " %x %x %x %x", p.parent, p.name, p.function, p.call_site,
			  p.kind, p.wait, p.device, p.is_wait);
	uint32_t id = names_add(u->places, identity);

	if (id == u->s->places.cnt)
		VEC_ADD(&u->s->places, p);
	return id;
}

static void add_places(struct uniter *u, struct renaming *r, const struct summed *s)
{
	r->places = xcalloc(s->places.cnt + 1, sizeof(*r->places));
	for (size_t i = 0; i < s->places.cnt; i++) {
		struct summed_place p = s->places.items[i];

		p.name = p.parent == NODE_NONE ? r->interval_names[p.name] : 0;
		p.parent = p.parent == NODE_NONE ? NODE_NONE : r->places[p.parent];
		p.function = function_of(r, p.function);
		p.call_site = call_site_of(r, p.call_site);
		r->places[i] = add_place(u, p);
	}
}

static uint32_t add_source(struct uniter *u, const struct summed_source *s)
{
	_cleanup_(freep) char *identity =
		xasprintf("%s\n%s\n%s\n%s\n%s\n%s\n%" PRId64 " %" PRId64 " %" PRIx64, s->machine, s->boot, s->host, s->container,
			  s->build, s->run, s->started_ns, s->clock_ns, s->recording);
	uint32_t id = names_add(u->sources, identity);

	if (id == u->s->sources.cnt)
		VEC_ADD(&u->s->sources, (struct summed_source){
			.machine = kept(u, s->machine), .boot = kept(u, s->boot), .host = kept(u, s->host),
			.container = kept(u, s->container), .build = kept(u, s->build), .run = kept(u, s->run),
			.started_ns = s->started_ns, .clock_ns = s->clock_ns, .recording = s->recording });
	return id;
}

/* ---- windows ---- */

#define COPY(to, from)								\
	do {									\
		VEC_ROOM(to, (from)->cnt);					\
		for (size_t i_ = 0; i_ < (from)->cnt; i_++)			\
			(to)->items[(to)->cnt++] = (from)->items[i_];		\
	} while (0)

static void copy_lists(struct summed_window *to, const struct summed_window *from)
{
	COPY(&to->sums, &from->sums);
	COPY(&to->pairs, &from->pairs);
	COPY(&to->owns, &from->owns);
	COPY(&to->buckets, &from->buckets);
	COPY(&to->cells, &from->cells);
	COPY(&to->shares, &from->shares);
}

static void add_window(struct uniter *u, const struct renaming *r, const struct summed_window *from)
{
	struct summed_window *w = VEC_EXTEND(&u->s->windows);
	struct summed_window head = *from;

	memset(&head.sums, 0, sizeof(head.sums));
	memset(&head.pairs, 0, sizeof(head.pairs));
	memset(&head.owns, 0, sizeof(head.owns));
	memset(&head.buckets, 0, sizeof(head.buckets));
	memset(&head.cells, 0, sizeof(head.cells));
	memset(&head.shares, 0, sizeof(head.shares));
	*w = head;
	copy_lists(w, from);
	w->source = r->sources[from->source];
	w->root = r->places[from->root];
	for (size_t i = 0; i < w->sums.cnt; i++)
		w->sums.items[i].place = r->places[w->sums.items[i].place];
	for (size_t i = 0; i < w->pairs.cnt; i++) {
		w->pairs.items[i].a = r->places[w->pairs.items[i].a];
		w->pairs.items[i].b = r->places[w->pairs.items[i].b];
	}
	for (size_t i = 0; i < w->owns.cnt; i++)
		w->owns.items[i].function = function_of(r, w->owns.items[i].function);
	for (size_t i = 0; i < w->cells.cnt; i++)
		w->cells.items[i].place = r->places[w->cells.items[i].place];
}

/* Whether two items of the same digest have got the same number. */
static bool are_twins_in(const uint32_t *numbers, size_t cnt, size_t number_cnt)
{
	_cleanup_(freep) bool *seen = xcalloc(number_cnt + 1, sizeof(*seen));

	for (size_t i = 0; i < cnt; i++) {
		if (seen[numbers[i]])
			return true;
		seen[numbers[i]] = true;
	}
	return false;
}

static void add_names(struct uniter *u, struct renaming *r, const struct summed *s)
{
	r->interval_names = add_texts(u, u->interval_names, &u->s->interval_names, &s->interval_names);
	r->call_sites = add_texts(u, u->call_sites, &u->s->call_sites, &s->call_sites);
	r->functions = xcalloc(s->functions.cnt + 1, sizeof(*r->functions));
	for (size_t i = 0; i < s->functions.cnt; i++)
		r->functions[i] = add_function(u, &s->functions.items[i]);
	add_calls(u, r, s);
	add_places(u, r, s);
	u->has_twins |= are_twins_in(r->functions, s->functions.cnt, u->s->functions.cnt) ||
			are_twins_in(r->places, s->places.cnt, u->s->places.cnt);
	r->sources = xcalloc(s->sources.cnt + 1, sizeof(*r->sources));
	for (size_t i = 0; i < s->sources.cnt; i++)
		r->sources[i] = add_source(u, &s->sources.items[i]);
}

static void release(struct renaming *r)
{
	free(r->interval_names);
	free(r->call_sites);
	free(r->functions);
	free(r->places);
	free(r->sources);
}

void uniter_add(struct uniter *u, const struct summed *s)
{
	struct renaming r = { 0 };

	add_names(u, &r, s);
	for (size_t i = 0; i < s->windows.cnt; i++)
		add_window(u, &r, &s->windows.items[i]);
	release(&r);
}

bool summed_has_twins(const struct summed *s)
{
	_cleanup_(uniter_freep) struct uniter *u = uniter_new();
	struct renaming r = { 0 };

	add_names(u, &r, s);
	release(&r);
	return u->has_twins;
}

/* Windows are sorted, so overlapping ones are adjacent. */
static int check_windows(const struct summed *s, struct diag *reterr)
{
	for (size_t i = 1; i < s->windows.cnt; i++) {
		const struct summed_window *a = &s->windows.items[i - 1], *b = &s->windows.items[i];
		const struct summed_source *of = &s->sources.items[b->source];

		if (a->root != b->root || a->source != b->source || b->from_ns >= a->until_ns)
			continue;
		diag_set(reterr, EXIT_USAGE, -EEXIST, "the recording %s%s%s would be included twice", of->run,
			 *of->host ? " of host " : "", of->host);
		return diag_remedy(reterr, -EEXIST, "give each digest once: another window of the same recording, or one that was "
				   "merged into another file already, counts double");
	}
	return 0;
}

int uniter_end(struct uniter *u, struct summed **ret, struct diag *reterr)
{
	int r;

	if (u->has_twins)
		return diag_set(reterr, EXIT_DATA, -EBADMSG, "the sums cannot be united: two functions of one recording have the same "
				"name, file and line, or the same place is in it twice");
	summed_put_in_order(u->s);
	r = check_windows(u->s, reterr);
	if (r == 0)
		*ret = TAKE_PTR(u->s);
	return r;
}
