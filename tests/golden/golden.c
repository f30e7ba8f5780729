/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * golden.c - checks a trace in tuple form against the answers written in it.
 *
 *	golden FILE...
 *
 * In a file, "#? QUESTION" is followed by its answer, a line each behind "#= "; the tuple reader
 * takes both for comments.  Example:
 *
 *	#? path 1
 *	#= 1 10 20 running 0
 *	#= 2 20 50 running 1 hold
 *
 * Questions:
 *	path SID		TID START END STATE DEPTH FRAME...
 *	table waiter|waker	SID LABEL NS
 *	tree			PATH mean M var V share S		(of the first name, or `use NAME`)
 *	node PATH		mean M var V share S calls C presence P [open] [site S]
 *	cov			PARENT: A, B cov C share S
 *	factors [paper] [all] [k=N] [d=X]	NAME share S own O paper P h H spec Q score R
 *	factor NAME		mean M tail T|- [open] [sites ...]
 *	parts NAME		own O shared S gain G presence P
 *	slow Q			PART slow S fast F share S, of each part
 *	pairs			A, B [across] [in (F, G)] cov C share S, of parts; then PART own O other R, of each
 *	because NAME		FUNCTION share S
 *	before			n N mean M sd S p99 P; then FUNCTION share S
 *	causes			PEER|FUNCTION|?|(DEVICE)|runqueue how H [wait W] share S mean M, each
 *	summary			n N mean M var V p50 .. p90 .. p99 .. min .. max .. dropped O A B L
 *	heights			H
 *	warnings		CODE
 *	root-only SID...	(no answer; from here on these intervals are)
 *	error			the message of the reader, for a file that is damaged
 *	probing			root-only N mean M var V p50 .. p99 .. max .. [cost C LOW HIGH [var C LOW HIGH]]
 *	export			the trace as it is written
 *	waits, knots, ...	see golden_whole.c
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "analysis/analyze.h"
#include "analysis/tree/execution_table.h"
#include "analysis/path/explain.h"
#include "base/file.h"
#include "base/str.h"
#include "tests/golden/golden.h"
#include "trace/tuples/tuples.h"
#include "base/banned.h"

static char *interval_name;		/* set by `use NAME` */

static double no_minus_zero(double x)
{
	return x > -0.00005 && x < 0.00005 ? 0 : x;
}

static void label_node(const struct findings *f, uint32_t id, struct str *s)
{
	const struct node *n = &f->nodes.items[id];

	if (n->parent != NODE_NONE) {
		label_node(f, n->parent, s);
		str_add(s, " > ");
	}
	switch (n->kind) {
	case NODE_INTERVAL:
		str_add(s, f->interval.name);
		break;
	case NODE_FUNCTION:
		str_add(s, n->function);
		break;
	case NODE_BODY:
		str_add(s, "body");
		break;
	case NODE_WAIT:
		str_addf(s, "wait:%s", trace_state_name(n->wait));
		break;
	case NODE_BLAME:
		str_addf(s, "by %s", n->function ? n->function : "?");
		if (n->is_wait)
			str_addf(s, "/%s", trace_state_name(n->wait));
		if (n->device)
			str_addf(s, " (%s)", n->device);
		break;
	}
	if (n->call_site)
		str_addf(s, "@%s", n->call_site);
}

static struct findings *findings_of(struct trace *t, struct str *out)
{
	struct analyze_options o = { .interval = interval_name };
	struct findings *f = NULL;
	int r = analyze(t, &o, &f);

	if (r < 0)
		str_addf(out, "error %s\n", r == -ENOENT ? "ENOENT" : "other");
	return f;
}

static void answer_path(struct trace *t, const char *argument, struct str *out)
{
	_cleanup_(arena_freep) struct arena *a = arena_new();
	path_pieces path = { NULL, 0, 0 };
	int r = explain_interval(t, strtoull(argument, NULL, 10), a, &path);

	if (r < 0)
		str_addf(out, "error %s\n", r == -ENOENT ? "ENOENT" : "other");
	for (size_t i = 0; i < path.cnt; i++) {
		const struct path_piece *p = &path.items[i];

		str_addf(out, "%" PRIu64 " %" PRId64 " %" PRId64 " %s %" PRIu32, p->tid, p->start_ns,
			 p->end_ns, trace_state_name(p->state), p->depth);
		for (size_t j = 0; j < p->frame_cnt; j++)
			str_addf(out, " %s", p->frames[j]);
		str_addc(out, '\n');
	}
	VEC_RELEASE(&path);
}

static void answer_table(struct trace *t, const char *argument, struct str *out)
{
	execution_rows rows = { NULL, 0, 0 };

	execution_table(t, interval_name,
			strcmp(argument, "waker") == 0 ? CHARGE_WAKER : CHARGE_WAITER, &rows);
	for (size_t i = 0; i < rows.cnt; i++)
		str_addf(out, "%" PRIu64 " %s %" PRId64 "\n", rows.items[i].sid, rows.items[i].label,
			 rows.items[i].nanoseconds);
	VEC_RELEASE(&rows);
}

static void answer_tree(struct trace *t, const char *argument, struct str *out)
{
	_cleanup_(findings_freep) struct findings *f = findings_of(t, out);

	(void)argument;
	for (uint32_t i = 0; f && i < f->nodes.cnt; i++) {
		const struct node *n = &f->nodes.items[i];

		label_node(f, i, out);
		if (n->put_aside)
			str_addf(out, " between %s and %s", n->put_aside, n->taken_up);
		str_addf(out, " mean %.10g var %.10g share %.4f\n", n->mean_ns, n->variance_ns2,
			 no_minus_zero(n->share));
	}
}

static void answer_node(struct trace *t, const char *argument, struct str *out)
{
	_cleanup_(findings_freep) struct findings *f = findings_of(t, out);

	for (uint32_t i = 0; f && i < f->nodes.cnt; i++) {
		_cleanup_(str_release) struct str label = STR_INIT;
		const struct node *n = &f->nodes.items[i];

		label_node(f, i, &label);
		if (strcmp(str_cstr(&label), argument) != 0)
			continue;
		str_addf(out, "mean %.10g var %.10g share %.4f calls %g presence %g%s\n", n->mean_ns,
			 n->variance_ns2, no_minus_zero(n->share), n->calls_per_interval,
			 n->presence, n->open ? " open" : "");
	}
}

static void answer_cov(struct trace *t, const char *argument, struct str *out)
{
	_cleanup_(findings_freep) struct findings *f = findings_of(t, out);

	(void)argument;
	for (size_t i = 0; f && i < f->covariances.cnt; i++) {
		const struct covariance *c = &f->covariances.items[i];

		label_node(f, c->a, out);
		str_add(out, ", ");
		label_node(f, c->b, out);
		str_addf(out, " cov %.10g share %.4f\n", c->covariance_ns2, no_minus_zero(c->share));
	}
}

static void label_factor(const struct factor *x, struct str *s)
{
	if (x->kind == FACTOR_PAIR)
		str_addf(s, "(%s, %s)", x->functions[0], x->functions[1]);
	else if (x->kind == FACTOR_WAIT)
		str_addf(s, "%s%swait:%s", x->function ? x->function : "", x->function ? " > " : "",
			 trace_state_name(x->wait));
	else if (x->kind == FACTOR_BODY)
		str_addf(s, "%s%sbody", x->function ? x->function : "", x->function ? " > " : "");
	else
		str_add(s, x->function);
}

static void answer_factors(struct trace *t, const char *argument, struct str *out)
{
	_cleanup_(findings_freep) struct findings *f = findings_of(t, out);
	struct select_options o = { FACTORS_K_DEFAULT, FACTORS_THRESHOLD_DEFAULT, false, false };
	_cleanup_(freep) uint32_t *order = NULL;
	const char *word;
	size_t cnt;

	if (!f)
		return;
	o.paper = strstr(argument, "paper") != NULL;
	o.all = strstr(argument, "all") != NULL;
	word = strstr(argument, "k=");
	if (word)
		o.k = (uint32_t)strtoul(word + 2, NULL, 10);
	word = strstr(argument, "d=");
	if (word)
		o.threshold = strtod(word + 2, NULL);
	cnt = factors_select(f, &o, &order);
	for (size_t i = 0; i < cnt; i++) {
		const struct factor *x = &f->factors.items[order[i]];

		label_factor(x, out);
		str_addf(out, " share %.4f own %.4f paper %.4f h %" PRIu32 " spec %g score %.4f\n",
			 no_minus_zero(x->share), no_minus_zero(x->variance_share),
			 no_minus_zero(x->paper_contribution), x->height, x->specificity,
			 no_minus_zero(o.paper ? x->paper_score : x->score));
	}
}

static const struct factor *find_factor(const struct findings *f, const char *name)
{
	for (size_t i = 0; i < f->factors.cnt; i++) {
		_cleanup_(str_release) struct str label = STR_INIT;

		label_factor(&f->factors.items[i], &label);
		if (strcmp(str_cstr(&label), name) == 0)
			return &f->factors.items[i];
	}
	return NULL;
}

static void answer_factor(struct trace *t, const char *argument, struct str *out)
{
	_cleanup_(findings_freep) struct findings *f = findings_of(t, out);
	const struct factor *x = f ? find_factor(f, argument) : NULL;

	if (!x) {
		str_add(out, "none\n");
		return;
	}
	str_addf(out, "mean %.10g tail ", x->mean_ns);
	if (x->has_tail)
		str_addf(out, "%.4f", no_minus_zero(x->tail_share));
	else
		str_addc(out, '-');
	str_addf(out, "%s%s", x->open ? " open" : "", x->call_sites.cnt ? " sites" : "");
	for (size_t i = 0; i < x->call_sites.cnt; i++)
		str_addf(out, " %s", x->call_sites.items[i]);
	str_addc(out, '\n');
}

static void answer_parts(struct trace *t, const char *argument, struct str *out)
{
	_cleanup_(findings_freep) struct findings *f = findings_of(t, out);
	const struct factor *x = f ? find_factor(f, argument) : NULL;

	if (x)
		str_addf(out, "own %.4f shared %.4f gain %.4f presence %g\n", no_minus_zero(x->variance_share),
			 no_minus_zero(x->share - x->variance_share), no_minus_zero(factor_gain(x)),
			 x->presence);
}

static void add_part(const struct part *p, struct str *out)
{
	str_addf(out, "%s%s%s", p->function ? p->function : "",
		 p->is_wait ? p->function ? " > wait:" : "wait:" : p->function ? "" : "body",
		 p->is_wait ? trace_state_name(p->wait) : "");
}

/* argument: the quantile. */
static void answer_slow(struct trace *t, const char *argument, struct str *out)
{
	struct analyze_options o = { .interval = interval_name, .quantile = strtod(argument, NULL) };
	_cleanup_(findings_freep) struct findings *f = NULL;

	if (analyze(t, &o, &f) < 0)
		return;
	str_addf(out, "slow %" PRIu64 " mean %.10g fast %" PRIu64 " mean %.10g\n", f->tail.cnt, f->tail.mean_ns,
		 f->tail.fast_cnt, f->tail.fast_mean_ns);
	for (size_t i = 0; i < f->parts.cnt; i++) {
		const struct part *p = &f->parts.items[i];

		add_part(p, out);
		str_addf(out, " slow %.10g fast %.10g share %.4f\n", p->slow_mean_ns, p->fast_mean_ns,
			 no_minus_zero(p->share));
	}
}

static void answer_pairs(struct trace *t, const char *argument, struct str *out)
{
	_cleanup_(findings_freep) struct findings *f = findings_of(t, out);

	(void)argument;
	for (size_t i = 0; f && i < f->part_pairs.cnt; i++) {
		const struct part_pair *p = &f->part_pairs.items[i];
		const struct factor *within = p->within == NODE_NONE ? NULL : &f->factors.items[p->within];

		str_addf(out, "%s, %s%s", p->labels[0], p->labels[1], p->across ? " across" : "");
		if (within)
			str_addf(out, " in (%s, %s)", within->functions[0], within->functions[1]);
		str_addf(out, " cov %.10g share %.4f\n", p->covariance_ns2, no_minus_zero(p->share));
	}
	for (size_t i = 0; f && i < f->parts.cnt; i++) {
		add_part(&f->parts.items[i], out);
		str_addf(out, " own %.6f other %.6f\n", f->parts.items[i].variance_share,
			 no_minus_zero(f->parts.items[i].other_pairs));
	}
}

static void answer_because(struct trace *t, const char *argument, struct str *out)
{
	_cleanup_(findings_freep) struct findings *f = findings_of(t, out);
	const struct factor *x = f ? find_factor(f, argument) : NULL;

	for (size_t i = 0; x && i < x->because_of.cnt; i++) {
		const struct because *b = &x->because_of.items[i];

		str_addf(out, "%s%s%s", b->function ? b->function : "?", b->is_wait ? "/" : "",
			 b->is_wait ? trace_state_name(b->wait) : "");
		if (b->device)
			str_addf(out, " (%s)", b->device);
		str_addf(out, " share %.4f\n", no_minus_zero(b->share));
	}
}

static void answer_before(struct trace *t, const char *argument, struct str *out)
{
	_cleanup_(findings_freep) struct findings *f = findings_of(t, out);

	(void)argument;
	if (!f)
		return;
	str_addf(out, "n %" PRIu64 " mean %.10g sd %.10g p99 %" PRId64 "\n", f->before.cnt, f->before.mean_ns, f->before.sd_ns,
		 f->before.p99_ns);
	for (size_t i = 0; i < f->before.by.cnt; i++)
		str_addf(out, "%s share %.4f\n", f->before.by.items[i].function ? f->before.by.items[i].function : "?",
			 no_minus_zero(f->before.by.items[i].share));
}

static void answer_causes(struct trace *t, const char *argument, struct str *out)
{
	_cleanup_(findings_freep) struct findings *f = findings_of(t, out);

	(void)argument;
	for (size_t i = 0; f && i < f->causes.cnt; i++) {
		const struct summed_cause *c = &f->causes.items[i];

		str_addf(out, "%s how %s", !c->known ? "?" : c->peer ? c->peer : c->function ? c->function : c->device ? c->device : "-", cause_how_name(c->how));
		if (c->is_wait && c->known)
			str_addf(out, " wait %s", trace_state_name(c->wait));
		str_addf(out, " share %.4f mean %.10g\n", no_minus_zero(c->share), c->mean_ns);
	}
}

static void answer_summary(struct trace *t, const char *argument, struct str *out)
{
	_cleanup_(findings_freep) struct findings *f = findings_of(t, out);
	const struct interval_summary *s;

	(void)argument;
	if (!f)
		return;
	s = &f->interval;
	str_addf(out, "n %" PRIu64 " mean %.10g var %.10g p50 %" PRId64 " p90 %" PRId64 " p99 %" PRId64
		 " min %" PRId64 " max %" PRId64 " dropped %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		 "\n", s->cnt, s->mean_ns, s->variance_ns2, s->p50_ns, s->p90_ns, s->p99_ns, s->min_ns,
		 s->max_ns, s->dropped_open, s->dropped_aborted, s->dropped_bad_path,
		 s->dropped_lost);
}

static void answer_heights(struct trace *t, const char *argument, struct str *out)
{
	_cleanup_(findings_freep) struct findings *f = findings_of(t, out);

	(void)argument;
	if (f)
		str_addf(out, "H %" PRIu32 "\n", f->root_height);
}

static void answer_warnings(struct trace *t, const char *argument, struct str *out)
{
	_cleanup_(findings_freep) struct findings *f = findings_of(t, out);

	(void)argument;
	for (size_t i = 0; f && i < f->warnings.cnt; i++)
		str_addf(out, "%s\n", f->warnings.items[i].code);
}

static void answer_export(struct trace *t, const char *argument, struct str *out)
{
	_cleanup_(freep) char *text = NULL;
	size_t len = 0;
	FILE *stream = open_memstream(&text, &len);

	(void)argument;
	tuples_write(stream, t);
	fclose(stream);
	str_addn(out, text, len);
}

static void answer_probing(struct trace *t, const char *argument, struct str *out)
{
	_cleanup_(findings_freep) struct findings *f = findings_of(t, out);
	const struct probing *p;

	(void)argument;
	if (!f)
		return;
	p = &f->probing;
	str_addf(out, "root-only %" PRIu64 " mean %.10g var %.10g p50 %" PRId64 " p99 %" PRId64
		 " max %" PRId64, p->root_only_cnt, p->root_only_mean_ns, p->root_only_variance_ns2,
		 p->root_only_p50_ns, p->root_only_p99_ns, p->root_only_max_ns);
	if (p->measured)
		str_addf(out, " cost %.4f %.4f %.4f", p->mean, p->mean_low, p->mean_high);
	if (p->has_variance)
		str_addf(out, " var %.4f %.4f %.4f", p->variance, p->variance_low,
			 p->variance_high);
	str_addc(out, '\n');
}

/* What the tuples cannot say. */
static void mark_root_only(struct trace *t, const char *argument)
{
	for (char *end; *argument; argument = end) {
		uint64_t sid = strtoull(argument, &end, 10);

		for (size_t i = 0; i < t->intervals.cnt; i++)
			if (t->intervals.items[i].sid == sid)
				t->intervals.items[i].root_only = true;
		if (end == argument)
			return;
	}
}

static const struct question {
	const char *name;
	void (*answer)(struct trace *t, const char *argument, struct str *out);
} questions[] = {
	{ "path", answer_path },	{ "table", answer_table },
	{ "tree", answer_tree },	{ "node", answer_node },
	{ "cov", answer_cov },		{ "factors", answer_factors },
	{ "factor", answer_factor },	{ "because", answer_because },
	{ "before", answer_before }, { "causes", answer_causes },
	{ "summary", answer_summary },	{ "heights", answer_heights },
	{ "warnings", answer_warnings },	{ "export", answer_export },
	{ "waits", answer_waits },	{ "knots", answer_knots },
	{ "trimmed", answer_trimmed },	{ "states", answer_states },
	{ "stacks", answer_stacks },	{ "criticality", answer_criticality },
	{ "critical-paths", answer_critical_paths },
	{ "critical-functions", answer_critical_functions },
	{ "samples", answer_samples },	{ "sampled-stacks", answer_sampled_stacks },
	{ "probing", answer_probing },	{ "parts", answer_parts },
	{ "slow", answer_slow },	{ "pairs", answer_pairs },
};

/* text is "QUESTION ARGUMENT"; false if there is no such question. */
static bool ask(struct trace *t, const char *text, struct str *out)
{
	size_t len = strcspn(text, " ");
	const char *argument = text[len] ? text + len + 1 : "";

	if (strncmp(text, "use", len) == 0) {
		free(interval_name);
		interval_name = xstrdup(argument);
		return true;
	}
	if (strncmp(text, "root-only", len) == 0) {
		mark_root_only(t, argument);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++) {
		if (len == strlen(questions[i].name) &&
		    strncmp(text, questions[i].name, len) == 0) {
			questions[i].answer(t, argument, out);
			return true;
		}
	}
	return false;
}

/* One question with its answer; *line moves behind them.  true if they agree. */
static bool check_question(struct trace *t, const struct diag *damage, const char *path, char **line)
{
	_cleanup_(str_release) struct str expected = STR_INIT;
	_cleanup_(str_release) struct str found = STR_INIT;
	const char *text = *line + strlen("#? ");

	*line = strchr(*line, '\n');
	*(*line)++ = '\0';
	while (starts_with(*line, "#= ")) {
		size_t len = strcspn(*line, "\n");

		str_addn(&expected, *line + 3, len - 3);
		str_addc(&expected, '\n');
		*line += len + ((*line)[len] == '\n');
	}
	if (strcmp(text, "error") == 0)
		str_addf(&found, "%s\n", damage->text);
	else if (!t || !ask(t, text, &found))
		str_addf(&found, "cannot answer: %s\n", t ? "no such question" : damage->text);
	if (strcmp(str_cstr(&expected), str_cstr(&found)) == 0)
		return true;
	fprintf(stderr, "%s: %s\n--- expected\n%s--- found\n%s", path, text, str_cstr(&expected),
		str_cstr(&found));
	return false;
}

/* Adds how many questions were asked, returns how many answers were wrong. */
static unsigned int check_file(const char *path, unsigned int *asked)
{
	_cleanup_(trace_freep) struct trace *t = NULL;
	_cleanup_(freep) char *text = NULL;
	struct diag damage = DIAG_INIT;
	unsigned int wrong = 0, before = *asked;
	size_t len = 0;

	free(interval_name);
	interval_name = NULL;
	if (file_read(path, &text, &len) < 0) {
		fprintf(stderr, "%s: cannot read\n", path);
		return 1;
	}
	tuples_parse(text, len, path_base(path), &t, &damage);
	for (char *line = text; *line; ) {
		if (starts_with(line, "#? ") && strchr(line, '\n')) {
			++*asked;
			wrong += !check_question(t, &damage, path, &line);
			continue;
		}
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	if (*asked == before) {
		fprintf(stderr, "%s: asks nothing\n", path);
		wrong++;
	}
	return wrong;
}

int main(int argc, char **argv)
{
	unsigned int asked = 0, wrong = 0;

	for (int i = 1; i < argc; i++)
		wrong += check_file(argv[i], &asked);
	printf("%d traces, %u questions, %u wrong answers\n", argc - 1, asked, wrong);
	free(interval_name);
	return wrong == 0 && argc > 1 ? 0 : 1;
}
