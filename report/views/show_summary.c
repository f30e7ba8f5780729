/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * show_summary.c - the answer, the latency that it explains, and how much of the run it covers.
 */
#include <math.h>

#include "analysis/findings/hosts.h"
#include "base/banned.h"
#include "base/file.h"
#include "base/option.h"
#include "base/text/table.h"
#include "base/text/utf8.h"
#include "report/output.h"
#include "report/probing.h"
#include "report/style.h"
#include "report/views.h"
#include "report/words/client.h"
#include "report/words/cpu_words.h"
#include "report/words/sentence.h"

#define BEFORE_SHOWN 2			/* functions */
#define BEFORE_LEAST 0.1

static void print_latency(const struct style *s, const struct interval_summary *iv)
{
	char a[TEXT_MAX], b[TEXT_MAX], c[TEXT_MAX], d[TEXT_MAX], e[TEXT_MAX];
	bool u = s->utf8;

	fprintf(s->out, "  latency   mean %s   sd %s   p50 %s   p90 %s   p99 %s",
		text_ns(a, iv->mean_ns, u), text_ns(b, iv->stddev_ns, u),
		text_ns(c, (double)iv->p50_ns, u), text_ns(d, (double)iv->p90_ns, u),
		text_ns(e, (double)iv->p99_ns, u));
	fprintf(s->out, "   max %s\n", text_ns(a, (double)iv->max_ns, u));
}

static void print_count(const struct style *s, const struct interval_summary *iv)
{
	const struct { uint64_t cnt; const char *what; } dropped[] = {
		{ iv->dropped_open, "still open at the end" },
		{ iv->dropped_aborted, "aborted" },
		{ iv->dropped_bad_path, "without a usable path" },
		{ iv->dropped_lost, "with lost records" },
		{ iv->has_pairing ? iv->nested : 0, "starts inside another one" },
		{ iv->has_pairing ? iv->unmatched_ends : 0, "ends without a start" },
	};
	char cnt[TEXT_MAX];

	fprintf(s->out, "  intervals %s used", text_cnt(cnt, iv->cnt));
	for (size_t i = 0; i < ARRAY_SIZE(dropped); i++)
		if (dropped[i].cnt)
			fprintf(s->out, ", %s %s", text_cnt(cnt, dropped[i].cnt), dropped[i].what);
	fputc('\n', s->out);
}

/* Root-only intervals, which are in none of the other numbers. */
static void print_probing(const struct style *s, const struct findings *f)
{
	const struct probing *p = &f->probing;
	_cleanup_(freep) char *text = probing_text(f);
	char a[TEXT_MAX], b[TEXT_MAX], c[TEXT_MAX], d[TEXT_MAX], e[TEXT_MAX];
	bool u = s->utf8;

	if (!text)
		return;
	fprintf(s->out, "  root-only mean %s   sd %s   p50 %s   p99 %s   max %s",
		text_ns(a, p->root_only_mean_ns, u), text_ns(b, sqrt(p->root_only_variance_ns2), u),
		text_ns(c, (double)p->root_only_p50_ns, u), text_ns(d, (double)p->root_only_p99_ns, u),
		text_ns(e, (double)p->root_only_max_ns, u));
	fprintf(s->out, "   (%s intervals whose functions were not recorded)\n  %s\n",
		text_cnt(a, p->root_only_cnt), text);
}

static void print_cpu(const struct style *s, const struct findings *f)
{
	_cleanup_(freep) char *text = cpu_text(f);

	if (text)
		fprintf(s->out, "  CPUs      %s\n", text);
}

/* "(before start), at most: mean 4.10 ms   sd 1.20 ms   p99 5.00 ms, while its thread was busy: persist_backup 93 %" */
static void print_before(const struct style *s, const struct before_start *b)
{
	_cleanup_(str_release) struct str by = STR_INIT;
	char mean[TEXT_MAX], sd[TEXT_MAX], p99[TEXT_MAX], percent[TEXT_MAX], more[TEXT_MAX];

	if (!b->cnt)
		return;
	for (size_t i = 0, shown = 0; i < b->by.cnt && shown < BEFORE_SHOWN && b->by.items[i].share > BEFORE_LEAST; i++, shown++) {
		str_add(&by, shown ? ", " : ": ");
		utf8_add_line(&by, b->by.items[i].function ? b->by.items[i].function : "in no recorded function");
		str_addf(&by, " %s", text_percent(percent, b->by.items[i].share));
	}
	fprintf(s->out, "  (before start)%s: mean %s   sd %s   p99 %s, while its thread was busy%s\n", b->exact ? "" : ", at most",
		text_ns(mean, b->mean_ns, s->utf8), text_ns(sd, b->sd_ns, s->utf8), text_ns(p99, (double)b->p99_ns, s->utf8), str_cstr(&by));
	if (b->exact)
		fprintf(s->out, "                  from the arrival in the socket, and part of the interval (--from-arrival)\n");
	if (b->unknown_cnt)
		fprintf(s->out, "                  of %s more intervals the arrival is not known: they begin where the program begins them\n",
			text_cnt(more, b->unknown_cnt));
}

static json_t *before_json(const struct before_start *b)
{
	json_t *o, *by;

	if (!b->cnt)
		return json_null();
	o = json_object();
	by = json_array();
	for (size_t i = 0; i < b->by.cnt; i++) {
		json_t *one = json_object();

		json_set(one, "function", json_text(b->by.items[i].function));
		json_set(one, "share", json_number(b->by.items[i].share));
		json_add(by, one);
	}
	json_set(o, "mean_ns", json_ns(b->mean_ns));
	json_set(o, "sd_ns", json_ns(b->sd_ns));
	json_set(o, "p99_ns", json_integer(b->p99_ns));
	json_set(o, "exact", json_boolean(b->exact));
	json_set(o, "intervals", json_u64(b->cnt));
	json_set(o, "intervals_unknown", b->exact ? json_u64(b->unknown_cnt) : json_null());
	json_set(o, "by", by);
	return o;
}

/* Of a merged run. */
static void print_origins(const struct style *s, const struct findings *f)
{
	uint32_t host_cnt;
	char runs[TEXT_MAX], hosts[TEXT_MAX];

	free(hosts_of_origins(f->origins.items, f->origins.cnt, &host_cnt));
	if (f->origins.cnt > 1)
		fprintf(s->out, "  from      %s runs%s%s%s (show intervals says which; --origin chooses)\n", text_cnt(runs, f->origins.cnt),
			host_cnt > 1 ? " of " : "", host_cnt > 1 ? text_cnt(hosts, host_cnt) : "", host_cnt > 1 ? " hosts" : "");
}

static void print_other_names(const struct style *s, const struct findings *f)
{
	_cleanup_(str_release) struct str names = STR_INIT;

	if (f->interval_names.cnt < 2)
		return;
	for (size_t i = 0; i < f->interval_names.cnt; i++) {
		str_add(&names, i ? ", " : "");
		utf8_add_line(&names, f->interval_names.items[i]);
	}
	fprintf(s->out, "  kinds     %s (--interval NAME chooses)\n", str_cstr(&names));
}

static void print_first_factors(const struct style *s, const struct view_input *in)
{
	const struct select_options *o = &in->options.ranking;
	_cleanup_(table_freep) struct table *t = table_new();
	_cleanup_(freep) uint32_t *order = NULL;
	size_t cnt = factors_select_reported(in->findings, o, &order);

	table_column(t, "", TABLE_RIGHT);
	table_column(t, "", TABLE_RIGHT);
	table_column(t, "", TABLE_LEFT);
	table_column(t, "", TABLE_SHRINKS);
	table_column(t, "", TABLE_SPARE);
	for (size_t i = 0; i < cnt; i++) {
		const struct factor *f = &in->findings->factors.items[order[i]];
		char percent[TEXT_MAX];
		double share = o->paper ? f->paper_contribution : f->share;
		_cleanup_(str_release) struct str bar = STR_INIT;
		_cleanup_(freep) char *label = factor_label(f, s->utf8);

		add_bar(&bar, share, 20, s->utf8);
		table_cell(t, "%zu.", i + 1);
		table_cell(t, "%s", text_percent_cell(percent, share));
		table_cell(t, "%s", str_cstr(&bar));
		table_cell(t, "%s", label);
		table_style(t, f->kind == FACTOR_WAIT ? style_wait(s) : "");
		table_where(t, s, f->kind == FACTOR_PAIR ? NULL : f->file, f->line);
	}
	if (cnt) {
		fputc('\n', s->out);
		table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
	}
}

/* ---- what a client saw ---- */

static const char *arg_client_sd, *arg_client_p99, *arg_client_output;

static int read_output(struct client *ret, struct diag *reterr)
{
	_cleanup_(freep) char *text = NULL;
	int r = file_read_given(arg_client_output, &text, NULL);

	if (r < 0)
		return diag_set(reterr, EXIT_USAGE, r, "cannot read '%s': %s", arg_client_output, file_why(r));
	if (!client_parse(text, ret))
		return diag_set(reterr, EXIT_USAGE, -EINVAL, "'%s' is not the output of ab, wrk (--latency), pgbench (--progress), dnsperf, "
				"redis-benchmark or memaslap with a standard deviation or a p99: give --client-sd or --client-p99",
				arg_client_output);
	return 0;
}

static int read_time(const char *option, const char *text, bool *ret_has, double *ret_ns, struct diag *reterr)
{
	if (!text)
		return 0;
	*ret_has = client_parse_time(text, ret_ns);
	return *ret_has ? 0 : diag_set(reterr, EXIT_USAGE, -EINVAL, "%s is a time, as 4.1ms, not '%s'", option, text);
}

/* ret: NULL where no figure is given. */
static int make_client(const struct view_input *in, void **ret, struct diag *reterr)
{
	struct client c = { .tool = NULL };
	int r = arg_client_output ? read_output(&c, reterr) : 0;

	(void)in;
	if (!r)
		r = read_time("--client-sd", arg_client_sd, &c.has_sd, &c.sd_ns, reterr);
	if (!r)
		r = read_time("--client-p99", arg_client_p99, &c.has_p99, &c.p99_ns, reterr);
	if (!r && (c.has_sd || c.has_p99)) {
		*ret = xmalloc(sizeof(c));
		*(struct client *)*ret = c;
	}
	return r;
}

static void print_client(const struct style *s, const struct view_input *in)
{
	_cleanup_(freep) char *text = in->made ? client_text(in->findings, in->made, s->utf8) : NULL;

	if (text)
		fprintf(s->out, "  client    %s\n", text);
}

static json_t *client_json(const struct view_input *in)
{
	const struct client *c = in->made;
	json_t *o;
	double held;

	if (!c)
		return json_null();
	o = json_object();
	held = client_variance_held(in->findings, c);
	json_set(o, "tool", json_text(c->tool));
	json_set(o, "mean_ns", c->has_mean ? json_ns(c->mean_ns) : json_null());
	json_set(o, "sd_ns", c->has_sd ? json_ns(c->sd_ns) : json_null());
	json_set(o, "p99_ns", c->has_p99 ? json_ns(c->p99_ns) : json_null());
	json_set(o, "variance_held", isnan(held) ? json_null() : json_number(held));
	return o;
}

static void summary_text(const struct style *s, const struct view_input *in)
{
	_cleanup_(freep) char *sentence = sentence_text(in->findings, &in->options.ranking, s->utf8);

	print_answer(s, sentence);
	fputc('\n', s->out);
	print_heading(s, in);
	print_work(s, in);
	print_latency(s, &in->findings->interval);
	print_count(s, &in->findings->interval);
	print_origins(s, in->findings);
	print_probing(s, in->findings);
	print_before(s, &in->findings->before);
	print_client(s, in);
	print_cpu(s, in->findings);
	print_other_names(s, in->findings);
	print_first_factors(s, in);
	fprintf(s->out, "\nnext:  vprof show variance-tree    vprof show factors    "
		"vprof show critical-path --slowest 1\n");
}

static json_t *summary_json(const struct view_input *in)
{
	json_t *o = json_results("summary", in), *names = json_array();

	json_set(o, "sentence", sentence_json(in));
	json_set(o, "before_start", before_json(&in->findings->before));
	json_set(o, "client", client_json(in));
	json_set(o, "cpu", cpu_json(in->findings));
	for (size_t i = 0; i < in->findings->interval_names.cnt; i++)
		json_add(names, json_text(in->findings->interval_names.items[i]));
	json_set(o, "interval_names", names);
	return o;
}

/* The fields of "interval" in the JSON document, in one line. */
static void summary_csv(FILE *out, const struct view_input *in)
{
	const struct interval_summary *iv = &in->findings->interval;

	csv_line(out, "tttttttttttt", "interval", "count", "open", "aborted", "bad_path", "mean_ns", "variance_ns2", "stddev_ns",
		 "p50_ns", "p90_ns", "p99_ns", "max_ns");
	csv_line(out, "tuuuudddiiii", iv->name, iv->cnt, iv->dropped_open, iv->dropped_aborted, iv->dropped_bad_path, iv->mean_ns,
		 iv->variance_ns2, iv->stddev_ns, iv->p50_ns, iv->p90_ns, iv->p99_ns, iv->max_ns);
}

static const struct option_desc options[] = {
	{ 0, "client-sd", "TIME", OPT_STR, &arg_client_sd,
	  "summary: standard deviation of the latency that a client saw (4.1ms): how much of it the interval holds" },
	{ 0, "client-p99", "TIME", OPT_STR, &arg_client_p99, "summary: the 99th percentile that a client saw" },
	{ 0, "client-output", "FILE", OPT_STR, &arg_client_output,
	  "summary: these figures from the output of ab, wrk, pgbench, dnsperf, redis-benchmark or memaslap" },
	OPT_END
};

const struct view view_summary = {
	.name = "summary", .summary = "the answer and the latency",
	.needs = NEEDS_FINDINGS, .options = options, .make = make_client, .release = free,
	.text = summary_text, .json = summary_json, .csv = summary_csv,
};
