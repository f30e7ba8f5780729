/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wait_graph_svg.c - the wait-for graph as a picture: a row a thread or device, arcs from who waits to who is waited for.
 *
 * An arc is as thick as the wait is long; those of knots are red, those up to the threshold dashed, as in DOT.  To the right is what
 * each vertex did: ran, was ready, waited.  It has the vertices of the heaviest edges, and all edges between them that are
 * above the prefilter; --all adds the others.  Each arc has its numbers as a <title>.
 */
#include <stdlib.h>

#include "base/banned.h"
#include "base/text/utf8.h"
#include "report/views.h"
#include "report/whole_run/wait_labels.h"

enum { WIDTH = 1000, ROW = 30, HEAD = 44, ARCS = 200, NAMES = 360, LETTER = 7, MOST = 40 };

struct picture {
	FILE *out;
	const struct wait_graph *g;
	const uint64_t *knot;		/* by edge: the knot it is in + 1, or 0 */
	uint32_t *rows;			/* by vertex; UINT32_MAX: not drawn */
	uint32_t *vertices;		/* by row */
	uint32_t row_cnt;
	bool all;
};

static bool is_drawn(const struct picture *p, const struct wait_edge *e)
{
	return (p->all || !e->prefiltered) && p->rows[e->from] != UINT32_MAX && p->rows[e->to] != UINT32_MAX;
}

/* Whether it is of a knot, not of a sink or of the background. */
static bool in_knot(const struct picture *p, size_t edge)
{
	const struct wait_knot *k = p->knot[edge] ? &p->g->knots.items[p->knot[edge] - 1] : NULL;

	return k && !k->sink && !k->background;
}

static void add_row(struct picture *p, uint32_t vertex)
{
	if (p->rows[vertex] != UINT32_MAX || (p->row_cnt == MOST && !p->all))
		return;
	p->rows[vertex] = p->row_cnt;
	p->vertices[p->row_cnt++] = vertex;
}

/* Knots first, their members side by side; then the heaviest edges' ends. */
static void choose_rows(struct picture *p)
{
	const struct wait_graph *g = p->g;

	for (uint32_t i = 0; i < g->vertices.cnt; i++)
		p->rows[i] = UINT32_MAX;
	for (size_t k = 0; k < g->knots.cnt; k++)
		for (size_t i = 0; i < g->knots.items[k].vertices.cnt && !g->knots.items[k].sink && !g->knots.items[k].background; i++)
			add_row(p, g->knots.items[k].vertices.items[i]);
	for (size_t i = 0; i < g->edges.cnt; i++) {
		if (g->edges.items[i].prefiltered && !p->all)
			continue;
		add_row(p, g->edges.items[i].from);
		add_row(p, g->edges.items[i].to);
	}
	for (uint32_t i = 0; i < g->vertices.cnt; i++)
		if (p->all || !g->edges.cnt)
			add_row(p, i);
}

static void begin(struct picture *p)
{
	const struct wait_graph *g = p->g;
	int height = HEAD + ROW * (int)p->row_cnt + 8;
	char text[TEXT_MAX];

	fprintf(p->out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n<title>who waits for whom in %s</title>\n"
		"<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", WIDTH, height, WIDTH, height,
		text_ns(text, (double)g->run_ns, true), WIDTH, height);
	fprintf(p->out, "<text x=\"4\" y=\"15\">who waits for whom%s%s: an arc leads to the thread that is waited for; %s; red: a knot</text>\n"
		"<text x=\"%d\" y=\"34\" fill=\"#0072b2\">ran</text><text x=\"%d\" y=\"34\" fill=\"#b8860b\">ready, no CPU</text>"
		"<text x=\"%d\" y=\"34\" fill=\"#d55e00\">waited</text>\n", g->compares ? ", slow intervals of " : " in ",
		text_ns(text, (double)g->run_ns, true), "dashed: up to the threshold", NAMES + ARCS, NAMES + ARCS + 40, NAMES + ARCS + 140);
}

static void put_arc(struct picture *p, size_t edge, int64_t most_ns)
{
	const struct wait_graph *g = p->g;
	const struct wait_edge *e = &g->edges.items[edge];
	_cleanup_(str_release) struct str from = STR_INIT, to = STR_INIT, title = STR_INIT;
	const char *colour = in_knot(p, edge) ? "#d00000" : "#555555";
	double y1 = HEAD + ROW * (p->rows[e->from] + 0.5) + 3, y2 = HEAD + ROW * (p->rows[e->to] + 0.5) - 3;
	double apart = p->rows[e->from] > p->rows[e->to] ? p->rows[e->from] - p->rows[e->to] : p->rows[e->to] - p->rows[e->from];
	double reach = 14 + apart * 14 < ARCS - 8 ? 14 + apart * 14 : ARCS - 8, width = 1 + 5 * (double)e->weight_ns / (double)most_ns;
	char text[TEXT_MAX], direct[TEXT_MAX];

	add_vertex_label(&from, &g->vertices.items[e->from]);
	add_vertex_label(&to, &g->vertices.items[e->to]);
	str_addf(&title, "%s waits for %s: %s (%s of it itself)", str_cstr(&from), str_cstr(&to),
		 text_ns(text, (double)e->weight_ns, true), text_ns(direct, (double)e->direct_ns, true));
	fprintf(p->out, "<path d=\"M%d %.1fC%.1f %.1f %.1f %.1f %d %.1f\" fill=\"none\" stroke=\"%s\" stroke-width=\"%.2f\"%s><title>",
		ARCS, y1, ARCS - reach, y1, ARCS - reach, y2, ARCS - 6, y2, colour, width,
		e->weight_ns > g->threshold_ns ? "" : " stroke-dasharray=\"4 3\"");
	utf8_put_xml(p->out, str_cstr(&title));
	fprintf(p->out, "</title></path><path d=\"M%d %.1fl8 4l-8 4z\" fill=\"%s\"/>\n", ARCS - 9, y2 - 4, colour);
}

static void put_bar(struct picture *p, const struct wait_vertex *v, double y)
{
	const struct { const char *name, *colour; int64_t ns; } parts[] = {
		{ "ran", "#0072b2", v->running_ns }, { "ready, no CPU", "#e6b800", v->runnable_ns }, { "waited", "#d55e00", v->waiting_ns },
	};
	double all = (double)v->running_ns + (double)v->runnable_ns + (double)v->waiting_ns, x = ARCS + NAMES;
	char text[TEXT_MAX];

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && all > 0; i++) {
		double width = (WIDTH - 4 - ARCS - NAMES) * (double)parts[i].ns / all;

		if (width > 0)
			fprintf(p->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"12\" fill=\"%s\"><title>%s %s</title></rect>", x,
				y - 6, width, parts[i].colour, parts[i].name, text_ns(text, (double)parts[i].ns, true));
		x += width > 0 ? width : 0;
	}
}

static void put_vertex(struct picture *p, uint32_t row)
{
	const struct wait_vertex *v = &p->g->vertices.items[p->vertices[row]];
	_cleanup_(str_release) struct str label = STR_INIT, shown = STR_INIT;
	double y = HEAD + ROW * (row + 0.5);

	add_vertex_label(&label, v);
	utf8_add_shortened(&shown, str_cstr(&label), (NAMES - 16) / LETTER, "…");
	fprintf(p->out, "<g><text x=\"%d\" y=\"%.1f\">", ARCS + 6, y + 4);
	utf8_put_xml(p->out, str_cstr(&shown));
	fputs("</text>", p->out);
	put_bar(p, v, y);
	fputs("</g>\n", p->out);
}

void wait_graph_svg(FILE *out, const struct view_input *in)
{
	const struct wait_graph *g = in->made;
	_cleanup_(freep) uint64_t *knot = wait_knot_of_edges(g);
	_cleanup_(freep) uint32_t *rows = xcalloc(g->vertices.cnt + 1, sizeof(*rows)), *vertices = xcalloc(g->vertices.cnt + 1, sizeof(*vertices));
	struct picture p = { .out = out, .g = g, .knot = knot, .rows = rows, .vertices = vertices, .all = in->options.ranking.all };
	int64_t most_ns = 1;

	choose_rows(&p);
	begin(&p);
	for (size_t i = 0; i < g->edges.cnt; i++)
		if (is_drawn(&p, &g->edges.items[i]) && g->edges.items[i].weight_ns > most_ns)
			most_ns = g->edges.items[i].weight_ns;
	for (size_t i = g->edges.cnt; i > 0; i--)		/* the heaviest on top */
		if (is_drawn(&p, &g->edges.items[i - 1]))
			put_arc(&p, i - 1, most_ns);
	for (uint32_t i = 0; i < p.row_cnt; i++)
		put_vertex(&p, i);
	fputs("</svg>\n", out);
}
