/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * call_sites.c - calls of one function from several places of another get a site each.
 *
 *	if (full) log_append(a); else log_append(b);	in handle()
 *
 * If the plan asks for it ("sites handle log_append"), each call notes its place:
 *
 *	if (full) (vprof_calls(&vprof_span_, &vprof_function_7, 0x1234ULL), log_append(a)); else (..., log_append(b));
 *
 * All calls of the callee in that function get one, or none: a call without a note could take another's place.  In C++ only calls whose
 * value is a number, a pointer or void: a reference prolongs the life of a temporary after a comma in some
 * compilers only.  In C a number stands in a statement expression, as in insert_tails(), for the same warning.
 */
#include <stdlib.h>
#include <string.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "instrumenter/insert/instrument.h"

static const struct plan_sites *sites_of(const struct instrumenting *in, const struct parsed_call *c)
{
	const struct scan_function *caller = &in->unit->functions.items[c->caller];

	for (size_t i = 0; c->callee && i < in->o->plan->sites.cnt; i++) {
		const struct plan_sites *s = &in->o->plan->sites.items[i];

		if (s->caller.key == caller->key && strcmp(s->callee.name, c->callee) == 0)
			return s;
	}
	return NULL;
}

/* A function of that name with another body, here, is another one. */
static bool is_callee(const struct instrumenting *in, const struct parsed_call *c, const struct plan_entry *callee)
{
	for (size_t i = 0; c->callee_body && i < in->unit->functions.cnt; i++)
		if (in->unit->functions.items[i].body == c->callee_body)
			return in->unit->functions.items[i].key == callee->key;
	return !c->callee_static;
}

/* The caller's span ends before the call (insert_tails()): it is no call of the caller's, and takes none of its places. */
static bool is_tail(const struct instrumenting *in, const struct parsed_call *c)
{
	const struct function_edit *e = &in->bodies.items[c->caller];

	for (size_t i = 0; !e->laters.len && !e->at_return.len && i < in->tails.cnt; i++) {
		const struct scan_tail *t = &in->tails.items[i];

		if (t->function == c->caller && t->start == c->offset && t->end == c->end)
			return true;
	}
	return false;
}

/* Its arguments call what may lead to the callee: that would take this place for its own. */
static bool is_taken_before(const struct instrumenting *in, const struct parsed_call *c, const struct plan_sites *s)
{
	for (size_t i = 0; s->is_reached && i < in->parsed->calls.cnt; i++) {
		const struct parsed_call *inner = &in->parsed->calls.items[i];

		if (inner != c && inner->offset >= c->offset && inner->offset < c->end && !inner->callee_foreign && sites_of(in, inner) != s)
			return true;
	}
	return false;
}

/* NULL, or why the call can say nothing. */
static const char *why_not(const struct instrumenting *in, const struct parsed_call *c, const struct plan_sites *s)
{
	const struct parsed_function *pf = &in->parsed->functions.items[c->caller];
	const struct scan_function *f = &in->unit->functions.items[c->caller];

	if (!f->probed || f->may_be_constant)
		return "its function has no probe that says whether it is recorded";
	if (c->offset <= pf->body || c->end >= pf->body_end || c->end <= c->offset)
		return "it is outside of the body";
	if (strstr(c->callee, "operator"))
		return "it is not written as a call";
	if (in->language == LANG_CXX && !c->is_scalar && !c->is_void)
		return "its value is an object";
	return is_taken_before(in, c, s) ? "its arguments may lead to the callee" : NULL;
}

char *call_place_name(const struct instrumenting *in, const struct call_place *p)
{
	struct position at = lines_at(in->lines, in->parsed->calls.items[p->call].offset);
	const char *slash = strrchr(at.file, '/');

	return xasprintf("%s\001%016llx\001%s:%u", p->of->callee.name, (unsigned long long)p->of->callee.key, slash ? slash + 1 : at.file,
			 at.line);
}

static void insert_one(struct instrumenting *in, const struct call_place *p)
{
	const struct parsed_call *c = &in->parsed->calls.items[p->call];
	bool in_statement = in->language != LANG_CXX && c->is_scalar;

	edits_insert(&in->edits, c->offset, "%svprof_calls(&vprof_span_, &vprof_function_%zu, 0x%llxULL)%s ",
		     in_statement ? "(__extension__ ({ " : "(", in->site_cnt++, (unsigned long long)p->of->callee.key, in_statement ? ";" : ",");
	edits_insert(&in->edits, c->end, "%s", in_statement ? "; }))" : ")");
}

/* Those of one pair, or none of them. */
static void find_pair(struct instrumenting *in, const struct plan_sites *s)
{
	const struct parsed_call *calls = in->parsed->calls.items;
	size_t before = in->places.cnt;

	for (size_t i = 0; i < in->parsed->calls.cnt; i++) {
		if (sites_of(in, &calls[i]) != s || !is_callee(in, &calls[i], &s->callee) || is_tail(in, &calls[i]))
			continue;
		if (why_not(in, &calls[i], s)) {
			in->places.cnt = before;
			return;
		}
		VEC_ADD(&in->places, (struct call_place){ s, i });
	}
}

static int by_call(const void *a, const void *b)
{
	const struct call_place *x = a, *y = b;

	return (x->call > y->call) - (x->call < y->call);
}

void insert_call_sites(struct instrumenting *in)
{
	for (size_t i = 0; in->o->plan && i < in->o->plan->sites.cnt; i++)
		find_pair(in, &in->o->plan->sites.items[i]);
	if (in->places.cnt > 1)
		qsort(in->places.items, in->places.cnt, sizeof(*in->places.items), by_call);
	for (size_t i = 0; i < in->places.cnt; i++)	/* in "a.f().g()", which begin alike, g comes first */
		insert_one(in, &in->places.items[i]);
}
