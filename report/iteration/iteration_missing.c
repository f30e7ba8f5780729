/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * iteration_missing.c - new functions of a run's plan that the run did not record.
 *
 *	  3 of 12 new functions were never called in an interval: parse_slow, retry, drop
 *	  1 of 12 new functions is in no program that ran: tool_main
 *	  1 of 12 new functions carries no probe: fast_path (the instrumented text did not compile: ...)
 */
#include "base/banned.h"
#include "base/text/utf8.h"
#include "report/iteration/iteration.h"
#include "report/output.h"

enum { NAMES_SHOWN = 4 };

static void print_names(const struct style *s, const struct round *r, const strings *names,
			const char *one, const char *many, const char *reason)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	if (names->cnt == 0)
		return;
	str_addf(&text, "  %zu of %zu new function%s %s: ", names->cnt, r->added.cnt,
		 r->added.cnt == 1 ? "" : "s", names->cnt == 1 ? one : many);
	for (size_t i = 0; i < names->cnt && i < NAMES_SHOWN; i++) {
		str_add(&text, i ? ", " : "");
		utf8_add_line(&text, names->items[i]);
	}
	if (names->cnt > NAMES_SHOWN)
		str_addf(&text, ", %zu more", names->cnt - NAMES_SHOWN);
	if (reason) {
		str_add(&text, " (");
		utf8_add_line(&text, reason);
		str_addc(&text, ')');
	}
	fprintf(s->out, "%s\n", str_cstr(&text));
}

void round_missing_text(const struct style *s, const struct round *r)
{
	strings unprobed = { NULL, 0, 0 };

	for (size_t i = 0; i < r->unprobed.cnt; i++)
		VEC_ADD(&unprobed, r->unprobed.items[i].function);
	print_names(s, r, &r->never_called, "was never called in an interval",
		    "were never called in an interval", NULL);
	print_names(s, r, &r->absent, "is in no program that ran", "are in no program that ran", NULL);
	print_names(s, r, &unprobed, "carries no probe", "carry no probe",
		    unprobed.cnt ? r->unprobed.items[0].reason : NULL);
	VEC_RELEASE(&unprobed);
}

static json_t *names_json(const strings *names)
{
	json_t *list = json_array();

	for (size_t i = 0; i < names->cnt; i++)
		json_add(list, json_text(names->items[i]));
	return list;
}

void round_missing_json(json_t *plan, const struct round *r)
{
	json_t *unprobed = json_array();

	for (size_t i = 0; i < r->unprobed.cnt; i++)
		json_add(unprobed, json_pack("{s:o,s:o}", "function",
					     json_text(r->unprobed.items[i].function), "reason",
					     json_text(r->unprobed.items[i].reason)));
	json_set(plan, "added", names_json(&r->added));
	json_set(plan, "never_called", names_json(&r->never_called));
	json_set(plan, "absent", names_json(&r->absent));
	json_set(plan, "unprobed", unprobed);
}

void round_release(struct round *r)
{
	VEC_RELEASE(&r->added);
	VEC_RELEASE(&r->never_called);
	VEC_RELEASE(&r->absent);
	VEC_RELEASE(&r->unprobed);
}
