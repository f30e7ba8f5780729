/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * page_view.c - the JSON of a view, for the sections of the page.
 */
#include "base/banned.h"
#include "report/page/sections.h"

static bool has_needed(const struct view *v, const struct page_input *in)
{
	return (!(v->needs & NEEDS_TRACE) || in->view.trace) &&
	       (!(v->needs & NEEDS_INTERVALS) || in->view.findings->intervals.cnt) &&
	       (!(v->needs & NEEDS_EXPERIMENTS) || in->view.experiments);
}

json_t *page_view(const struct page_input *in, const char *name, const struct view_options *options, struct diag *reterr)
{
	const struct view *v = view_find(name);
	struct view_input input = in->view;
	void *made = NULL;
	json_t *o = NULL;

	if (options)
		input.options = *options;
	if (v && options && options->by)
		v = v->by_cause;
	if (!v || !has_needed(v, in))
		return NULL;
	if (!v->make || v->make(&input, &made, reterr) == 0) {
		input.made = made;
		o = v->json(&input);
	}
	if (made)
		v->release(made);
	return o;
}
