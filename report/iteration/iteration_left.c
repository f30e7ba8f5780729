/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * iteration_left.c - what an iteration left, how much of the variance that is, and why.
 *
 *	62 % of the variance is lock wait in foo_get of libfoo.so, of which vprof built nothing
 *	30 % is parse's own running time, which may be that of fast_hash: it cannot take a probe (naked)
 */
#include "base/banned.h"
#include "base/text/utf8.h"
#include "report/iteration/iteration.h"
#include "report/output.h"
#include "report/style.h"
#include "report/words/sentence.h"
#include "report/words/waiters.h"

enum { LEFT_SHOWN = 3 };

static const struct waiter *waiter_of(const struct refine_left *l, const struct findings *f)
{
	return l->waiter < f->waiters.cnt ? &f->waiters.items[l->waiter] : NULL;
}

static const char *name_of(const struct refine_left *l, const struct waiter *w)
{
	return l->function ? l->function->name : w ? w->function : NULL;
}

static void add_why(struct str *to, const struct refine_left *l)
{
	switch (l->why) {
	case REFINE_LEFT_FOREIGN:
		str_add(to, ", of which vprof built nothing");
		break;
	case REFINE_LEFT_UNKNOWN:
		str_add(to, ", which vprof did not see in the build");
		break;
	case REFINE_LEFT_SKIPPED:
		str_add(to, ", which cannot take a probe (");
		utf8_add_line(to, l->function->skipped);
		str_addc(to, ')');
		break;
	case REFINE_LEFT_OUT:
		str_add(to, ", which is left out of the call graph");
		break;
	case REFINE_LEFT_DECLINED:
		str_add(to, ", which you declined to break down");
		break;
	case REFINE_LEFT_UNRECORDED:
		str_add(to, ", which the plan had, but which carries no probe (vprof show coverage)");
		break;
	case REFINE_LEFT_OPEN:
		str_add(to, ", which carries no probe yet");
		break;
	}
}

static void add_wait(struct str *to, const struct waiter *w)
{
	str_addf(to, "%s in ", wait_text(w->wait));
	add_waiter(to, w);
}

static void add_one(struct str *to, const struct refinement *r, const struct findings *f, const struct refine_left *l)
{
	const struct waiter *w = waiter_of(l, f);

	if (w) {
		add_wait(to, w);
	} else {
		utf8_add_line(to, refinement_function(r, l->caller)->name);
		str_add(to, "'s own running time, which may be that of ");
		utf8_add_line(to, l->function->name);
	}
	add_why(to, l);
}

char *left_text(const struct refinement *r, const struct findings *f)
{
	struct str s = STR_INIT;
	char percent[TEXT_MAX];

	for (size_t i = 0; i < r->left.cnt && i < LEFT_SHOWN; i++) {
		str_addf(&s, "%s%s %sis ", i ? "; " : "", text_percent(percent, r->left.items[i].share),
			 i ? "" : "of the variance ");
		add_one(&s, r, f, &r->left.items[i]);
	}
	if (r->left.cnt > LEFT_SHOWN)
		str_addf(&s, "; %zu more", r->left.cnt - LEFT_SHOWN);
	return s.len ? str_take(&s) : xstrdup("");
}

json_t *left_json(const struct refinement *r, const struct findings *f)
{
	static const char *const whys[] = { "foreign", "unknown", "skipped", "left-out", "declined", "unrecorded", "open" };
	json_t *list = json_array();

	for (size_t i = 0; i < r->left.cnt; i++) {
		const struct refine_left *l = &r->left.items[i];
		const struct waiter *w = waiter_of(l, f);
		json_t *o = json_object();

		json_set(o, "function", json_text(name_of(l, w)));
		json_set(o, "file", json_text(l->function ? l->function->file : w ? w->file : NULL));
		json_set(o, "module", json_text(w ? w->module : NULL));
		json_set(o, "wait", json_wait(w != NULL, w ? w->wait : STATE_RUNNING));
		json_set(o, "inside", json_text(w ? w->inside : refinement_function(r, l->caller)->name));
		json_set(o, "share", json_number(l->share));
		json_set(o, "why", json_text(whys[l->why]));
		json_set(o, "reason", json_text(l->why == REFINE_LEFT_SKIPPED ? l->function->skipped : NULL));
		json_add(list, o);
	}
	return list;
}
