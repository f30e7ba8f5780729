/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * oracle_tree.c - places, their times and the heights, by searching and flooding.
 *
 * Every nanosecond of every interval goes to one terminal place and to all places above it, by
 * the text of findings.h.  Heights: reachability is flooded until nothing changes; functions
 * that reach each other are one, and a height is the longest chain of others below.
 */
#include "tests/oracle/oracle.h"

#include <string.h>
#include "base/str.h"
#include "base/banned.h"

static void fill_row(struct oracle *o, size_t row);
static void hide_residues(struct oracle *o);
static void fill_heights(struct oracle *o);
static void fill_root(struct oracle *o);

struct oracle *oracle_new(const struct trace *t, uint32_t name)
{
	struct oracle *o = xcalloc(1, sizeof(*o));
	struct oracle_node root = { .parent = -1, .function = FUNCTION_NONE };

	o->t = t;
	o->name = name;
	root.label = xstrdup(t->interval_names.items[name]);
	VEC_ADD(&o->nodes, root);
	for (size_t i = 0; i < t->intervals.cnt; i++) {
		const struct interval *iv = &t->intervals.items[i];

		if (iv->name != name || iv->status != INTERVAL_COMPLETED || iv->lost)
			continue;
		o->rows[o->row_cnt] = iv;
		oracle_path(t, iv, o->ticks[o->row_cnt]);
		fill_row(o, o->row_cnt++);
	}
	hide_residues(o);
	fill_heights(o);
	fill_root(o);
	return o;
}

void oracle_free(struct oracle *o)
{
	for (size_t i = 0; i < o->nodes.cnt; i++)
		free(o->nodes.items[i].label);
	VEC_RELEASE(&o->nodes);
	free(o->heights);
	free(o->open);
	free(o);
}

static int child(struct oracle *o, int parent, enum node_kind kind, uint32_t function,
		 const char *text, int wait)
{
	struct oracle_node n = { .parent = parent, .kind = kind, .function = function };
	_cleanup_(freep) char *label =
		xasprintf("%s > %s", o->nodes.items[parent].label, text);

	for (size_t i = 1; i < o->nodes.cnt; i++)
		if (strcmp(o->nodes.items[i].label, label) == 0)
			return (int)i;
	n.label = TAKE_PTR(label);
	n.is_wait = wait >= 0;
	n.wait = wait >= 0 ? (enum trace_state)wait : STATE_RUNNING;
	VEC_ADD(&o->nodes, n);
	return (int)o->nodes.cnt - 1;
}

static int function_below(struct oracle *o, int parent, const struct invocation *inv)
{
	const struct trace *t = o->t;
	_cleanup_(str_release) struct str s = STR_INIT;
	bool any = false;

	if (o->nodes.items[parent].function == inv->function &&
	    o->nodes.items[parent].kind == NODE_FUNCTION)
		return parent;
	str_add(&s, t->functions.items[inv->function].name);
	if (inv->call_site != CALL_SITE_NONE)
		str_addf(&s, "@%s", t->call_sites.items[inv->call_site]);
	for (size_t i = 0; i < t->calls.cnt && inv->call_site == CALL_SITE_NONE && !any; i++) {
		const struct call *c = &t->calls.items[i];

		any = parent != 0 && c->caller == o->nodes.items[parent].function &&
		      c->callee == inv->function && c->call_site != CALL_SITE_NONE;
		if (any)		/* there is only one site of static calls */
			str_addf(&s, "@%s", t->call_sites.items[c->call_site]);
	}
	return child(o, parent, NODE_FUNCTION, inv->function, str_cstr(&s), -1);
}

static void touch(struct oracle *o, int node, size_t row, int64_t ns)
{
	for (; node >= 0; node = o->nodes.items[node].parent) {
		o->nodes.items[node].ns[row] += ns;
		o->nodes.items[node].present[row] = true;
	}
}

static enum thread_kind kind_of(const struct trace *t, uint64_t tid)
{
	for (size_t i = 0; i < t->threads.cnt; i++)
		if (t->threads.items[i].tid == tid)
			return t->threads.items[i].kind;
	return KIND_THREAD;
}

/* The function that is its name. */
static uint32_t peer_of(const struct trace *t, uint64_t tid)
{
	_cleanup_(freep) char *name = NULL;
	uint32_t function = 0;

	for (size_t i = 0; i < t->threads.cnt; i++)
		if (t->threads.items[i].tid == tid && !name)
			name = xasprintf("(%s)", t->threads.items[i].name);
	while (strcmp(t->functions.items[function].name, name) != 0)
		function++;
	return function;
}

static int blame(struct oracle *o, int wait, const struct tick *tick, int64_t ns)
{
	static const char *const nobody[KIND_CNT] = { "?", "(disk)", "(nic)", "(timer)", "(kernel)" };
	uint32_t stack[ORACLE_STACK_MAX], function = FUNCTION_NONE;
	bool others = tick->wait == STATE_QUEUE && tick->meanwhile != STATE_QUEUE;
	enum trace_state state = others ? tick->meanwhile : tick->state;
	bool taken_up = others && tick->taken_up_tid && state == STATE_IO;
	uint64_t tid = taken_up ? tick->taken_up_tid : tick->tid;
	size_t cnt = !taken_up && (tick->depth || others) ? oracle_stack(o->t, tid, ns, stack) : 0;
	enum thread_kind kind = tick->depth || others ? kind_of(o->t, tid) : KIND_THREAD;
	bool blocked = !taken_up && (tick->depth || (others && (cnt || kind))) && state != STATE_RUNNING;
	_cleanup_(str_release) struct str s = STR_INIT;

	if (cnt > 0)
		function = o->t->invocations.items[stack[cnt - 1]].function;
	else if (kind == KIND_PEER)
		function = peer_of(o->t, tid);
	else
		function -= kind;	/* not none */
	str_addf(&s, "by %s", function < o->t->functions.cnt ? o->t->functions.items[function].name : nobody[kind]);
	if (blocked)
		str_addf(&s, "/%s", trace_state_name(state));
	if (tick->device != KIND_THREAD)
		str_addf(&s, " (%s)", thread_kind_name(tick->device));
	return child(o, wait, NODE_BLAME, function, str_cstr(&s), blocked ? (int)state : -1);
}

static void fill_tick(struct oracle *o, size_t row, const struct tick *tick, int64_t ns, bool *counted)
{
	const struct trace *t = o->t;
	uint32_t stack[ORACLE_STACK_MAX];
	size_t cnt = 0;
	int node = 0, terminal;
	_cleanup_(str_release) struct str s = STR_INIT;

	if (tick->wait != STATE_QUEUE)
		cnt = oracle_stack(t, tick->owner_tid, ns, stack);
	for (size_t i = 0; i < cnt; i++) {
		node = function_below(o, node, &t->invocations.items[stack[i]]);
		o->nodes.items[node].calls += !counted[stack[i]];
		counted[stack[i]] = true;
	}
	for (size_t i = 0; i < t->invocations.cnt && tick->wait != STATE_QUEUE; i++) {
		const struct invocation *inv = &t->invocations.items[i];

		if (inv->tid == tick->owner_tid && inv->start_ns == ns && inv->end_ns == ns) {
			int instant = function_below(o, node, inv);

			o->nodes.items[instant].calls += !counted[i];
			counted[i] = true;
			touch(o, instant, row, 0);
		}
	}
	if (tick->wait == STATE_RUNNING) {
		terminal = child(o, node, NODE_BODY, o->nodes.items[node].function, "body", -1);
	} else {
		str_addf(&s, "wait:%s", trace_state_name(tick->wait));
		node = child(o, node, NODE_WAIT, o->nodes.items[node].function, str_cstr(&s),
			     (int)tick->wait);
		terminal = blame(o, node, tick, ns);
	}
	touch(o, terminal, row, 1);
}

static void fill_row(struct oracle *o, size_t row)
{
	const struct interval *iv = o->rows[row];
	_cleanup_(freep) bool *counted = xcalloc(o->t->invocations.cnt + 1, sizeof(*counted));

	touch(o, 0, row, 0);
	for (int64_t ns = iv->start_ns; ns < iv->end_ns; ns++)
		fill_tick(o, row, &o->ticks[row][ns], ns, counted);
}

static void hide_residues(struct oracle *o)
{
	for (size_t i = 0; i < o->nodes.cnt; i++) {
		struct oracle_node *n = &o->nodes.items[i];
		bool residue = n->kind == NODE_BODY ||
			       (n->kind == NODE_BLAME && n->function == FUNCTION_NONE && !n->is_wait);
		size_t siblings = 0;

		for (size_t j = 1; j < o->nodes.cnt; j++)
			siblings += j != i && o->nodes.items[j].parent == n->parent;
		n->shown = !residue || siblings > 0;
	}
}

static void fill_heights(struct oracle *o)
{
	const struct trace *t = o->t;
	size_t n = t->functions.cnt;
	_cleanup_(freep) bool *reach = xcalloc(n * n + 1, 1);
	bool changed = true;

	o->heights = xcalloc(n + 1, sizeof(*o->heights));
	o->open = xcalloc(n + 1, sizeof(*o->open));
	for (size_t i = 0; i < t->calls.cnt; i++) {
		const struct call *c = &t->calls.items[i];

		reach[c->caller * n + c->callee] = true;
		if (!t->functions.items[c->callee].probed)
			o->open[c->caller] = true;
	}
	for (size_t i = 0; i < t->invocations.cnt; i++) {
		const struct invocation *inv = &t->invocations.items[i];
		uint32_t stack[ORACLE_STACK_MAX];
		size_t cnt = oracle_stack(t, inv->tid, inv->start_ns, stack), k = cnt;

		/* The invocations around it: the stack at its start, up to itself. */
		for (k = 0; k < cnt && stack[k] != i; k++)
			;
		if (k > 0)
			reach[t->invocations.items[stack[k - 1]].function * n + inv->function] = true;
	}
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j < n; j++)
				reach[i * n + j] |= reach[i * n + k] && reach[k * n + j];
	while (changed) {
		changed = false;
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j < n; j++) {
				uint32_t below = o->heights[j] + !reach[j * n + i];

				if (reach[i * n + j] && o->heights[i] < below) {
					o->heights[i] = below;
					changed = true;
				}
			}
	}
}

/* No function is named like an interval here, so the root is the only child or none. */
static void fill_root(struct oracle *o)
{
	uint32_t highest = 0, only = FUNCTION_NONE;
	size_t child_cnt = 0;
	int child_id = -1;

	for (size_t i = 1; i < o->nodes.cnt; i++) {
		const struct oracle_node *n = &o->nodes.items[i];

		if (n->parent != 0 || !n->shown)
			continue;
		child_cnt++;
		child_id = (int)i;
		if (n->kind == NODE_FUNCTION) {
			only = n->function;
			if (o->heights[only] > highest)
				highest = o->heights[only];
		}
	}
	o->root_function = FUNCTION_NONE;
	if (child_cnt != 1 || only == FUNCTION_NONE) {
		o->root_height = highest + 1;
		return;
	}
	o->root_height = o->heights[only];
	for (size_t i = 1; i < o->nodes.cnt; i++)
		if (o->nodes.items[i].parent == child_id && o->nodes.items[i].shown)
			o->root_function = only;
}

__int128 oracle_covariance(const int64_t *x, const int64_t *y, size_t n)
{
	__int128 sx = 0, sy = 0, sxy = 0;

	for (size_t i = 0; i < n; i++) {
		sx += x[i];
		sy += y[i];
		sxy += (__int128)x[i] * y[i];
	}
	return (__int128)n * sxy - sx * sy;
}
