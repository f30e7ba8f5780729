/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * iterate_loop.h - what the files of `vprof iterate` share.
 *
 *	iterate.c		options; from the first run to the last
 *	iterate_round.c		one round: plan, rebuild, run, analyse, decide
 *	iterate_from.c		--from: it begins with what a look found
 *	iterate_start.c		what it began with
 *	iterate_resume.c	an iteration that was interrupted goes on
 *	iterate_sites.c		calls from several places of one function
 *	iterate_absent.c	units of programs that do not run
 *	iterate_missing.c	what was planned and not recorded
 *	iterate_uncalled.c	functions that need no probe, because earlier runs never called them
 *	iterate_ask.c		--ask: what the user wants to know more about
 *	iterate_end.c		what it says at its end
 */
#ifndef CMD_ITERATE_ITERATE_LOOP_H
#define CMD_ITERATE_ITERATE_LOOP_H

#include <jansson.h>
#include <signal.h>

#include "cmd/iterate/iterate_plan.h"
#include "project/build/build_steps.h"
#include "project/record/record_steps.h"
#include "report/iteration/iteration.h"

struct loop_sites {			/* functions of the project: calls of callee in caller are recorded by place */
	uint32_t caller, callee;
	bool is_reached;		/* struct plan_sites */
};

struct loop {
	/* as given by the user */
	struct refine_options options;
	struct build_options build;
	struct record_options record;
	bool ask, restart, uncalled, ignore_status, json;
	struct args build_command, run_command;

	struct store *store;
	struct config config;
	units scanned;			/* as last built */
	struct project *project;
	struct iterate_graph graph;
	struct refinement *refinement;
	struct plan *built;		/* the last plan that built, or NULL */
	VEC(struct loop_sites) sites;	/* found so far */
	VEC(char *) absent;		/* objects that are in no program of the latest run */
	struct style style;		/* stderr */

	/* results so far */
	json_t *rounds;
	uint32_t first_run;		/* 0: none yet */
	double variance_ns2;		/* of the latest run */
	struct run run;			/* the latest that has findings */
	struct findings *findings;
	const char *stop;		/* in one word; NULL: goes on */
	int status;			/* the exit status */
};

/* The signal of a Control-C that was seen, or 0. */
extern volatile sig_atomic_t iterate_interrupted;
void iterate_catch_interrupt(void);

/* Has each interval its places in what was last built?  EXIT_USAGE. */
int iterate_check_places(const struct loop *l, struct diag *reterr);

/* One round.  A run without a result ends the loop and is no error. */
int iterate_round(struct loop *l, struct diag *reterr);

/* After run l->run with l->findings: takes them in, prints the round, decides, stores it. */
int iterate_judge(struct loop *l, struct diag *reterr);

/* The same for an earlier run of a continued iteration: prints and keeps nothing again. */
int iterate_retrace(struct loop *l, struct diag *reterr);

/* Adds the findings' sites to l->sites, and prints them if tells.  False: nothing new.  iterate_plan_sites(): puts them into the plan. */
bool iterate_find_sites(struct loop *l, bool tells);
void iterate_plan_sites(const struct loop *l, struct plan *plan);

/* After l->run, under the plan l->built: l->absent; whether the unit is among them (struct build_options). */
int iterate_find_absent(struct loop *l, struct diag *reterr);
bool iterate_is_absent(const struct unit *u, const void *loop);

/* Finds the functions that the plan of l->run added and that were not recorded.  For round_release(). */
int iterate_find_missing(const struct loop *l, struct round *round, struct diag *reterr);

/* Marks functions of l->graph that earlier runs of the command recorded, and no interval of any called; says how many of them
 * the first run leaves out. */
int iterate_find_uncalled(struct loop *l, struct diag *reterr);
void iterate_tell_uncalled(const struct loop *l);

/* No interval in that run: says which of the places where one starts or ends were not reached. */
void iterate_explain_nothing(const struct loop *l, uint32_t run);

/* Takes up the latest iteration if it was interrupted and nothing has changed since; else leaves l as
 * it was.  It may have been just before its end: then l->stop is set. */
int iterate_resume(struct loop *l, struct diag *reterr);

/* Stores the options and sources of the iteration, and returns how they differ from an earlier one: "its k was 3", or
 * NULL; the caller frees it. */
struct iteration_start;
int iterate_keep_start(const struct loop *l, struct diag *reterr);
char *iterate_start_difference(const struct loop *l, const struct iteration_start *start);

/* --from: the look's findings; whether they are the answer already; else the functions of the first plan, returns how many. */
int iterate_read_look(struct loop *l, const char *text, struct findings **ret, struct diag *reterr);
bool iterate_look_answers(const struct findings *f, double threshold);
size_t iterate_begin_with(struct loop *l, const struct findings *f);
void iterate_tell_look(const struct loop *l, const struct findings *f, bool is_all);

/* Asks about everything that the next plan would break down, and keeps the answers.  The answer quit
 * sets l->stop. */
int iterate_ask(struct loop *l, struct diag *reterr);

/* The answer, why this was the last run, and what to do next; or the document. */
void iterate_end(struct loop *l);

#endif
