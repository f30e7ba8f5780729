/* SPDX-License-Identifier: GPL-3.0-or-later */
/* waiters.c - see waiters.h. */
#include "report/words/waiters.h"

#include <string.h>

#include "base/banned.h"
#include "base/text/label.h"
#include "base/text/table.h"
#include "base/text/utf8.h"
#include "report/words/because.h"
#include "report/words/sentence.h"

void add_waiter(struct str *to, const struct waiter *w)
{
	if (w->function)
		utf8_add_line(to, w->function);
	if (w->function && !w->key)
		str_add(to, " of ");
	if (!w->key)
		utf8_add_line(to, w->module);
}

static const char *remedy_of(const struct waiter *w)
{
	if (w->key)
		return "which carries no probe: vprof iterate records it next";
	return w->is_built ? "which vprof did not see in the build" : "of which vprof built nothing";
}

void print_waiters(const struct style *s, const struct findings *f, double threshold)
{
	char percent[TEXT_MAX];

	for (size_t i = 0; i < f->waiters.cnt && f->waiters.items[i].share > threshold; i++) {
		const struct waiter *w = &f->waiters.items[i];
		_cleanup_(str_release) struct str line = STR_INIT, name = STR_INIT;

		if (w->is_outer)
			continue;

		if (w->inside) {
			label_add_readable(&line, w->inside, NAME_READABLE, glyphs_of(s)->ellipsis);
			str_add(&line, glyphs_of(s)->then);
		}
		add_waiter(&name, w);
		str_addf(&line, "%s: %s in ", wait_text(w->wait), text_percent(percent, w->share));
		label_add_readable(&line, str_cstr(&name), NAME_READABLE, glyphs_of(s)->ellipsis);
		str_addf(&line, ", %s", remedy_of(w));
		table_line(s->out, str_cstr(&line));
	}
}

static bool is_of(const struct waiter *w, const struct factor *x)
{
	return x->kind == FACTOR_WAIT && x->wait == w->wait && x->line == w->inside_line &&
	       strcmp(x->function ? x->function : "", w->inside ? w->inside : "") == 0;
}

json_t *waiters_json(const struct findings *f, const struct factor *x)
{
	json_t *list = json_array();

	for (size_t i = 0; i < f->waiters.cnt; i++) {
		const struct waiter *w = &f->waiters.items[i];
		json_t *o;

		if (!is_of(w, x))
			continue;
		o = json_object();
		json_set(o, "function", json_text(w->function));
		json_set(o, "file", json_text(w->file));
		json_set(o, "line", w->line ? json_integer(w->line) : json_null());
		json_set(o, "module", json_text(w->module));
		json_set(o, "probed", json_boolean(false));
		json_set(o, "outer", json_boolean(w->is_outer));
		json_set(o, "share", json_number(w->share));
		json_set(o, "mean_ns", json_ns(w->mean_ns));
		json_add(list, o);
	}
	return list;
}
