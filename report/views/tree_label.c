/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tree_label.c - the label of a line of a variance tree, fitted to the available columns.
 *
 *	44  finish_xact_command › CommitTransaction › XLogFlush
 *	35  finish_xact_command › … › XLogFlush
 *	20  … › XLogFlush
 *
 * A line is about the last name, so that one is cut last; of the others the first is kept longest, then those next to
 * the last.  A label that is not a chain first loses its dispensable part: "by pg_fdatasync (sleep)" the wait, unless a line beside it
 * is "by pg_fdatasync"; "pg_fdatasync (body)" the name, which is in the line above. Only then a name loses its middle.
 */
#include <string.h>

#include "base/banned.h"
#include "base/text/label.h"
#include "base/text/utf8.h"
#include "report/views/tree_label.h"
#include "report/words/because.h"
#include "report/words/sentence.h"

#define NAME_LEAST 16			/* columns, if the name has as many */
#define CHAIN_LEAST 32			/* of a chain: the last name, and the sign that it is one */
#define CHAIN_WANTED 40			/* the last name and the first */

char *label_among_siblings(const struct findings *f, const struct node *n, bool utf8)
{
	for (size_t i = 0; n->kind == NODE_FUNCTION && n->call_site && i < f->nodes.cnt; i++) {
		const struct node *other = &f->nodes.items[i];

		if (other != n && other->parent == n->parent && other->kind == NODE_FUNCTION &&
		    n->function && other->function && strcmp(other->function, n->function) == 0)
			return xasprintf("%s (%s)", n->function, n->call_site);
	}
	return node_label(n, utf8);
}

/* Takes over name. */
static char *cleaned(char *name)
{
	struct str clean = STR_INIT;

	utf8_add_line(&clean, name);
	free(name);
	return str_take(&clean);
}

static void add_name(struct tree_label *l, char *name)
{
	VEC_ADD(&l->names, cleaned(name));
}

/* From head down to node, which are both functions, or both blamed. */
static void add_chain(struct tree_label *l, const struct findings *f, uint32_t head, uint32_t node,
		      bool utf8)
{
	const struct node *nodes = f->nodes.items;

	for (uint32_t id = node; ; id = nodes[id].parent) {
		bool is_below = id != head && nodes[id].kind == NODE_BLAME;
		_cleanup_(freep) char *label = label_among_siblings(f, &nodes[id], utf8);

		/* "by main › serve", and a function whose wait is shown is in that name. */
		if (id == node || nodes[id].kind != NODE_BLAME || nodes[id].function != nodes[node].function || id == head)
			add_name(l, xstrdup(label + (is_below && starts_with(label, "by ") ? 3 : 0)));
		if (id == head)
			break;
	}
	for (size_t a = 0, b = l->names.cnt - 1; a < b; a++, b--) {
		char *other = l->names.items[a];

		l->names.items[a] = l->names.items[b];
		l->names.items[b] = other;
	}
}

/* Whether another line beside it blames the same function, for another wait or for running. */
static bool has_twin(const struct findings *f, const struct node *n)
{
	_cleanup_(freep) char *own = blame_label_short(n);

	for (size_t i = 0; i < f->nodes.cnt; i++) {
		const struct node *other = &f->nodes.items[i];

		if (other != n && other->parent == n->parent && other->kind == NODE_BLAME) {
			_cleanup_(freep) char *label = blame_label_short(other);

			if (strcmp(label, own) == 0)
				return true;
		}
	}
	return false;
}

static void add_node(struct tree_label *l, const struct findings *f, const struct node *n, bool utf8)
{
	/* "log_append › lock wait", below the interval: like a chain. */
	if (n->kind == NODE_WAIT && n->parent == 0 && n->function) {
		add_name(l, xstrdup(n->function));
		add_name(l, xstrdup(wait_text(n->wait)));
		return;
	}
	add_name(l, node_label(n, utf8));
	if (n->kind == NODE_BLAME && n->is_wait && !has_twin(f, n))
		l->shorter = cleaned(blame_label_short(n));
	if (n->kind == NODE_BODY && n->function)
		l->shorter = xstrdup("(body)");
}

static void add_sum(struct tree_label *l, const struct node *n, size_t cnt)
{
	_cleanup_(freep) char *by = blame_label_short(n);

	add_name(l, xasprintf("%s (%zu ways)", by, cnt));
	l->shorter = cleaned(xstrdup(by));
}

/* Of a thread that works for other requests, or of a function to blame: what is left is its running time. */
static bool runs_meanwhile(const struct findings *f, const struct node *n)
{
	const struct node *above = n->parent == NODE_NONE ? NULL : &f->nodes.items[n->parent];

	return above && n->kind == NODE_BLAME && !n->function && !n->is_wait &&
	       (above->kind == NODE_BLAME || (above->is_wait && above->wait == STATE_BUSY));
}

struct tree_label tree_label_make(const struct findings *f, const struct tree_line *line, bool utf8)
{
	const struct node *n = line->node == NODE_NONE ? NULL : &f->nodes.items[line->node];
	struct tree_label l = { .mark = n && n->open ? " +" : "", .g = glyphs_for(utf8) };

	if (!n && line->by != NODE_NONE)
		add_sum(&l, &f->nodes.items[line->by], line->rest_cnt);
	else if (!n)
		add_name(&l, xasprintf("%zu more", line->rest_cnt));
	else if (n->id == 0)
		add_name(&l, xstrdup(f->interval.name ? f->interval.name : "interval"));
	else if (n->kind == NODE_FUNCTION || line->head != line->node)
		add_chain(&l, f, line->head, line->node, utf8);
	else if (runs_meanwhile(f, n))
		add_name(&l, xstrdup("running"));
	else
		add_node(&l, f, n, utf8);
	return l;
}

void tree_label_release(struct tree_label *l)
{
	for (size_t i = 0; i < l->names.cnt; i++)
		free(l->names.items[i]);
	VEC_RELEASE(&l->names);
	free(l->shorter);
}

static const char *last_name(const struct tree_label *l)
{
	return l->names.items[l->names.cnt - 1];
}

/* "first › … › the last tail_cnt names +", without missing parts. */
static void compose(struct str *to, const struct tree_label *l, bool with_first, size_t tail_cnt)
{
	size_t cnt = l->names.cnt;

	if (with_first)
		str_addf(to, "%s%s", l->names.items[0], l->g->then);
	if (tail_cnt + with_first < cnt)
		str_addf(to, "%s%s", l->g->ellipsis, l->g->then);
	for (size_t i = cnt - tail_cnt; i < cnt; i++)
		str_addf(to, "%s%s", l->names.items[i], i + 1 < cnt ? l->g->then : l->mark);
}

static bool fits(struct str *to, const struct tree_label *l, size_t width, bool with_first,
		 size_t tail_cnt)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	compose(&text, l, with_first, tail_cnt);
	if (width && utf8_width(str_cstr(&text)) > width)
		return false;
	str_add(to, str_cstr(&text));
	return true;
}

static size_t width_of(const struct tree_label *l, bool with_first)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	compose(&text, l, with_first, 1);
	return utf8_width(str_cstr(&text));
}

size_t tree_label_least(const struct tree_label *l)
{
	size_t width = width_of(l, false), most = l->names.cnt > 1 ? CHAIN_LEAST : NAME_LEAST;

	return width < most ? width : most;
}

size_t tree_label_wanted(const struct tree_label *l)
{
	size_t width = l->names.cnt > 1 ? width_of(l, true) : 0;

	return width && width <= CHAIN_WANTED ? width : tree_label_least(l);
}

/* No form fits as it is: the last name, without its middle. */
static void add_cut(struct str *to, const struct tree_label *l, size_t width)
{
	const char *name = l->shorter ? l->shorter : last_name(l);
	size_t more = utf8_width(l->mark);

	if (l->names.cnt > 1) {
		str_addf(to, "%s%s", l->g->ellipsis, l->g->then);
		more += utf8_width(l->g->ellipsis) + utf8_width(l->g->then);
	}
	label_add_shortened(to, name, width > more ? width - more : 1, l->g->ellipsis);
	str_add(to, l->mark);
}

void tree_label_add(struct str *to, const struct tree_label *l, size_t width)
{
	size_t cnt = l->names.cnt, most = width < cnt ? width : cnt;	/* a name has a column at least */

	if (fits(to, l, width, false, cnt))
		return;
	for (size_t tail = most; tail >= 1; tail--)
		if (tail + 2 <= cnt && fits(to, l, width, true, tail))
			return;
	for (size_t tail = most; tail >= 1; tail--)
		if (tail < cnt && fits(to, l, width, false, tail))
			return;
	add_cut(to, l, width);
}
