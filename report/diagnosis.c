/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diagnosis.c - checks with their answers, as text and JSON.
 *
 *	▶ 1 problem: disk.
 *
 *	✓ libclang      clang version 14.0.6
 *	✗ disk          only 3 MiB are free in /src/vprof.data
 *	                → vprof -d DIR, with room for the trace
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/text/utf8.h"
#include "base/cleanup.h"
#include "report/diagnosis.h"
#include "report/output.h"
#include "report/style.h"

static const struct {
	const char *word, *sign, *plain_sign;
} states[] = {
	[DIAGNOSIS_OK] = { "ok", "✓", "+" },
	[DIAGNOSIS_NOTE] = { "note", "·", "-" },
	[DIAGNOSIS_WARNING] = { "warning", "!", "!" },
	[DIAGNOSIS_PROBLEM] = { "problem", "✗", "x" },
};

enum { NAME_WIDTH = 16 };

void diagnosis_add(struct diagnosis *d, const char *name, enum diagnosis_state state, const char *fix,
		   const char *fmt, ...)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	struct str clean = STR_INIT, clean_fix = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	utf8_add_line(&clean, str_cstr(&text));
	utf8_add_line(&clean_fix, fix ? fix : "");
	VEC_ADD(&d->checks, (struct diagnosis_check){ name, state, str_take(&clean), fix ? str_take(&clean_fix) : NULL });
	str_release(&clean_fix);
}

size_t diagnosis_cnt(const struct diagnosis *d, enum diagnosis_state state)
{
	size_t cnt = 0;

	for (size_t i = 0; i < d->checks.cnt; i++)
		cnt += d->checks.items[i].state == state;
	return cnt;
}

/* "2 problems: disk, program" */
static void add_list(struct str *to, const struct diagnosis *d, enum diagnosis_state state)
{
	size_t cnt = diagnosis_cnt(d, state);
	const char *before = ": ", *last = "";

	if (cnt)
		str_addf(to, "%s%zu %s%s", to->len ? "; " : "", cnt, states[state].word, plural(cnt));
	for (size_t i = 0; i < d->checks.cnt; i++) {
		if (d->checks.items[i].state != state || strcmp(d->checks.items[i].name, last) == 0)
			continue;
		last = d->checks.items[i].name;
		str_addf(to, "%s%s", before, last);
		before = ", ";
	}
}

void diagnosis_text(const struct style *s, const struct diagnosis *d)
{
	_cleanup_(str_release) struct str answer = STR_INIT;

	add_list(&answer, d, DIAGNOSIS_PROBLEM);
	add_list(&answer, d, DIAGNOSIS_WARNING);
	if (!answer.len)
		str_add(&answer, "Nothing stands in the way");
	str_addc(&answer, '.');
	print_answer(s, answer.data);
	fputc('\n', s->out);
	for (size_t i = 0; i < d->checks.cnt; i++) {
		const struct diagnosis_check *c = &d->checks.items[i];

		fprintf(s->out, "%s %-*s%s\n", s->utf8 ? states[c->state].sign : states[c->state].plain_sign,
			NAME_WIDTH, c->name, c->text);
		if (c->fix)
			fprintf(s->out, "  %*s%s %s\n", NAME_WIDTH, "", glyphs_of(s)->arrow, c->fix);
	}
}

json_t *diagnosis_json(const struct diagnosis *d)
{
	json_t *o = json_document("doctor"), *checks = json_array();

	for (size_t i = 0; i < d->checks.cnt; i++) {
		const struct diagnosis_check *c = &d->checks.items[i];

		json_add(checks, json_pack("{s:s,s:s,s:o,s:o}", "name", c->name,
					   "state", states[c->state].word, "text", json_text(c->text),
					   "fix", json_text(c->fix)));
	}
	json_set(o, "warnings", json_array());
	json_set(o, "problems", json_u64(diagnosis_cnt(d, DIAGNOSIS_PROBLEM)));
	json_set(o, "checks", checks);
	return o;
}

void diagnosis_release(struct diagnosis *d)
{
	for (size_t i = 0; i < d->checks.cnt; i++) {
		free(d->checks.items[i].text);
		free(d->checks.items[i].fix);
	}
	VEC_RELEASE(&d->checks);
}
