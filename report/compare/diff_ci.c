/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diff_ci.c - a comparison as GitHub workflow commands and as JUnit XML.
 *
 *	::error title=vprof gate::p99>+10%25 is violated: +34 %25 (95 %25 CI +20 to +50 %25)
 *
 * Names come from programs, so they are escaped: no name can end a line, a property or an element.
 */
#include <math.h>
#include <string.h>

#include "base/banned.h"
#include "base/text/utf8.h"
#include "report/compare/diff_words.h"
#include "report/style.h"

/* ---- GitHub ---- */

/* Escapes the data of a workflow command; of a property also ':' and ','. */
static void put_escaped(FILE *out, const char *text, bool is_property)
{
	_cleanup_(str_release) struct str clean = STR_INIT;

	utf8_add_line(&clean, text);
	for (const char *c = str_cstr(&clean); *c; c++) {
		if (strchr("%\r\n", *c) || (is_property && strchr(":,", *c)))
			fprintf(out, "%%%02X", (unsigned char)*c);
		else
			fputc(*c, out);
	}
}

/* A line of the log, which GitHub shows as it is: only commands begin with "::". */
static void put_line(FILE *out, const char *text)
{
	_cleanup_(str_release) struct str clean = STR_INIT;

	utf8_add_line(&clean, text);
	fprintf(out, "vprof: %s\n", str_cstr(&clean));
}

/* Adds the place of the largest change, if it is known: GitHub shows the annotation at that line. */
static void put_place(FILE *out, const struct comparison *c)
{
	const struct change *x = c->changes.cnt ? &c->changes.items[0] : NULL;

	if (!x || !x->file || x->match == MATCH_GONE || !(x->share_of_change > 0))
		return;
	fputs("file=", out);
	put_escaped(out, x->file, true);
	if (x->line)
		fprintf(out, ",line=%u", x->line);
	fputc(',', out);
}

void diff_github(FILE *out, const struct diff_input *in)
{
	_cleanup_(freep) char *sentence = diff_sentence(in, true);
	char needed[TEXT_MAX];

	put_line(out, sentence);
	for (size_t i = 0; in->gate && i < in->gate->terms.cnt; i++) {
		const struct gate_term *t = &in->gate->terms.items[i];
		_cleanup_(freep) char *text = term_text(t, in->comparison);

		if (t->result == GATE_PASS)
			continue;
		fputs(t->result == GATE_FAIL ? "::error " : "::warning ", out);
		if (t->result == GATE_FAIL)
			put_place(out, in->comparison);
		fputs("title=vprof gate::", out);
		put_escaped(out, text, false);
		if (t->result == GATE_INCONCLUSIVE && *text_needed(needed, in->gate, in->comparison))
			fprintf(out, "; %s", needed);
		fputc('\n', out);
	}
}

/* Writes a cell of a Markdown table, with all markup escaped. */
static void put_markdown(FILE *out, const char *text)
{
	_cleanup_(str_release) struct str clean = STR_INIT;

	utf8_add_xml(&clean, text);
	for (const char *c = str_cstr(&clean); *c; c++) {
		if (strchr("\\`*_{}[]#|~!", *c))
			fputc('\\', out);
		fputc(*c, out);
	}
}

static void put_metrics(FILE *out, const struct comparison *c)
{
	fputs("| | base | head | change | 95 % CI | verdict |\n|---|--:|--:|--:|---|---|\n", out);
	for (unsigned i = 0; i < METRIC_CNT; i++) {
		const struct compared_metric *m = &c->metrics[i];
		char base[TEXT_MAX], head[TEXT_MAX], change[TEXT_MAX], ci[TEXT_MAX];

		if (i == METRIC_VAR || !isfinite(m->of[SIDE_BASE]))	/* sd shows the same in a readable unit */
			continue;
		fprintf(out, "| %s | %s | %s | %s | %s | %s |\n", metric_name((enum metric)i),
			text_ns(base, m->of[SIDE_BASE], true), text_ns(head, m->of[SIDE_HEAD], true), text_change(change, m->ratio),
			text_change_ci95(ci, m->has_ci95, m->ci95), c->enough ? verdict_name(m->verdict) : c->by_host ? "of these hosts only" : "within these runs only");
	}
}

void diff_github_summary(FILE *out, const struct diff_input *in)
{
	enum { SHOWN = 5 };
	const struct comparison *c = in->comparison;
	_cleanup_(freep) char *sentence = diff_sentence(in, true);
	char needed[TEXT_MAX], percent[TEXT_MAX];

	fputs("### vprof: ", out);
	put_markdown(out, sentence);
	fputs("\n\n", out);
	put_metrics(out, c);
	fputs("\n| of the change of the variance | |\n|--:|---|\n", out);
	for (size_t i = 0; i < c->changes.cnt && i < SHOWN; i++) {
		_cleanup_(freep) char *label = change_label(&c->changes.items[i], true);

		if (!isfinite(c->changes.items[i].share_of_change))
			continue;
		fprintf(out, "| %s | ", text_percent(percent, c->changes.items[i].share_of_change));
		put_markdown(out, label);
		fputs(" |\n", out);
	}
	for (size_t i = 0; in->gate && i < in->gate->terms.cnt; i++) {
		_cleanup_(freep) char *text = term_text(&in->gate->terms.items[i], c);

		fputs("\n* ", out);
		put_markdown(out, text);
	}
	if (in->gate && *text_needed(needed, in->gate, c))
		fprintf(out, "\n* %s", needed);
	fputs("\n\n", out);
}

/* ---- JUnit ---- */

static size_t count_results(const struct gate *g, enum gate_result r)
{
	size_t cnt = 0;

	for (size_t i = 0; g && i < g->terms.cnt; i++)
		cnt += g->terms.items[i].result == r;
	return cnt;
}

static void put_case(FILE *out, const struct gate_term *t, const struct diff_input *in)
{
	_cleanup_(freep) char *text = term_text(t, in->comparison);
	char needed[TEXT_MAX];

	fputs("    <testcase classname=\"vprof.gate\" name=\"", out);
	utf8_put_xml(out, t->text);
	if (t->result == GATE_PASS) {
		fputs("\"/>\n", out);
		return;
	}
	fprintf(out, "\">\n      <%s message=\"", t->result == GATE_FAIL ? "failure" : "skipped");
	utf8_put_xml(out, text);
	if (t->result == GATE_INCONCLUSIVE && *text_needed(needed, in->gate, in->comparison))
		fprintf(out, "; %s", needed);
	fputs("\"/>\n    </testcase>\n", out);
}

void diff_junit(FILE *out, const struct diff_input *in)
{
	const struct gate *g = in->gate;
	size_t cnt = g ? g->terms.cnt : 0, failed = count_results(g, GATE_FAIL), skipped = count_results(g, GATE_INCONCLUSIVE);
	_cleanup_(freep) char *sentence = diff_sentence(in, true);

	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", out);
	fprintf(out, "<testsuites tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\">\n", cnt, failed, skipped);
	fprintf(out, "  <testsuite name=\"vprof diff\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n", cnt, failed,
		skipped);
	for (size_t i = 0; i < cnt; i++)
		put_case(out, &g->terms.items[i], in);
	fputs("    <system-out>", out);
	utf8_put_xml(out, sentence);
	fputs("</system-out>\n  </testsuite>\n</testsuites>\n", out);
}
