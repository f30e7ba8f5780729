/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * call_paths.c - gives every call path of a trace one number; see whole_run.h.
 *
 * An invocation stands after the one around it, whose path is therefore known: a path is found by
 * (path of the parent, function).
 */
#include "analysis/whole_run.h"

#include <string.h>
#include "base/map.h"
#include "base/banned.h"

struct call_paths *call_paths_new(const struct timeline *tl)
{
	const struct trace *t = tl->trace;
	struct call_paths *p = xcalloc(1, sizeof(*p));
	_cleanup_(map_freep) struct map *known = map_new();

	p->of_invocation = xmalloc((t->invocations.cnt + 1) * sizeof(*p->of_invocation));
	for (size_t i = 0; i < t->invocations.cnt; i++) {
		uint32_t parent = call_path_of(p, tl->parents[i]);
		uint32_t function = t->invocations.items[i].function;
		uint64_t *number = map_slot(known, (uint64_t)parent << 32 | function);

		if (*number == 0) {		/* kept plus one: a new slot is 0 */
			VEC_ADD(&p->items, (struct call_path){ parent, function });
			*number = p->items.cnt;
		}
		p->of_invocation[i] = (uint32_t)(*number - 1);
	}
	return p;
}

void call_paths_free(struct call_paths *p)
{
	if (!p)
		return;
	VEC_RELEASE(&p->items);
	free(p->of_invocation);
	free(p);
}

const char **call_path_frames(const struct call_paths *p, const struct trace *t, uint32_t path,
			      struct arena *a, size_t *ret_cnt)
{
	const char **frames;
	size_t cnt = 0;

	for (uint32_t i = path; i != PATH_NONE; i = p->items.items[i].parent)
		cnt++;
	frames = ARENA_NEW(a, const char *, cnt ? cnt : 1);
	*ret_cnt = cnt;
	for (uint32_t i = path; i != PATH_NONE; i = p->items.items[i].parent)
		frames[--cnt] = t->functions.items[p->items.items[i].function].name;
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
