/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * intervals.c - the events of [interval] directives.
 *
 *	start, resume  at an entry	an event before the probe, and a LEAVE when the function is left:
 *					the thread works on the interval until then (not where the same
 *					function ends it, nor at a start if nobody ever resumes: then
 *					the thread goes on with it until it ends)
 *	end  at a return		an event after the probe's span has ended
 *	any  at an entry or return	likewise, at the other end
 *	any  at FILE:LINE		an event before the first statement that starts at that line, or
 *					if none does, at the next; the enclosing function goes on
 *
 * A key is computed where the event is; but arguments are taken at the function's entry, also for
 * an event at its return, because by then they may be gone (a freed request).  Only a key that
 * mentions ret is computed at each return statement.  So is a condition, and where it does not hold
 * the key is not computed:
 *
 *	start = push if arg1, key = arg1->id	if (vprof_event && (sd)) vprof_event(VPROF_KIND_BEGIN, ...,
 *						(sd) ? (sd->id) : 0, 0);
 */
#include <string.h>
#include "base/banned.h"
#include "instrumenter/directives.h"
#include "instrumenter/expression.h"
#include "instrumenter/instrument.h"

#define THREAD_KEY "~0ULL"		/* the runtime puts the thread in its place */

static const char *const event_kinds[] = {
	[DIRECTIVE_START] = "VPROF_KIND_BEGIN", [DIRECTIVE_RESUME] = "VPROF_KIND_RESUME",
	[DIRECTIVE_END] = "VPROF_KIND_END",
};

static const char *key_of(const struct directive *d)
{
	if (d->location->key)
		return d->location->key;
	return d->interval->key ? d->interval->key : THREAD_KEY;
}

/* "vprof_event", or that and the condition. */
static const char *guard_of(struct instrumenting *in, size_t f, const struct directive *d,
			    struct str *ret)
{
	str_add(ret, "vprof_event");
	if (!d->location->condition)
		return NULL;
	str_add(ret, " && ");
	return expression_expand(d->location->condition, parameter_name_of,
				 &in->parsed->functions.items[f], NULL, ret);
}

/* Does the interval end where this function returns? */
static bool ends_in(const struct directives *all, const struct directive *d,
		    const struct scan_function *f)
{
	for (size_t i = 0; i < all->list.cnt; i++) {
		const struct directive *e = &all->list.items[i];

		if (e->kind == DIRECTIVE_END && e->interval == d->interval &&
		    e->place == PLACE_RETURN && directive_concerns(e, f))
			return true;
	}
	return false;
}

/* Does the thread stop working on the interval when the function is left? */
static bool leaves_with(const struct directives *all, const struct directive *d,
			const struct scan_function *f)
{
	if (d->kind == DIRECTIVE_END || ends_in(all, d, f))
		return false;
	return d->kind == DIRECTIVE_RESUME || d->interval->resumes.cnt > 0;
}

/* An event when the function is left. */
static const char *add_later(struct instrumenting *in, size_t f, const struct directive *d,
			     const char *kind, const char *label)
{
	return later_add(in, f, &in->bodies.items[f].laters, &(struct later){
		.kind = kind, .label = label, .a = key_of(d), .condition = d->location->condition });
}

static const char *insert_at_entry(struct instrumenting *in, size_t f, const struct directive *d,
				   const char *label, bool leaves)
{
	struct function_edit *e = &in->bodies.items[f];
	_cleanup_(str_release) struct str key = STR_INIT, guard = STR_INIT;
	const char *problem = expression_expand(key_of(d), parameter_name_of,
						&in->parsed->functions.items[f], NULL, &key);

	if (!problem)
		problem = guard_of(in, f, d, &guard);
	if (problem)
		return problem;
	str_addf(&e->before, " if (%s) vprof_event(%s, %s, %s, 0);", guard.data, event_kinds[d->kind],
		 label, key.data);
	in->event_cnt++;
	return leaves ? add_later(in, f, d, "VPROF_KIND_LEAVE", label) : NULL;
}

/* --- FILE:LINE ------------------------------------------------------------------------ */

struct line_search {
	const struct instrumenting *in;
	const struct location *wanted;
	struct parsed_statement found;
	uint32_t line;			/* of found; UINT32_MAX: none yet */
};

static void see_statement(const struct parsed_statement *s, void *arg)
{
	struct line_search *search = arg;
	struct position at = lines_at(search->in->lines, s->range.start);

	if (at.line < search->wanted->line || at.line > search->line ||
	    !location_file_matches(search->wanted->file, at.file))
		return;
	if (at.line == search->line && s->range.start >= search->found.range.start)
		return;
	search->found = *s;
	search->line = at.line;
}

/* Past the ';' behind a statement, if one follows. */
static size_t statement_end(const struct instrumenting *in, size_t end)
{
	size_t p = end;

	while (p < in->len && strchr(" \t\n#", in->text[p])) {
		if (in->text[p] == '#')			/* a line marker */
			p += strcspn(in->text + p, "\n");
		else
			p++;
	}
	return p < in->len && in->text[p] == ';' ? p + 1 : end;
}

static const char *insert_at_line(struct instrumenting *in, size_t f, const struct directive *d,
				  const char *label)
{
	struct line_search s = { .in = in, .wanted = d->location, .line = UINT32_MAX };
	_cleanup_(str_release) struct str key = STR_INIT, guard = STR_INIT;
	const char *problem = expression_expand(key_of(d), parameter_name_of,
						&in->parsed->functions.items[f], NULL, &key);

	if (!problem)
		problem = guard_of(in, f, d, &guard);
	parsed_statements(in->parsed, f, see_statement, &s);
	if (!problem && s.line == UINT32_MAX)
		problem = "no statement starts at or after this line in its function";
	if (problem)
		return problem;
	edits_insert(&in->edits, s.found.range.start, "%sif (%s) vprof_event(%s, %s, %s, 0); ",
		     s.found.in_block ? "" : "{ ", guard.data, event_kinds[d->kind], label, key.data);
	if (!s.found.in_block)
		edits_insert(&in->edits, statement_end(in, s.found.range.end), " }");
	in->event_cnt++;
	return NULL;
}

/* --- all ------------------------------------------------------------------------------- */

static const char *insert_directive(struct instrumenting *in, size_t f, const struct directive *d,
				    const struct directives *all)
{
	const struct scan_function *sf = &in->unit->functions.items[f];
	_cleanup_(freep) char *label = NULL;

	if (why_no_event(in, f))
		return why_no_event(in, f);
	label = xasprintf("&vprof_labels[%zu]", label_number(in, d->interval->name));
	switch (d->place) {
	case PLACE_LINE:
		return insert_at_line(in, f, d, label);
	case PLACE_RETURN:
		return add_later(in, f, d, event_kinds[d->kind], label);
	default:
		return insert_at_entry(in, f, d, label, leaves_with(all, d, sf));
	}
}

/* Of functions that all span the line, the one that begins last: the innermost. */
static bool has_inner(const struct instrumenting *in, size_t f, const struct directive *d)
{
	const struct parsed_function *outer = &in->parsed->functions.items[f];

	for (size_t i = 0; i < in->parsed->functions.cnt; i++) {
		const struct parsed_function *inner = &in->parsed->functions.items[i];

		if (i != f && inner->body > outer->body && inner->body_end < outer->body_end &&
		    directive_concerns(d, &in->unit->functions.items[i]))
			return true;
	}
	return false;
}

void insert_intervals(struct instrumenting *in)
{
	_cleanup_(directives_release) struct directives all = { .list = { NULL, 0, 0 } };

	directives_collect(in->o, &all);
	for (size_t i = 0; i < all.list.cnt; i++) {
		const struct directive *d = &all.list.items[i];
		_cleanup_(freep) char *location = location_text(d->location);

		for (size_t f = 0; f < in->unit->functions.cnt; f++) {
			if (!directive_concerns(d, &in->unit->functions.items[f]) ||
			    (d->place == PLACE_LINE && has_inner(in, f, d)))
				continue;
			place_add(in, d->interval->name, directive_role(d->kind), location,
				  insert_directive(in, f, d, &all));
		}
	}
}
