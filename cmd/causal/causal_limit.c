/* SPDX-License-Identifier: GPL-3.0-or-later */
/* causal_limit.c - see causal_limit.h. */
#include <string.h>

#include "analysis/analyze.h"
#include "base/banned.h"
#include "base/map.h"
#include "base/str.h"
#include "cmd/causal/causal_limit.h"
#include "project/runs/project.h"
#include "trace/causal/in_virtual_time.h"

/* The target that would make a leaf faster.  The caller frees it; NULL: it has no name. */
static char *name_of(const struct findings *f, const struct node *n)
{
	const char *function = n->kind == NODE_WAIT && n->parent != NODE_NONE ? f->nodes.items[n->parent].function : n->function;
	bool is_outside = n->wait == STATE_IO || n->wait == STATE_SLEEP;

	if (n->is_wait && n->wait == STATE_QUEUE)
		return xstrdup("queue");
	if (n->is_wait && state_is_runqueue(n->wait))
		return xstrdup("runqueue");
	if (!function || function[0] == '(')
		return n->is_wait && is_outside ? xstrdup("io") : NULL;
	return n->is_wait ? xasprintf("%s%s", is_outside ? "io@" : "wait:", function) : xstrdup(function);
}

/* A part of the target itself. */
static bool is_of_target(const struct findings *f, const struct node *n, const struct experiment *of)
{
	while (of->function && n->parent != NODE_NONE) {
		if (n->function && strcmp(n->function, of->function) == 0)
			return true;
		if (n->kind == NODE_BLAME)
			return false;
		n = &f->nodes.items[n->parent];
	}
	return false;
}

static bool judges_by_variance(enum gain_metric m)
{
	return m == GAIN_VARIANCE || m == GAIN_P90 || m == GAIN_P99 || m == GAIN_P999;
}

/* Leaves of one name belong together. */
static char *largest_part(const struct findings *f, const struct experiments *e, const struct experiment *of)
{
	_cleanup_(names_freep) struct names *names = names_new();
	_cleanup_(freep) double *sizes = xcalloc(f->nodes.cnt + 1, sizeof(*sizes));
	_cleanup_(freep) bool *has_children = xcalloc(f->nodes.cnt + 1, sizeof(*has_children));
	size_t best = SIZE_MAX;

	for (size_t i = 1; i < f->nodes.cnt; i++)
		has_children[f->nodes.items[i].parent] = true;
	for (size_t i = 1; i < f->nodes.cnt; i++) {
		const struct node *n = &f->nodes.items[i];
		_cleanup_(freep) char *name = has_children[i] ? NULL : name_of(f, n);

		if (name && !is_of_target(f, n, of))
			sizes[names_add(names, name)] += judges_by_variance(e->metric) ? n->share : n->mean_ns;
	}
	for (size_t i = 0; i < names_cnt(names); i++)
		if (sizes[i] > 0 && (best == SIZE_MAX || sizes[i] > sizes[best]))
			best = i;
	return best == SIZE_MAX ? NULL : arena_strdup(e->arena, names_get(names, (uint32_t)best));
}

/* Where the target is smallest, most of the rest is something else. */
static const struct experiment *fastest(const struct experiments *e, const char *target)
{
	const struct experiment *last = NULL;

	for (size_t i = 0; i < e->list.cnt; i++)
		if (strcmp(e->list.items[i].target, target) == 0)
			last = &e->list.items[i];
	return last;
}

void causal_find_limit(struct store *s, const struct run *run, struct experiments *e)
{
	_cleanup_(trace_freep) struct trace *t = NULL;
	_cleanup_(findings_freep) struct findings *f = NULL;
	struct analyze_options o = { .interval = e->interval };
	const struct experiment *at;
	struct experiment *flat;
	size_t number, cnt;

	experiments_choose_best(e);
	flat = e->best == SIZE_MAX ? NULL : experiments_flat_from(e, e->list.items[e->best].target);
	if (!flat || !run->number || run_trace_read(s, run, &t, NULL) < 0)
		return;
	at = fastest(e, flat->target);
	number = experiments_target_number(e, at->target, strlen(at->target), &cnt);
	if (trace_targets_cnt(t) > cnt || !trace_put_in_virtual_time(t, (uint32_t)number, (uint32_t)(at->speedup * 1000 + 0.5)) ||
	    analyze(t, &o, &f) < 0)
		return;
	flat->limit = largest_part(f, e, at);
}
