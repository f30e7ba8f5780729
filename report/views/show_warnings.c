/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * show_warnings.c - every warning about a run's results, the most important first.
 *
 *	▶ 2 warnings: losses, few-intervals.
 *
 *	losses         12 records were lost for lack of buffer or disk ...
 *	few-intervals  only 80 intervals are complete: ...
 */
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/text/table.h"
#include "base/text/utf8.h"
#include "report/output.h"
#include "report/style.h"
#include "report/views.h"

static char *answer_text(const struct findings *f)
{
	size_t cnt = f->warnings.cnt;
	struct str s = STR_INIT;

	if (!cnt)
		return xstrdup("No warning.");
	str_addf(&s, "%zu warning%s: ", cnt, plural(cnt));
	for (size_t i = 0; i < cnt; i++)
		str_addf(&s, "%s%s", i ? ", " : "", f->warnings.items[i].code);
	str_addc(&s, '.');
	return str_take(&s);
}

static void warnings_text(const struct style *s, const struct view_input *in)
{
	const struct findings *f = in->findings;
	_cleanup_(freep) char *answer = answer_text(f);

	print_answer(s, answer);
	for (size_t i = 0; i < f->warnings.cnt; i++) {
		_cleanup_(str_release) struct str clean = STR_INIT;

		utf8_add_line(&clean, f->warnings.items[i].text);
		fprintf(s->out, "%s%-16s %s\n", i ? "" : "\n", f->warnings.items[i].code, str_cstr(&clean));
	}
}

static json_t *warnings_json(const struct view_input *in)
{
	return json_results("warnings", in);
}

static void warnings_csv(FILE *out, const struct view_input *in)
{
	const struct findings *f = in->findings;

	fprintf(out, "rank,code,text\n");
	for (size_t i = 0; i < f->warnings.cnt; i++) {
		fprintf(out, "%zu,", i + 1);
		csv_field(out, f->warnings.items[i].code);
		fputc(',', out);
		csv_field(out, f->warnings.items[i].text);
		fputc('\n', out);
	}
}

const struct view view_warnings = {
	.name = "warnings", .summary = "warnings about the results, most important first",
	.needs = NEEDS_FINDINGS,
	.text = warnings_text, .json = warnings_json, .csv = warnings_csv,
};
