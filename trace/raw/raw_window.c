/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * raw_window.c - which records are inside the window, and which part of them.
 */
#include "base/banned.h"
#include "trace/raw/raw_window.h"

static void cut(const struct raw_window *w, int64_t *start_ns, int64_t *end_ns)
{
	if (*start_ns < w->from_ns)
		*start_ns = w->from_ns;
	if (*end_ns > w->until_ns)
		*end_ns = w->until_ns;
}

bool raw_window_event(const struct raw_window *w, struct raw_event *e)
{
	int64_t end_ns = e->ns;

	switch (e->kind) {
	case EVENT_START:
	case EVENT_CREATE:
	case EVENT_PARENT:
		return e->ns <= w->until_ns;
	case EVENT_OPEN_FRAME:
		end_ns = w->until_ns;
		break;
	case EVENT_WAIT:
	case EVENT_FRAME:
		end_ns = (int64_t)e->words[0];
		break;
	default:
		break;
	}
	if (end_ns < w->from_ns || e->ns > w->until_ns)
		return false;
	cut(w, &e->ns, &end_ns);
	if (e->kind == EVENT_WAIT || e->kind == EVENT_FRAME)
		e->words[0] = (uint64_t)end_ns;
	return true;
}

bool raw_window_invocation(const struct raw_window *w, struct raw_invocation *v)
{
	if (v->end_ns <= w->from_ns || v->start_ns >= w->until_ns)
		return false;
	cut(w, &v->start_ns, &v->end_ns);
	return true;
}
