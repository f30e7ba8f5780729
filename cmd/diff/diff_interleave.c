/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diff_interleave.c - `vprof diff --interleave N -- COMMAND_A -- COMMAND_B`: records both in turns, ABBA..., so that a
 * disturbance of the machine affects both alike.
 */
#include <errno.h>

#include "base/alloc.h"
#include "base/banned.h"
#include "cmd/diff/diff.h"
#include "cmd/messages.h"
#include "project/config/config.h"
#include "project/config/launcher_context.h"
#include "project/record/record_steps.h"

struct turns {
	struct store *store;
	struct record_options options;
	const struct args *command[2];
	char **groups;
	unsigned cnt;
};

static int record_turn(struct turns *t, unsigned side, unsigned number)
{
	_cleanup_(run_release) struct run run = { 0 };
	_cleanup_(findings_freep) struct findings *findings = NULL;
	_cleanup_(freep) char *name = xasprintf("%s.%u", t->groups[side], number);
	struct diag diag = DIAG_INIT;
	int status;

	note_line("pair %u of %u: %s", number, t->cnt, name);
	if (record_once(t->store, name, t->command[side], &t->options, &run, &findings, &status, &diag) < 0)
		return fail(&diag);
	if (run.exit_status) {
		warn_line("'%s' ended with status %d", t->command[side]->items[0], run.exit_status);
		return run.exit_status;
	}
	return findings && !findings->interval.cnt ? announce_findings(t->store, &run, findings) : status;
}

/* NAME, or the first of diff1, diff2, ... that is free; NULL: the store cannot be read. */
static char *choose_name(struct store *s, const char *name, struct diag *reterr)
{
	if (name)
		return xstrdup(name);
	for (unsigned i = 1; ; i++) {
		_cleanup_(freep) char *base = xasprintf("diff%u.base", i);
		_cleanup_(freep) char *head = xasprintf("diff%u.head", i);
		int r = group_is_free(s, base, reterr);

		if (r == 0)
			r = group_is_free(s, head, reterr);
		if (r == 0)
			return xasprintf("diff%u", i);
		if (r != -EEXIST)
			return NULL;
	}
}

int diff_interleave(struct store *s, unsigned cnt, const char *name, const struct args *base, const struct args *head,
		    bool stdout_to_stderr, char *ret_groups[2])
{
	_cleanup_(config_release) struct config config = { 0 };
	_cleanup_(freep) char *chosen = NULL;
	struct turns t = { s, { .stdout_to_stderr = stdout_to_stderr, .config = &config }, { base, head }, ret_groups, cnt };
	struct diag diag = DIAG_INIT;
	int status = EXIT_DONE;

	chosen = choose_name(s, name, &diag);
	if (!chosen)
		return fail(&diag);
	ret_groups[0] = xasprintf("%s.base", chosen);
	ret_groups[1] = xasprintf("%s.head", chosen);
	if (project_config(&config, &diag) < 0 || group_is_free(s, ret_groups[0], &diag) < 0 ||
	    group_is_free(s, ret_groups[1], &diag) < 0)
		return fail(&diag);
	t.options.sample = config.sample;
	for (unsigned i = 1; i <= cnt && status == EXIT_DONE; i++) {
		unsigned first = i % 2 == 0;

		status = record_turn(&t, first, i);
		if (status == EXIT_DONE)
			status = record_turn(&t, !first, i);
	}
	return status;
}
