/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * iterate_from.c - `vprof iterate --from RUN`: what a look found (vprof-look(1)) is where to begin.
 *
 *	the answer is a wait, or exact	it is reported, and nothing is rebuilt: probes would not make it more exact
 *	a running function		the first plan: functions around all that has 2 % of the variance, running functions whose share
 *					may reach 5 %, and what these call
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"
#include "base/map.h"
#include "cmd/iterate/iterate_loop.h"
#include "cmd/messages.h"
#include "report/output.h"
#include "report/words/sentence.h"

#define SHARE_LEAST 0.02
#define SHARE_POSSIBLE 0.05		/* of one that rests on samples: the upper end of its confidence interval */

int iterate_read_look(struct loop *l, const char *text, struct findings **ret, struct diag *reterr)
{
	struct run run = { 0 };
	int r = run_find(l->store, text, &run, reterr);

	if (r == 0)
		r = findings_read_sums(l->store, run.number, NULL, ret, reterr);
	if (r == 0 && !(*ret)->look.is_one) {
		diag_set(reterr, EXIT_USAGE, -EINVAL, "run %u is no look: --from begins with what vprof look found", run.number);
		r = diag_remedy(reterr, -EINVAL, "vprof look -p PID, or vprof iterate without --from");
	}
	run_release(&run);
	return r;
}

/* Whether no probe would add anything: neither about a wait, nor about its waker if that waited now and then (is_mixed). */
bool iterate_look_answers(const struct findings *f, double threshold)
{
	const struct summed_cause *c = f->causes.items;

	return f->causes.cnt && c->known && c->share > threshold && !c->is_estimated &&
	       (c->is_wait || !c->function || (c->is_mixed && c->has_waiter));
}

static void note_name(struct map *names, const char *function, bool deeper)
{
	uint64_t *slot = map_slot(names, hash_str(0, function));

	if (*slot < (deeper ? 2U : 1U))
		*slot = deeper ? 2 : 1;
}

/* 1: a function of that name; 2: and what it calls. */
static struct map *names_in(const struct findings *f)
{
	struct map *names = map_new();

	for (size_t i = 0; i < f->nodes.cnt; i++) {
		const struct node *n = &f->nodes.items[i];
		bool may_run = n->samples && n->has_ci95 && n->ci95[1] >= SHARE_POSSIBLE;

		if (n->function && n->function[0] != '(' && (n->share >= SHARE_LEAST || may_run))
			note_name(names, n->function, may_run);
	}
	return names;
}

size_t iterate_begin_with(struct loop *l, const struct findings *f)
{
	const struct refine_project *p = &l->graph.project;
	_cleanup_(map_freep) struct map *names = names_in(f);
	_cleanup_(freep) bool *wanted = xcalloc(p->function_cnt + 1, sizeof(*wanted));
	_cleanup_(freep) bool *deeper = xcalloc(p->function_cnt + 1, sizeof(*deeper));

	for (size_t i = 0; i < p->function_cnt; i++) {
		uint64_t how = 0;

		wanted[i] = map_get(names, hash_str(0, p->functions[i].name), &how);
		deeper[i] = how == 2;
	}
	for (size_t i = 0; i < p->call_cnt; i++)
		wanted[p->calls[i].callee] |= deeper[p->calls[i].caller];
	return refinement_begin_with(l->refinement, wanted);
}

static void write_document(const struct loop *l, const char *sentence)
{
	json_t *o = json_object(), *stop = json_object();

	json_set(o, "schema", json_text("vprof.iterate/1"));
	json_set(o, "policy", json_text(refine_policy_name(l->options.policy)));
	json_set(o, "k", json_integer(l->options.k));
	json_set(o, "threshold", json_number(l->options.threshold));
	json_set(o, "overhead", json_number(l->options.overhead));
	json_set(o, "max_runs", json_integer(l->options.max_runs));
	json_set(o, "runs", json_array());
	json_set(stop, "reason", json_text(refine_stop_name(REFINE_CLOSED)));
	json_set(stop, "text", json_text(sentence));
	json_set(stop, "intervals_needed", json_integer(0));
	json_set(o, "stop", stop);
	json_set(o, "factors", json_null());
	report_write_json(stdout, o);
	json_decref(o);
}

void iterate_tell_look(const struct loop *l, const struct findings *f, bool is_all)
{
	_cleanup_(str_release) struct str sentence = STR_INIT;

	report_sentence(f, &sentence);
	if (!is_all)
		note_line("%s", str_cstr(&sentence));
	else if (l->json)
		write_document(l, str_cstr(&sentence));
	else
		printf("%s\nThat is a wait, and exact: 0 builds, for no probe tells more.\n", str_cstr(&sentence));
}
