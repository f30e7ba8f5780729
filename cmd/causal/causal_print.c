/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * causal_print.c - prints what causal experiments, or a replay, found.
 */
#include "base/banned.h"
#include "cmd/causal/causal.h"
#include "report/report.h"

int causal_print(const struct causal_request *q, const struct run *run, struct experiments *e)
{
	const struct view *v = view_find("causal");
	struct view_input in = { .options = view_given, .run = run, .experiments = e };

	experiments_choose_best(e);
	if (q->json) {
		json_t *document = v->json(&in);

		report_write_json(stdout, document);
		json_decref(document);
	} else {
		struct style style;

		style_init(&style, stdout, false);
		v->text(&style, &in);
	}
	if (!e->baseline_cnt)
		return EXIT_NO_EVIDENCE;
	return e->list.cnt ? EXIT_DONE : EXIT_ENVIRONMENT;
}
