/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inherent_work.c - how much the work noted by VPROF_WORK explains, in one line below the heading.
 *
 *	work: bytes, rows explain 35 % of the variance; of the rest flush_log causes 80 %
 */
#include <string.h>

#include "base/banned.h"
#include "base/text/utf8.h"
#include "report/style.h"
#include "report/words/sentence.h"

void print_work(const struct style *s, const struct view_input *in)
{
	const struct findings *f = in->findings;
	struct select_options first = in->options.ranking;
	_cleanup_(str_release) struct str line = STR_INIT;
	_cleanup_(freep) uint32_t *order = NULL;
	char text[TEXT_MAX];

	if (!f->work.names)
		return;
	str_add(&line, "work: ");
	utf8_add_line(&line, f->work.names);
	str_addf(&line, " explain%s %s of the variance", strchr(f->work.names, ',') ? "" : "s",
		 text_percent(text, f->work.explained));
	first.k = 1;
	first.all = false;
	if (factors_select_after_work(f, &first, &order)) {
		const struct factor *x = &f->factors.items[order[0]];
		_cleanup_(freep) char *label = factor_label(x, s->utf8);
		const double *ci95 = ci95_to_show(x->has_work_ci95, x->work_ci95);

		str_add(&line, "; of the rest ");
		utf8_add_line(&line, label);
		str_addf(&line, " causes %s", text_percent_with_ci95(text, x->work_share, ci95));
		if (ci95)
			str_addf(&line, " (95 %% CI %s)", text_ci95(text, ci95));
	}
	if (f->work.interval_cnt < f->interval.cnt)
		str_addf(&line, " (%s intervals noted none: taken as 0)",
			 text_cnt(text, f->interval.cnt - f->work.interval_cnt));
	fprintf(s->out, "%s\n", str_cstr(&line));
}
