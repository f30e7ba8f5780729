/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stitch.c - `vprof stitch RUN RUN...`: requests that cross hosts, as one run (trace/stitch/stitch.h).
 *
 * Example: run front waits for run back; the stitched run has back's functions in the place of that wait.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/str.h"
#include "cmd/commands.h"
#include "cmd/messages.h"
#include "project/config/locate.h"
#include "project/runs/project.h"
#include "project/runs/run_parts.h"
#include "trace/stitch/stitch.h"

static const char *arg_output;

struct given {
	runs runs;
	struct trace **traces;		/* of each */
	char **hosts;
};

static void given_release(struct given *g)
{
	for (size_t i = 0; i < g->runs.cnt; i++) {
		trace_free(g->traces ? g->traces[i] : NULL);
		free(g->hosts ? g->hosts[i] : NULL);
	}
	free(g->traces);
	free(g->hosts);
	runs_release(&g->runs);
}

/* A run, or the runs of a group, each once. */
static int find_runs(struct store *s, const struct args *words, struct given *g, struct diag *reterr)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < words->cnt; i++) {
		runs found = { NULL, 0, 0 };

		r = runs_find(s, words->items[i], &found, reterr);
		for (size_t k = 0; r == 0 && k < found.cnt; k++) {
			for (size_t n = 0; r == 0 && n < g->runs.cnt; n++)
				if (g->runs.items[n].number == found.items[k].number)
					r = diag_set(reterr, EXIT_USAGE, -EEXIST, "run %" PRIu32 " would be included twice", found.items[k].number);
			if (r == 0) {
				VEC_ADD(&g->runs, found.items[k]);
				memset(&found.items[k], 0, sizeof(found.items[k]));
			}
		}
		runs_release(&found);
	}
	return r;
}

static int read_traces(struct store *s, struct given *g, struct diag *reterr)
{
	int r = 0;

	g->traces = xcalloc(g->runs.cnt + 1, sizeof(*g->traces));
	g->hosts = xcalloc(g->runs.cnt + 1, sizeof(*g->hosts));
	for (size_t i = 0; r == 0 && i < g->runs.cnt; i++)
		r = run_trace_read(s, &g->runs.items[i], &g->traces[i], reterr);
	return r;
}

static const char *name_of(const struct run *r, const char *otherwise)
{
	return r->name && *r->name ? r->name : otherwise;
}

/* The host that recorded the run, else the run's name; both, where several runs are of that host.  '@' separates it from functions. */
static void name_hosts(struct given *g)
{
	for (size_t i = 0; i < g->runs.cnt; i++) {
		_cleanup_(freep) char *number = xasprintf("run %" PRIu32, g->runs.items[i].number);
		const char *host = g->traces[i]->host;
		bool alone = true;

		for (size_t k = 0; host && k < g->runs.cnt; k++)
			alone &= k == i || !g->traces[k]->host || strcmp(host, g->traces[k]->host) != 0;
		g->hosts[i] = !host ? xstrdup(name_of(&g->runs.items[i], number)) : alone ? xstrdup(host) :
			      xasprintf("%s:%s", host, name_of(&g->runs.items[i], number));
		for (char *c = g->hosts[i]; *c; c++)
			*c = *c == '@' ? '-' : *c;
	}
}

static void tell_clocks(const struct given *g, const struct stitched *x)
{
	for (size_t i = 0; i < x->clocks.cnt; i++) {
		const struct stitched_clocks *c = &x->clocks.items[i];
		double ahead_s = (double)c->ahead_ns / 1e9;

		if (!c->call_cnt) {
			warn_line("%s calls %s, but none of the ids can be right: the times contradict them", g->hosts[c->caller], g->hosts[c->callee]);
			continue;
		}
		note_line("%s calls %s: %zu calls; its clock is %.6f s %s", g->hosts[c->caller], g->hosts[c->callee], c->call_cnt,
			  fabs(ahead_s), ahead_s < 0 ? "behind" : "ahead");
		note_line("what is possible is %.1f us wide, and it gains %.2f us a second", (double)c->width_ns / 1e3, c->drift * 1e6);
	}
}

static void tell(const struct given *g, const struct stitched *x)
{
	tell_clocks(g, x);
	note_line("%" PRIu64 " remote interval%s found a caller", x->joined, x->joined == 1 ? "" : "s");
	if (x->wrong)
		warn_line("%" PRIu64 " remote interval%s not believed: by the times %s cannot be part of the interval that the ids name, "
			  "or two intervals claim the same call", x->wrong, x->wrong == 1 ? " is" : "s are", x->wrong == 1 ? "it" : "they");
	if (x->uncalled)
		note_line("%" PRIu64 " interval%s a parent that none of these runs has", x->uncalled, x->uncalled == 1 ? " has" : "s have");
	if (x->left_out)
		note_line("%" PRIu64 " interval%s left out: others of that name and host are remote parts, and nobody here called %s",
			  x->left_out, x->left_out == 1 ? " is" : "s are", x->left_out == 1 ? "it" : "them");
}

static int no_parts(const struct given *g, const struct stitched *x, struct diag *reterr)
{
	size_t ids = 0, calls = 0;

	for (size_t i = 0; i < g->runs.cnt; i++) {
		ids += g->traces[i]->ids.cnt;
		calls += g->traces[i]->remote_calls.cnt;
	}
	diag_set(reterr, EXIT_NO_EVIDENCE, -ENODATA, "no interval of these %zu runs is a remote part of another one: %zu intervals have ids, "
		 "%zu calls have a span, and of %" PRIu64 " remote intervals with a caller none is believed", g->runs.cnt, ids, calls, x->wrong);
	return diag_remedy(reterr, -ENODATA, "VPROF_TRACE and VPROF_CALL, or trace, span and parent of [interval] in vprof.conf (man vprof-stitch)");
}

static int stitch_runs(struct store *s, const struct args *words, struct given *g, struct run *run, struct findings **ret,
		       struct diag *reterr)
{
	_cleanup_(trace_freep) struct trace *made = NULL;
	struct stitched x = { .joined = 0 };
	int r = read_traces(s, g, reterr);

	if (r < 0)
		return r;
	name_hosts(g);
	made = stitch(g->traces, (const char *const *)g->hosts, g->runs.cnt, &x);
	if (!made) {
		tell_clocks(g, &x);
		r = no_parts(g, &x, reterr);
	} else {
		tell(g, &x);
		r = run_create_of_tuples(s, "stitch", words, arg_output, made, run, reterr);
	}
	VEC_RELEASE(&x.clocks);
	return r < 0 ? r : run_analyze(s, run, 0, ret, reterr);
}

static int stitch_run(int argc, char **argv)
{
	_cleanup_(args_release) struct args words = ARGS_INIT;
	_cleanup_(store_closep) struct store *store = NULL;
	_cleanup_(run_release) struct run run = { 0 };
	_cleanup_(findings_freep) struct findings *findings = NULL;
	struct given given = { { NULL, 0, 0 }, NULL, NULL };
	struct diag diag = DIAG_INIT;
	int status, r;

	if (options_parse(argc, argv, &cmd_stitch, &words, &status))
		return status;
	if (!words.cnt)
		return fail_now(EXIT_USAGE, "vprof stitch front back -o request", "stitch: which runs? It takes two or more");
	r = store_open(data_dir(), false, &store, &diag);
	if (r == 0)
		r = store_check_ours(store, &diag);
	if (r == 0)
		r = find_runs(store, &words, &given, &diag);
	if (r == 0 && given.runs.cnt < 2) {
		given_release(&given);
		return fail_now(EXIT_USAGE, "vprof stitch front back -o request", "stitch: which runs? It takes two or more");
	}
	if (r == 0)
		r = stitch_runs(store, &words, &given, &run, &findings, &diag);
	given_release(&given);
	return r < 0 ? fail(&diag) : announce_findings(store, &run, findings);
}

static const struct option_desc stitch_options[] = {
	{ 'o', "output", "NAME", OPT_STR, &arg_output, "name the run, in addition to its number" },
	OPT_END
};
static const char *const stitch_examples[] = { "vprof stitch front back -o request", NULL };
const struct cmd cmd_stitch = {
	.name = "stitch", .synopsis = "RUN RUN... [-o NAME]",
	.summary = "join runs of several hosts by the ids of their requests",
	.options = stitch_options, .run = stitch_run, .examples = stitch_examples,
};
