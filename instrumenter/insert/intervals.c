/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * intervals.c - the events of [interval] directives.
 *
 *	start, resume  at an entry	an event before the probe, and a LEAVE when the function is left:
 *					the thread works on the interval until then (not where the same
 *					function ends it, nor at a start if there is no resume: then
 *					the thread goes on with it until it ends)
 *	end  at a return		an event after the probe's span has ended; and one at the entry, since the
 *					function works for the interval until it ends it
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
#include "instrumenter/insert/instrument.h"
#include "instrumenter/insert/unit_directives.h"
#include "instrumenter/plan/expression.h"

#define THREAD_KEY "~0ULL"		/* the runtime replaces it with the thread */

/* A variable whose address identifies a call of the function. */
#define HERE "vprof_here_"

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

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Another place of this kind for the interval in this function, if any. */
static const struct directive *find_in(const struct directives *all, const struct directive *d,
				       const struct scan_function *f, enum directive_kind kind, enum place place)
{
	for (size_t i = 0; i < all->list.cnt; i++) {
		const struct directive *e = &all->list.items[i];

		if (e->kind == kind && e->interval == d->interval && e->place == place && directive_concerns(e, f))
			return e;
	}
	return NULL;
}

/* Does the thread stop working on the interval when the function is left? */
static bool leaves_with(const struct directives *all, const struct directive *d,
			const struct scan_function *f)
{
	if (d->kind == DIRECTIVE_END || find_in(all, d, f, DIRECTIVE_END, PLACE_RETURN))
		return false;
	return d->kind == DIRECTIVE_RESUME || d->interval->resumes.cnt > 0;
}

/* Does every call of the function that begins the interval end it as well? */
static bool is_in_frame(const struct directives *all, const struct directive *d, const struct scan_function *f)
{
	const struct directive *start = find_in(all, d, f, DIRECTIVE_START, PLACE_ENTRY);
	const struct directive *end = find_in(all, d, f, DIRECTIVE_END, PLACE_RETURN);

	return start && end && same_text(key_of(start), key_of(end)) &&
	       same_text(start->location->condition, end->location->condition);
}

/* Does some function end the interval as it returns? */
static bool ends_at_return(const struct directives *all, const struct directive *d)
{
	for (size_t i = 0; i < all->list.cnt; i++)
		if (all->list.items[i].kind == DIRECTIVE_END && all->list.items[i].interval == d->interval &&
		    all->list.items[i].place == PLACE_RETURN)
			return true;
	return false;
}

/* The interval's other event when the function that began or resumed it is left; NULL: none. */
static const char *leaving_kind(const struct directives *all, const struct directive *d, const struct scan_function *f)
{
	if (leaves_with(all, d, f))
		return "VPROF_KIND_LEAVE";
	return d->kind == DIRECTIVE_START && !find_in(all, d, f, DIRECTIVE_END, PLACE_RETURN) && ends_at_return(all, d) ? "VPROF_KIND_HANDED" : NULL;
}

/* Adds an event for when the function is left. */
static const char *add_later(struct instrumenting *in, size_t f, const struct directive *d,
			     const char *kind, const char *label, const char *b)
{
	return later_add(in, f, &in->bodies.items[f].laters, &(struct later){
		.kind = kind, .label = label, .a = key_of(d), .b = b, .condition = d->location->condition });
}

/*
 * The interval's ids in tracing systems, noted before it begins:
 *
 *	trace = arg0->header	if (vprof_event) vprof_event(VPROF_KIND_TRACE, ..., (unsigned long long)(r->header),
 *					__builtin_classify_type(r->header));
 */
static const char *add_ids(struct instrumenting *in, size_t f, const struct directive *d, const char *label, const char *guard,
			   struct str *ret)
{
	const struct { const char *kind, *expression; } ids[] = {
		{ "VPROF_KIND_TRACE", d->interval->trace }, { "VPROF_KIND_SPAN", d->interval->span },
		{ "VPROF_KIND_PARENT", d->interval->parent },
	};
	const char *problem = NULL;

	for (size_t i = 0; d->kind == DIRECTIVE_START && !problem && i < ARRAY_SIZE(ids); i++) {
		_cleanup_(str_release) struct str value = STR_INIT;

		if (!ids[i].expression)
			continue;
		problem = expression_expand(ids[i].expression, parameter_name_of, &in->parsed->functions.items[f], NULL, &value);
		if (!problem)
			str_addf(ret, " if (%s) vprof_event(%s, %s, %s, __builtin_classify_type%s);", guard, ids[i].kind, label, value.data,
				 value.data + strlen("(unsigned long long)"));
	}
	return problem;
}

static const char *insert_before(struct instrumenting *in, size_t f, const struct directive *d, const char *kind,
				 const char *label, const char *b)
{
	struct function_edit *e = &in->bodies.items[f];
	_cleanup_(str_release) struct str key = STR_INIT, guard = STR_INIT;
	const char *problem = expression_expand(key_of(d), parameter_name_of,
						&in->parsed->functions.items[f], NULL, &key);

	if (!problem)
		problem = guard_of(in, f, d, &guard);
	if (!problem)
		problem = add_ids(in, f, d, label, guard.data, &e->before);
	if (problem)
		return problem;
	str_addf(&e->before, " if (%s) vprof_event(%s, %s, %s, %s);", guard.data, kind, label, key.data, b);
	in->event_cnt++;
	return NULL;
}

/* Declared once, however many intervals begin in the function. */
static void declare_here(struct str *before, size_t f)
{
	_cleanup_(freep) char *declaration = xasprintf(" char " HERE "%zu __attribute__((unused));", f);

	if (!strstr(str_cstr(before), declaration))
		str_add(before, declaration);
}

static const char *insert_at_entry(struct instrumenting *in, size_t f, const struct directive *d,
				   const char *label, const struct directives *all)
{
	const struct scan_function *sf = &in->unit->functions.items[f];
	_cleanup_(freep) char *here = NULL;
	const char *leaving = leaving_kind(all, d, sf), *problem;

	if (d->kind == DIRECTIVE_START && is_in_frame(all, d, sf)) {
		here = xasprintf("(unsigned long long)&" HERE "%zu", f);
		declare_here(&in->bodies.items[f].before, f);
	}
	problem = insert_before(in, f, d, event_kinds[d->kind], label, here ? here : "0");
	return problem || !leaving ? problem : add_later(in, f, d, leaving, label, NULL);
}

/* The function works for the interval from its entry on, on whatever thread; unless another event says so already, or
 * the key is known only when it returns. */
static const char *insert_at_return(struct instrumenting *in, size_t f, const struct directive *d, const char *label,
				    const struct directives *all)
{
	const struct scan_function *sf = &in->unit->functions.items[f];
	bool ends = d->kind == DIRECTIVE_END && !find_in(all, d, sf, DIRECTIVE_START, PLACE_ENTRY) &&
		    !find_in(all, d, sf, DIRECTIVE_RESUME, PLACE_ENTRY) && !expression_uses_result(key_of(d)) &&
		    !(d->location->condition && expression_uses_result(d->location->condition));
	_cleanup_(freep) char *here = d->kind == DIRECTIVE_END && is_in_frame(all, d, sf) ?
		xasprintf("(unsigned long long)&" HERE "%zu", f) : NULL;
	const char *problem = ends ? insert_before(in, f, d, "VPROF_KIND_FINISH", label, "0") : NULL;

	if (!problem && d->kind == DIRECTIVE_START)
		problem = add_ids(in, f, d, label, "vprof_event", &in->bodies.items[f].before);
	return problem ? problem : add_later(in, f, d, event_kinds[d->kind], label, here);
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

/* Past the ';' after a statement, if one follows. */
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
	_cleanup_(str_release) struct str key = STR_INIT, guard = STR_INIT, ids = STR_INIT;
	const char *problem = expression_expand(key_of(d), parameter_name_of,
						&in->parsed->functions.items[f], NULL, &key);

	if (!problem)
		problem = guard_of(in, f, d, &guard);
	if (!problem)
		problem = add_ids(in, f, d, label, guard.data, &ids);
	parsed_statements(in->parsed, f, see_statement, &s);
	if (!problem && s.line == UINT32_MAX)
		problem = "no statement starts at or after this line in its function";
	if (problem)
		return problem;
	edits_insert(&in->edits, s.found.range.start, "%s%s%sif (%s) vprof_event(%s, %s, %s, 0); ",
		     s.found.in_block ? "" : "{ ", str_cstr(&ids), ids.len ? " " : "", guard.data, event_kinds[d->kind], label, key.data);
	if (!s.found.in_block)
		edits_insert(&in->edits, statement_end(in, s.found.range.end), " }");
	in->event_cnt++;
	return NULL;
}

/* --- all ------------------------------------------------------------------------------- */

static const char *insert_directive(struct instrumenting *in, size_t f, const struct directive *d,
				    const struct directives *all)
{
	_cleanup_(freep) char *label = NULL;

	if (why_no_event(in, f))
		return why_no_event(in, f);
	label = xasprintf("&vprof_labels[%zu]", label_number(in, d->interval->name));
	switch (d->place) {
	case PLACE_LINE:
		return insert_at_line(in, f, d, label);
	case PLACE_RETURN:
		return insert_at_return(in, f, d, label, all);
	default:
		return insert_at_entry(in, f, d, label, all);
	}
}

/* The innermost of the functions that contain the line: the one that begins last. */
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
