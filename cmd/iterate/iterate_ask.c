/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * iterate_ask.c - `vprof iterate --ask`: the paper's question, for each function that the next run would break down.
 *
 *	deep1 (62.4 % of the variance) calls functions that are not recorded yet: deep2, deep3
 *	  go deeper?  [y]es  [n]o  [s]ource  [q]uit: s
 *
 * No holds to the end of the iteration.  The end of the input means quit.  The answer is read byte by byte, so that
 * input typed ahead for the user's command is left for it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/text/utf8.h"
#include "cmd/iterate/iterate_loop.h"
#include "cmd/messages.h"
#include "project/build/function_source.h"
#include "report/words/sentence.h"
#include "store/iteration_start.h"

enum { NAMES_SHOWN = 6, ANSWER_MAX = 64 };

enum answer { ANSWER_YES, ANSWER_NO, ANSWER_SOURCE, ANSWER_QUIT, ANSWER_CNT };

static const char *const answers[ANSWER_CNT] = { "yes", "no", "source", "quit" };

static const struct project_function *function_of(const struct loop *l, uint32_t function)
{
	return &l->project->functions.items[function];
}

/* ---- the question ---- */

/* "log_append > wait:lock because of flush_log (62.4 % of the variance)" */
static void add_subject(const struct loop *l, const struct refine_question *q, struct str *to)
{
	if (l->options.policy == REFINE_PAPER) {
		_cleanup_(freep) char *label =
			factor_label(&l->findings->factors.items[q->factor], l->style.utf8);

		utf8_add_line(to, label);
		str_addf(to, " (%.1f %% of the variance)", q->share * 100);
		return;
	}
	utf8_add_line(to, function_of(l, q->functions.items[0])->name);
	str_addf(to, q->outside ? " (%.1f %% of the variance passes waiting for it)" :
				  " (%.1f %% of the variance is its own time)", q->share * 100);
}

static void add_callees(const struct loop *l, const struct refine_question *q, struct str *to)
{
	size_t cnt = q->callees.cnt;

	for (size_t i = 0; i < cnt && i < NAMES_SHOWN; i++) {
		str_add(to, i ? ", " : " ");
		utf8_add_line(to, function_of(l, q->callees.items[i])->name);
	}
	if (cnt > NAMES_SHOWN)
		str_addf(to, ", %zu more", cnt - NAMES_SHOWN);
}

static void print_question(const struct loop *l, const struct refine_question *q)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	add_subject(l, q, &text);
	str_add(&text, " calls functions that are not recorded yet:");
	add_callees(l, q, &text);
	fprintf(stderr, "%s\n", str_cstr(&text));
}

static void print_sources(const struct loop *l, const struct refine_question *q)
{
	for (size_t i = 0; i < q->functions.cnt; i++) {
		_cleanup_(str_release) struct str text = STR_INIT;
		struct diag diag = DIAG_INIT;

		if (function_source(function_of(l, q->functions.items[i]), &text, &diag) < 0)
			warn_line("%s", diag.text);
		fputs(str_cstr(&text), stderr);
	}
}

/* ---- the answer ---- */

/* One line without its end; false at the end of the input, or when a signal came. */
static bool read_line(char line[ANSWER_MAX])
{
	size_t len = 0;
	char c;

	for (;;) {
		ssize_t n = read(STDIN_FILENO, &c, 1);

		if (n <= 0)
			return false;
		if (c == '\n')
			break;
		if (len + 1 < ANSWER_MAX)
			line[len++] = c;
	}
	line[len] = '\0';
	return true;
}

/* "y", " Yes", "source": by any beginning of the word; ANSWER_CNT if it is none. */
static enum answer parse_answer(const char *line)
{
	const char *word = line + strspn(line, " \t");
	size_t len = strcspn(word, " \t\r");

	for (enum answer a = 0; len > 0 && a < ANSWER_CNT; a++)
		if (strncasecmp(word, answers[a], len) == 0)
			return a;
	return ANSWER_CNT;
}

static enum answer read_answer(void)
{
	char line[ANSWER_MAX];

	for (;;) {
		enum answer a;

		fputs("  go deeper?  [y]es  [n]o  [s]ource  [q]uit: ", stderr);
		if (!read_line(line)) {
			fputc('\n', stderr);
			return ANSWER_QUIT;
		}
		a = parse_answer(line);
		if (a != ANSWER_CNT)
			return a;
		fputs("  y: the next run records what it calls; n: not in this iteration; "
		      "s: show the function; q: end here, keep what there is\n", stderr);
	}
}

static enum answer ask(const struct loop *l, const struct refine_question *q)
{
	enum answer a;

	print_question(l, q);
	while ((a = read_answer()) == ANSWER_SOURCE)
		print_sources(l, q);
	return a;
}

static int take_answer(struct loop *l, const struct refine_question *q, bool deeper,
		       struct diag *reterr)
{
	int r = 0;

	refinement_answer(l->refinement, q, deeper);
	for (size_t i = 0; r == 0 && i < q->functions.cnt; i++) {
		struct iteration_answer a = { function_of(l, q->functions.items[i])->key, deeper };

		r = iteration_answer_write(l->store, l->first_run, &a, reterr);
	}
	return r;
}

int iterate_ask(struct loop *l, struct diag *reterr)
{
	struct refine_question q = { .factor = 0 };
	struct sigaction old, interrupts;
	int r = 0;

	/* Control-C ends the reading, too. */
	sigaction(SIGINT, NULL, &old);
	interrupts = old;
	interrupts.sa_flags &= ~SA_RESTART;
	sigaction(SIGINT, &interrupts, NULL);
	while (r == 0 && !l->stop && refinement_question(l->refinement, l->findings, &q)) {
		enum answer a = ask(l, &q);

		if (a == ANSWER_QUIT)
			l->stop = iterate_interrupted ? "interrupted" : "quit";
		else
			r = take_answer(l, &q, a == ANSWER_YES, reterr);
	}
	if (iterate_interrupted)
		l->status = 128 + SIGINT;
	sigaction(SIGINT, &old, NULL);
	refine_question_release(&q);
	return r;
}
