/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_svg.c - `vprof export --format svg --view tree|latency|wait-graph|causal`: one picture, for a document.
 *
 *	tree		the variance tree from the top down: a box's width is its share, waits are drawn apart from code
 *	latency		how many intervals took how long, on a logarithmic scale
 *	wait-graph, causal	what `vprof show` draws
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/text/utf8.h"
#include "cmd/formats/export_format.h"
#include "cmd/formats/export_given.h"
#include "cmd/ranking.h"
#include "project/runs/digest_runs.h"
#include "project/runs/project.h"
#include "report/report.h"
#include "report/words/sentence.h"

enum { WIDTH = 1000, ROW = 20, LETTER = 7, BINS = 60, PLOT = 300 };

static void begin(FILE *out, int height, const char *title)
{
	fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n<title>", WIDTH, height, WIDTH, height);
	utf8_put_xml(out, title);
	fprintf(out, "</title>\n<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n<text x=\"4\" y=\"15\">", WIDTH, height);
	utf8_put_xml(out, title);
	fputs("</text>\n", out);
}

/* ---- tree ---- */

struct box {
	double x, width;
	unsigned depth;
};

/* A negative share has no width.  Children whose sum exceeds their parent's width share that width. */
static void place_boxes(const struct findings *f, struct box *ret, unsigned *ret_depth)
{
	_cleanup_(freep) double *sums = xcalloc(f->nodes.cnt + 1, sizeof(*sums)), *used = xcalloc(f->nodes.cnt + 1, sizeof(*used));

	for (size_t i = 1; i < f->nodes.cnt; i++)
		sums[f->nodes.items[i].parent] += fmax(0, f->nodes.items[i].share);
	*ret_depth = 0;
	ret[0] = (struct box){ 0, WIDTH, 0 };
	for (size_t i = 1; i < f->nodes.cnt; i++) {
		const struct node *n = &f->nodes.items[i];
		double whole = fmax(sums[n->parent], fmax(0, f->nodes.items[n->parent].share));

		ret[i].x = ret[n->parent].x + used[n->parent];
		ret[i].width = whole > 0 ? ret[n->parent].width * fmax(0, n->share) / whole : 0;
		ret[i].depth = ret[n->parent].depth + 1;
		used[n->parent] += ret[i].width;
		if (ret[i].width >= 1 && ret[i].depth > *ret_depth)
			*ret_depth = ret[i].depth;
	}
}

static void put_box(FILE *out, const struct findings *f, const struct node *n, const struct box *b)
{
	_cleanup_(freep) char *label = n->kind == NODE_INTERVAL ? xstrdup(f->interval.name) : node_label(n, true);
	_cleanup_(str_release) struct str shown = STR_INIT;
	const char *colour = n->kind == NODE_WAIT ? "#d55e00" : n->kind == NODE_BLAME ? "#e69f00" : "#56b4e9";
	double y = 24 + ROW * b->depth;

	fprintf(out, "<g><title>");
	utf8_put_xml(out, label);
	fprintf(out, ": %.2f %% of the variance</title><rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" fill=\"%s\" "
		"stroke=\"#ffffff\"/>", 100 * n->share, b->x, y, b->width, ROW - 1, colour);
	if (b->width >= 4 * LETTER) {
		utf8_add_shortened(&shown, label, (size_t)(b->width / LETTER), "…");
		fprintf(out, "<text x=\"%.2f\" y=\"%.0f\">", b->x + 3, y + 14);
		utf8_put_xml(out, str_cstr(&shown));
		fputs("</text>", out);
	}
	fputs("</g>\n", out);
}

static void write_tree(FILE *out, const struct findings *f)
{
	_cleanup_(freep) struct box *boxes = xcalloc(f->nodes.cnt + 1, sizeof(*boxes));
	_cleanup_(freep) char *title = xasprintf("variance of the latency of %s: %" PRIu64 " intervals", f->interval.name, f->interval.cnt);
	unsigned depth;

	place_boxes(f, boxes, &depth);
	begin(out, 24 + ROW * ((int)depth + 1) + 4, title);
	for (size_t i = 0; i < f->nodes.cnt; i++)
		if (boxes[i].width >= 1)
			put_box(out, f, &f->nodes.items[i], &boxes[i]);
	fputs("</svg>\n", out);
}

/* ---- latency ---- */

static void count_bins(const struct findings *f, double low, double step, size_t bins[BINS], size_t *ret_most)
{
	*ret_most = 1;
	for (size_t i = 0; i < f->intervals.cnt; i++) {
		const struct interval_row *r = &f->intervals.items[i];
		double at = (log(fmax(1, (double)(r->end_ns - r->start_ns))) - low) / step;
		size_t bin = at < 0 ? 0 : at >= BINS ? BINS - 1 : (size_t)at;

		if (r->root_only)
			continue;
		bins[bin]++;
		*ret_most = bins[bin] > *ret_most ? bins[bin] : *ret_most;
	}
}

static void put_mark(FILE *out, const char *name, double ns, double low, double step)
{
	double x = WIDTH * (log(fmax(1, ns)) - low) / step / BINS;
	char text[TEXT_MAX];

	fprintf(out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"30\" y2=\"%d\" stroke=\"#d55e00\"/><text x=\"%.1f\" y=\"42\" text-anchor=\"%s\">%s %s</text>\n",
		x, x, 30 + PLOT, x > WIDTH / 2 ? x - 3 : x + 3, x > WIDTH / 2 ? "end" : "start", name, text_ns(text, ns, true));
}

static void write_latency(FILE *out, const struct findings *f)
{
	const struct interval_summary *iv = &f->interval;
	_cleanup_(freep) char *title = xasprintf("latency of %s: %" PRIu64 " intervals, logarithmic", iv->name, iv->cnt);
	double low = log(fmax(1, (double)iv->min_ns)), high = log(fmax(1, (double)iv->max_ns) * 1.001 + 1), step = (high - low) / BINS;
	size_t bins[BINS] = { 0 }, most;
	char from[TEXT_MAX], to[TEXT_MAX];

	count_bins(f, low, step, bins, &most);
	begin(out, PLOT + 60, title);
	for (unsigned b = 0; b < BINS; b++) {
		double height = PLOT * (double)bins[b] / (double)most;

		fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"#56b4e9\"><title>%s to %s: %zu</title></rect>\n",
			(double)WIDTH * b / BINS, 30 + PLOT - height, (double)WIDTH / BINS - 1, height,
			text_ns(from, exp(low + step * b), true), text_ns(to, exp(low + step * (b + 1)), true), bins[b]);
	}
	put_mark(out, "p50", (double)iv->p50_ns, low, step);
	put_mark(out, "p99", (double)iv->p99_ns, low, step);
	fprintf(out, "<text x=\"4\" y=\"%d\">%s</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n</svg>\n", PLOT + 50,
		text_ns(from, (double)iv->min_ns, true), WIDTH - 4, PLOT + 50, text_ns(to, (double)iv->max_ns, true));
}

/* ---- the format ---- */

static bool is_latency(const struct export_input *in)
{
	return in->view && strcmp(in->view, "latency") == 0;
}

static bool is_waits(const struct export_input *in)
{
	return in->view && strcmp(in->view, "wait-graph") == 0;
}

static bool is_causal(const struct export_input *in)
{
	return in->view && strcmp(in->view, "causal") == 0;
}

static int check(const struct export_input *in, struct diag *reterr)
{
	_cleanup_(freep) char *what = xasprintf("export --format svg --view %s", in->view ? in->view : "tree");

	if ((is_latency(in) || is_waits(in)) && in->is_digest)
		return run_digest_refuse(in->run, what, reterr);
	if ((is_waits(in) || is_causal(in)) && export_interval)
		return diag_set(reterr, EXIT_USAGE, -EINVAL, "export: --view %s has no --interval", in->view);
	if (!in->view || strcmp(in->view, "tree") == 0 || is_latency(in) || is_waits(in) || is_causal(in))
		return 0;
	diag_set(reterr, EXIT_USAGE, -EINVAL, "export: --view is tree, latency, wait-graph or causal, not '%s'", in->view);
	return diag_remedy(reterr, -EINVAL, "vprof export --format svg --view tree");
}

/* ---- what a view of vprof show draws ---- */

static bool is_view(const struct export_input *in)
{
	return is_waits(in) || is_causal(in);
}

static int write_view(FILE *out, struct store *s, const struct export_input *in, struct diag *reterr)
{
	_cleanup_(trace_freep) struct trace *t = NULL;
	const struct view *v = view_find(in->view);
	struct view_input shown = { .run = in->run };
	struct experiments *experiments = NULL;
	void *made = NULL;
	int r = ranking_take(UINT_MAX, NAN, reterr);

	if (r == 0)
		r = is_waits(in) ? run_trace_read(s, in->run, &t, reterr) : experiments_read(s, in->run->number, &experiments, reterr);
	shown.options = view_given;
	shown.trace = t;
	shown.experiments = experiments;
	if (r == 0)
		r = v->make(&shown, &made, reterr);
	shown.made = made;
	if (r == 0)
		v->svg(out, &shown);
	if (made)
		v->release(made);
	experiments_free(experiments);
	return r;
}

static int write_svg(FILE *out, const struct export_input *in)
{
	if (is_latency(in))
		write_latency(out, in->findings);
	else
		write_tree(out, in->findings);
	return 0;
}

static const struct export_writer writer = { .check = check, .write = write_svg, .is_of_run = is_view, .write_run = write_view };

const struct export_format export_svg = {
	.name = "svg", .writer = &writer, .takes_interval = true,
	.options = export_view_options, .has_options = export_view_given,
};
