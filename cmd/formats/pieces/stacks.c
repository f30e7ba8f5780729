/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stacks.c - see stacks.h. */
#include "cmd/formats/pieces/stacks.h"


#include "base/banned.h"

#define FRAMES_MAX 500

/* Names of waits as frames; they are never freed. */
static const char *wait_frame(enum trace_state wait)
{
	static char *names[STATE_CNT];

	if (!names[wait])
		names[wait] = xasprintf("[%s wait]", trace_state_name(wait));
	return names[wait];
}

static void add_frame(struct stack *s, const struct findings *f, const struct node *n)
{
	if (n->kind == NODE_INTERVAL)
		VEC_ADD(&s->frames, (struct stack_frame){ f->interval.name, NULL, 0 });
	else if (n->kind == NODE_FUNCTION && n->function)
		VEC_ADD(&s->frames, (struct stack_frame){ n->function, n->file, n->line });
	else if (n->kind == NODE_WAIT)
		VEC_ADD(&s->frames, (struct stack_frame){ wait_frame(n->wait), NULL, 0 });
}

/* A very deep stack keeps the interval and the innermost frames: thousands of nested calls would give thousands of such stacks. */
static void add_frames(struct stack *s, const struct findings *f, const struct node *n)
{
	const struct node *path[FRAMES_MAX];
	size_t cnt = 0;

	for (; n->parent != NODE_NONE && cnt < FRAMES_MAX; n = &f->nodes.items[n->parent])
		path[cnt++] = n;
	add_frame(s, f, &f->nodes.items[0]);
	if (n->parent != NODE_NONE)
		VEC_ADD(&s->frames, (struct stack_frame){ "[more]", NULL, 0 });
	while (cnt)
		add_frame(s, f, path[--cnt]);
}

static void add_tail(const struct findings *f, const struct part *p, tree_stacks *ret)
{
	struct stack *s = VEC_EXTEND(ret);

	VEC_ADD(&s->frames, (struct stack_frame){ f->interval.name, NULL, 0 });
	if (p->function)
		VEC_ADD(&s->frames, (struct stack_frame){ p->function, p->file, 0 });
	if (p->is_wait)
		VEC_ADD(&s->frames, (struct stack_frame){ wait_frame(p->wait), NULL, 0 });
	s->value[EXPORT_TAIL] = p->slow_mean_ns - p->mean_ns;
}

void tree_stacks_read(const struct findings *f, tree_stacks *ret)
{
	_cleanup_(freep) bool *inner = xcalloc(f->nodes.cnt + 1, sizeof(*inner));

	for (size_t i = 0; i < f->nodes.cnt; i++)
		if (f->nodes.items[i].parent != NODE_NONE && f->nodes.items[i].kind != NODE_BLAME)
			inner[f->nodes.items[i].parent] = true;
	for (size_t i = 0; i < f->nodes.cnt; i++) {
		const struct node *n = &f->nodes.items[i];
		struct stack *s;

		if (inner[i] || n->kind == NODE_BLAME)
			continue;
		s = VEC_EXTEND(ret);
		add_frames(s, f, n);
		s->value[EXPORT_VARIANCE] = 1e6 * n->share;
		s->value[EXPORT_MEAN] = n->mean_ns;
	}
	for (size_t i = 0; i < f->parts.cnt && f->tail.cnt; i++)
		add_tail(f, &f->parts.items[i], ret);
}

void tree_stacks_release(tree_stacks *list)
{
	for (size_t i = 0; i < list->cnt; i++)
		VEC_RELEASE(&list->items[i].frames);
	VEC_RELEASE(list);
}
