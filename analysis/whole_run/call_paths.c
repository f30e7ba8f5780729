/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * call_paths.c - gives every call path of a trace one number; see whole_run.h.
 *
 * An invocation comes after the one around it, whose path is therefore known: a path is looked up by (path of the
 * parent, function).  A stack is text, which is turned into the same:
 *
 *	main;serve;write_log@log.c:31;fsync	path main serve write_log fsync, spot write_log log.c:31
 */
#include "analysis/whole_run/whole_run.h"

#include <stdlib.h>
#include <string.h>
#include "base/map.h"
#include "base/str.h"
#include "base/banned.h"
#include "base/search.h"

struct adding {
	struct call_paths *p;
	struct map *known;		/* (parent, function) -> path plus one */
	struct map *spots;		/* (name, place) -> spot plus one */
	struct names *names;		/* of functions in stacks, and of places */
	size_t function_cnt;		/* number of the trace's functions; those of stacks follow */
};

static uint32_t add_path(struct adding *a, uint32_t parent, uint32_t function, const char *name)
{
	uint64_t *number = map_slot(a->known, (uint64_t)parent << 32 | function);

	if (*number == 0) {			/* kept plus one: a new slot is 0 */
		VEC_ADD(&a->p->items, (struct call_path){ parent, arena_strdup(a->p->arena, name) });
		*number = a->p->items.cnt;
	}
	return (uint32_t)(*number - 1);
}

static void add_invocations(struct adding *a, const struct timeline *tl)
{
	const struct trace *t = tl->trace;
	struct call_paths *p = a->p;

	p->of_invocation = xmalloc((t->invocations.cnt + 1) * sizeof(*p->of_invocation));
	for (size_t i = 0; i < t->functions.cnt; i++) {
		const struct function *f = &t->functions.items[i];

		VEC_ADD(&p->spots, (struct spot){ f->name, f->file, f->line });
	}
	for (size_t i = 0; i < t->invocations.cnt; i++) {
		uint32_t parent = tl->parents[i] == INVOCATION_NONE ? PATH_NONE :
				  p->of_invocation[tl->parents[i]];
		uint32_t function = t->invocations.items[i].function;

		p->of_invocation[i] = add_path(a, parent, function, t->functions.items[function].name);
	}
}

/* Decodes text up to the end of a frame, or its '@'; *text points there afterwards. */
static const char *next_part(struct adding *a, const char **text, bool place, uint32_t *ret_name)
{
	_cleanup_(str_release) struct str s = STR_INIT;
	const char *p = *text;

	while (*p && *p != ';' && (place || *p != '@')) {
		char hex[3] = { p[0] == '%' ? p[1] : '\0', hex[0] ? p[2] : '\0', '\0' };
		char *end;
		char c = (char)strtoul(hex, &end, 16);

		if (end == hex + 2 && c) {
			str_addc(&s, c);
			p += 3;
		} else {
			str_addc(&s, *p++);
		}
	}
	*text = p;
	*ret_name = names_add(a->names, str_cstr(&s));
	return names_get(a->names, *ret_name);
}

/* "log.c:31"; a file may have colons in its name. */
static struct spot spot_at(struct adding *a, const char *function, const char *place)
{
	const char *colon = place ? strrchr(place, ':') : NULL;
	struct spot s = { .function = function };

	if (place)
		s.file = arena_strndup(a->p->arena, place, colon ? (size_t)(colon - place) : strlen(place));
	if (colon)
		s.line = (uint32_t)strtoul(colon + 1, NULL, 10);
	return s;
}

static uint32_t add_spot(struct adding *a, uint32_t name, uint32_t place)
{
	uint64_t *number = map_slot(a->spots, (uint64_t)name << 32 | place);

	if (*number == 0) {
		const char *function = arena_strdup(a->p->arena, names_get(a->names, name));

		VEC_ADD(&a->p->spots, spot_at(a, function, place == NAMES_NONE ? NULL :
					      names_get(a->names, place)));
		*number = a->p->spots.cnt;
	}
	return (uint32_t)(*number - 1);
}

static void add_stack(struct adding *a, const char *text, uint32_t *ret_path, uint32_t *ret_spot)
{
	uint32_t path = PATH_NONE, name = NAMES_NONE, spot_name = NAMES_NONE, spot_place = NAMES_NONE;

	for (;;) {
		const char *function = next_part(a, &text, false, &name);

		path = add_path(a, path, (uint32_t)a->function_cnt + name, function);
		if (*text == '@') {
			text++;
			next_part(a, &text, true, &spot_place);
			spot_name = name;
		}
		if (*text != ';')
			break;
		text++;
	}
	*ret_path = path;
	*ret_spot = add_spot(a, spot_name == NAMES_NONE ? name : spot_name, spot_place);
}

struct call_paths *call_paths_new(const struct timeline *tl)
{
	const struct trace *t = tl->trace;
	struct call_paths *p = xcalloc(1, sizeof(*p));
	struct adding a = { p, map_new(), map_new(), names_new(), t->functions.cnt };

	p->arena = arena_new();
	add_invocations(&a, tl);
	p->of_stack = xmalloc((t->call_stacks.cnt + 1) * sizeof(*p->of_stack));
	p->spot_of_stack = xmalloc((t->call_stacks.cnt + 1) * sizeof(*p->spot_of_stack));
	for (size_t i = 0; i < t->call_stacks.cnt; i++)
		add_stack(&a, t->call_stacks.items[i], &p->of_stack[i], &p->spot_of_stack[i]);
	map_free(a.known);
	map_free(a.spots);
	names_free(a.names);
	return p;
}

void call_paths_free(struct call_paths *p)
{
	if (!p)
		return;
	VEC_RELEASE(&p->items);
	VEC_RELEASE(&p->spots);
	free(p->of_invocation);
	free(p->of_stack);
	free(p->spot_of_stack);
	arena_free(p->arena);
	free(p);
}

void path_walk_init(struct path_walk *w, const struct timeline *tl, const struct call_paths *p,
		    uint64_t tid, int64_t start_ns, int64_t end_ns)
{
	const struct stack_span *s = tl->trace->stack_spans.items;

	*w = (struct path_walk){ .to_ns = start_ns, .end_ns = end_ns, .tl = tl, .paths = p, .tid = tid };
	w->next = partition_point(i, tl->trace->stack_spans.cnt,
				  s[i].tid < tid || (s[i].tid == tid && s[i].end_ns <= start_ns));
	w->inner = (struct stack_walk){ .tl = tl, .to_ns = start_ns, .end_ns = start_ns };
}

/* Follows the invocations up to the next stack. */
static bool next_of_invocations(struct path_walk *w)
{
	const struct stack_walk *s = &w->inner;

	if (!stack_walk_next(&w->inner))
		return false;
	w->from_ns = s->from_ns;
	w->to_ns = s->to_ns;
	w->stack = false;
	w->path = PATH_NONE;
	w->spot = (uint32_t)w->paths->spots.cnt;
	if (s->innermost != INVOCATION_NONE) {
		w->path = w->paths->of_invocation[s->innermost];
		w->spot = w->tl->trace->invocations.items[s->innermost].function;
	}
	return true;
}

/* The walk's next stack, or NULL. */
static const struct stack_span *span_at(const struct path_walk *w)
{
	const struct trace *t = w->tl->trace;

	return w->next < t->stack_spans.cnt && t->stack_spans.items[w->next].tid == w->tid
		       ? &t->stack_spans.items[w->next] : NULL;
}

bool path_walk_next(struct path_walk *w)
{
	const struct stack_span *s;

	if (next_of_invocations(w))
		return true;
	if (w->to_ns >= w->end_ns)
		return false;
	for (s = span_at(w); s && s->end_ns <= w->to_ns; s = span_at(w))
		w->next++;
	if (s && s->start_ns >= w->end_ns)
		s = NULL;
	if (!s || s->start_ns > w->to_ns) {
		stack_walk_init(&w->inner, w->tl, w->tid, w->to_ns, s ? s->start_ns : w->end_ns);
		return next_of_invocations(w);
	}
	w->from_ns = w->to_ns;
	w->to_ns = s->end_ns < w->end_ns ? s->end_ns : w->end_ns;
	w->path = w->paths->of_stack[s->stack];
	w->spot = w->paths->spot_of_stack[s->stack];
	w->stack = true;
	return true;
}

const char **call_path_frames(const struct call_paths *p, uint32_t path, struct arena *a,
			      size_t *ret_cnt)
{
	const char **frames;
	size_t cnt = 0;

	for (uint32_t i = path; i != PATH_NONE; i = p->items.items[i].parent)
		cnt++;
	frames = ARENA_NEW(a, const char *, cnt ? cnt : 1);
	*ret_cnt = cnt;
	for (uint32_t i = path; i != PATH_NONE; i = p->items.items[i].parent)
		frames[--cnt] = arena_strdup(a, p->items.items[i].function);
	return frames;
}

int compare_frames(const char *const *a, size_t a_cnt, const char *const *b, size_t b_cnt)
{
	for (size_t i = 0; i < a_cnt && i < b_cnt; i++) {
		int r = strcmp(a[i], b[i]);

		if (r)
			return r;
	}
	return (a_cnt > b_cnt) - (a_cnt < b_cnt);
}
