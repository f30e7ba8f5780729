/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * page.c - the HTML file: head, sections, data, scripts.
 *
 * Names come from other people's programs.  The page's text has them escaped, its data has each '<' as \u003c, so no name can end
 * an element, and the scripts put them into text nodes only.  Should one of these fail, the Content-Security-Policy still runs
 * nothing but the one script whose hash it names, and loads nothing at all.
 */
#include <string.h>

#include "base/banned.h"
#include "base/text/utf8.h"
#include "report/page/sections.h"
#include "report/words/sentence.h"

/* Generated from report/html/ at build time. */
static const char page_style[] =
#include "report/page/style.inc"
	;
static const char page_script[] =
#include "report/page/script.inc"
	;
static const char page_method[] =
#include "report/page/method.inc"
	;
static const char page_policy[] =
#include "report/page/policy.inc"
	;

static const struct page_section *const sections[] = {
#define X(name) &section_##name,
	PAGE_SECTIONS(X)
#undef X
};

/* The name of each state, for the scripts. */
static json_t *waits_json(void)
{
	json_t *o = json_object();

	for (unsigned state = 0; state < STATE_CNT; state++)
		json_set(o, trace_state_name(state), json_string(wait_text(state)));
	return o;
}

/* ---- HTML ---- */

/* In JSON, '<' occurs only in strings. */
static void write_data(FILE *out, const json_t *data)
{
	size_t len;
	_cleanup_(freep) char *text = json_compact_text(data, &len);

	for (const char *at = text; *at; at++)
		if (*at == '<')
			fputs("\\u003c", out);
		else
			fputc(*at, out);
}

static void write_head(FILE *out, const struct page_document *d)
{
	fprintf(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"vprof ", page_policy);
	utf8_put_xml(out, d->version);
	fputs("\">\n<title>", out);
	utf8_put_xml(out, d->title);
	fprintf(out, "</title>\n<style>%s</style>\n</head>\n", page_style);
}

/* The sentence is readable without scripts. */
static void write_section(FILE *out, const struct page_document *d, const char *id, const char *title)
{
	fprintf(out, "<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">%s</h2>\n", id, id, id, title);
	if (strcmp(id, section_verdict.id) == 0) {
		fputs("<p class=\"sentence\">", out);
		utf8_put_xml(out, d->sentence);
		fputs("</p>\n<noscript><p class=\"note\">The figures below need JavaScript, which is off here.</p></noscript>\n", out);
	}
	if (strcmp(id, section_method.id) == 0)
		fputs(page_method, out);
	fputs("</section>\n", out);
}

void page_write_document(FILE *out, const struct page_document *d)
{
	json_t *document = json_document("report");

	write_head(out, d);
	fputs("<body>\n<header id=\"top\"></header>\n<main>\n", out);
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (json_object_get(d->data, sections[i]->id))
			write_section(out, d, sections[i]->id, sections[i]->title);
	fputs("</main>\n", out);
	json_set(document, "compares", json_boolean(d->compares));
	json_set(document, "waits", waits_json());
	json_set(document, "sections", d->data);
	fputs("<script type=\"application/json\" id=\"vprof-data\">", out);
	write_data(out, document);
	fprintf(out, "</script>\n<script>%s</script>\n</body>\n</html>\n", page_script);
	json_decref(document);
}

void page_write(FILE *out, const struct page_input *in)
{
	_cleanup_(freep) char *sentence = sentence_text(in->view.findings, &in->view.options.ranking, true);
	_cleanup_(freep) char *title = xasprintf("%s: latency variance, run %u", in->view.findings->interval.name, in->view.run->number);
	struct page_document d = { .title = title, .sentence = sentence, .version = in->version, .data = json_object() };

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		struct diag ignored = DIAG_INIT;
		json_t *part = sections[i]->data(in, &ignored);

		if (part)
			json_set(d.data, sections[i]->id, part);
	}
	page_write_document(out, &d);
}
