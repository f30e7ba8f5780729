/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * causal_svg.c - show causal as a picture: one panel a target, the speedup to the right, the change of the metric upwards.
 *
 * Points with their 95 % intervals are what was measured, the dashed line is the replay's prediction.  All panels have the same
 * scale, so that they can be compared.  Each point has its numbers as a <title>.
 */
#include <math.h>
#include <string.h>

#include "base/banned.h"
#include "base/text/utf8.h"
#include "report/views/causal_formats.h"

enum { PANEL_WIDTH = 260, PANEL_HEIGHT = 200, LEFT = 52, RIGHT = 14, TOP = 34, BOTTOM = 36, PANELS_A_ROW = 3, HEAD = 30 };

struct scale {
	double low, high;		/* per cent of change; 0 is between them */
	double x, y;			/* of the panel */
};

static double change(enum gain_metric m, double gain)
{
	return 100 * (m == GAIN_THROUGHPUT ? gain : -gain);
}

static double x_of(const struct scale *s, double speedup)
{
	return s->x + LEFT + speedup * (PANEL_WIDTH - LEFT - RIGHT);
}

static double y_of(const struct scale *s, double change_percent)
{
	return s->y + TOP + (s->high - change_percent) / (s->high - s->low) * (PANEL_HEIGHT - TOP - BOTTOM);
}

static void widen(struct scale *s, double x)
{
	if (!isfinite(x))
		return;
	s->low = fmin(s->low, x);
	s->high = fmax(s->high, x);
}

static struct scale scale_of(const struct experiments *e)
{
	struct scale s = { -5, 5, 0, 0 };

	for (size_t i = 0; i < e->list.cnt; i++) {
		const struct gain *g = &e->list.items[i].metrics[e->metric];

		if (g->known)
			widen(&s, change(e->metric, g->gain));
		if (g->has_ci95) {
			widen(&s, change(e->metric, g->ci95[0]));
			widen(&s, change(e->metric, g->ci95[1]));
		}
		if (g->has_predicted)
			widen(&s, change(e->metric, g->predicted));
	}
	s.low = floor(s.low / 10) * 10;
	s.high = ceil(s.high / 10) * 10;
	return s;
}

static void draw_axes(FILE *out, const struct scale *s, const char *title)
{
	double step = (s->high - s->low) / 4;

	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"title\">%s</text>\n", s->x + LEFT, s->y + TOP - 10, title);
	for (int i = 0; i <= 4; i++) {
		double v = s->low + i * step;

		fprintf(out,
			"<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/><text class=\"tick\" text-anchor=\"end\" "
			"x=\"%.1f\" y=\"%.1f\">%+.3g %%</text>\n", x_of(s, 0), x_of(s, 1), y_of(s, v), y_of(s, v), x_of(s, 0) - 4,
			y_of(s, v) + 4, v);
	}
	for (int i = 0; i <= 4; i++)
		fprintf(out, "<text class=\"tick\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">%d</text>\n", x_of(s, i / 4.0),
			y_of(s, s->low) + 16, 25 * i);
	fprintf(out, "<line class=\"zero\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", x_of(s, 0), x_of(s, 1), y_of(s, 0),
		y_of(s, 0));
}

static void draw_point(FILE *out, const struct scale *s, const struct experiment *x, enum gain_metric m)
{
	const struct gain *g = &x->metrics[m];
	double px = x_of(s, x->speedup), ends[] = { change(m, g->ci95[0]), change(m, g->ci95[1]) };
	double low = fmin(ends[0], ends[1]), high = fmax(ends[0], ends[1]);
	bool has_ends = g->has_ci95 && isfinite(low) && isfinite(high);

	if (!g->known || !isfinite(change(m, g->gain)))
		return;
	if (has_ends)
		fprintf(out, "<line class=\"bar\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", px, px, y_of(s, high),
			y_of(s, low));
	fprintf(out, "<circle class=\"point\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"><title>%.3g %% faster: %+.1f %%", px,
		y_of(s, change(m, g->gain)), 100 * x->speedup, change(m, g->gain));
	if (has_ends)
		fprintf(out, " (%+.1f to %+.1f)", low, high);
	fprintf(out, "</title></circle>\n");
}

/* From no speedup on, through the speedups in their order: that of the list. */
static void draw_prediction(FILE *out, const struct scale *s, const struct experiments *e, const char *target)
{
	bool begun = false;

	for (size_t i = 0; i < e->list.cnt; i++) {
		const struct experiment *x = &e->list.items[i];
		double predicted = change(e->metric, x->metrics[e->metric].predicted);

		if (strcmp(x->target, target) != 0 || !x->metrics[e->metric].has_predicted || !isfinite(predicted))
			continue;
		if (!begun)
			fprintf(out, "<path class=\"predicted\" d=\"M %.1f %.1f", x_of(s, 0), y_of(s, 0));
		begun = true;
		fprintf(out, " L %.1f %.1f", x_of(s, x->speedup), y_of(s, predicted));
	}
	if (begun)
		fprintf(out, "\"><title>predicted by a replay</title></path>\n");
}

static void draw_panel(FILE *out, const struct scale *s, const struct experiments *e, const struct experiment *first)
{
	_cleanup_(str_release) struct str title = STR_INIT;

	utf8_add_xml(&title, first->target);
	fprintf(out, "<g>\n");
	draw_axes(out, s, str_cstr(&title));
	draw_prediction(out, s, e, first->target);
	for (size_t i = 0; i < e->list.cnt; i++)
		if (strcmp(e->list.items[i].target, first->target) == 0)
			draw_point(out, s, &e->list.items[i], e->metric);
	fprintf(out, "</g>\n");
}

static void draw_head(FILE *out, const struct experiments *e, size_t panel_cnt)
{
	size_t rows = (panel_cnt + PANELS_A_ROW - 1) / PANELS_A_ROW, columns = panel_cnt < PANELS_A_ROW ? panel_cnt : PANELS_A_ROW;
	_cleanup_(freep) char *sentence = causal_sentence(e);
	_cleanup_(str_release) struct str clean = STR_INIT, interval = STR_INIT;

	utf8_add_xml(&clean, sentence);
	utf8_add_xml(&interval, e->interval ? e->interval : "the interval");
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" font-family=\"sans-serif\" font-size=\"11\">\n",
		(columns ? columns : 1) * PANEL_WIDTH, HEAD + rows * PANEL_HEIGHT);
	fprintf(out, "<title>%s</title>\n<style>.title{font-weight:bold}.tick{fill:#555}.grid{stroke:#ddd}.zero{stroke:#888}"
		".bar{stroke:#1f5fa8;stroke-width:2}.point{fill:#1f5fa8}.predicted{fill:none;stroke:#c05a00;stroke-width:1.5;"
		"stroke-dasharray:5 3}</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n", str_cstr(&clean));
	fprintf(out,
		"<text x=\"%d\" y=\"18\">change of the %s of %s, by per cent that the target is faster; dashed: predicted by a replay"
		"</text>\n", 8, gain_metric_name(e->metric), str_cstr(&interval));
}

void causal_svg(FILE *out, const struct view_input *in)
{
	const struct experiments *e = in->experiments;
	struct scale s = scale_of(e);
	size_t panels = 0;

	for (size_t i = 0; i < e->list.cnt; i++)
		panels += causal_is_first(e, i);
	draw_head(out, e, panels);
	panels = 0;
	for (size_t i = 0; i < e->list.cnt; i++) {
		if (!causal_is_first(e, i))
			continue;
		s.x = (double)(panels % PANELS_A_ROW) * PANEL_WIDTH;
		s.y = HEAD + (double)(panels / PANELS_A_ROW) * PANEL_HEIGHT;
		draw_panel(out, &s, e, &e->list.items[i]);
		panels++;
	}
	fprintf(out, "</svg>\n");
}
