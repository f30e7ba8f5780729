/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * causal_target.c - see causal_target.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/banned.h"
#include "base/str.h"
#include "instrumenter/plan/plan.h"
#include "project/causal/causal_target.h"
#include "project/config/launcher_context.h"
#include "project/config/locate.h"
#include "recorder/recorder.h"

int causal_target_parse(const char *text, struct causal_target *ret, struct diag *reterr)
{
	const char *name;

	*ret = (struct causal_target){ .text = NULL };
	if (!experiment_target_parse(text, &ret->kind, &name)) {
		diag_set(reterr, EXIT_USAGE, -EINVAL, "target '%s': a name is missing", text);
		return diag_remedy(reterr, -EINVAL, "vprof causal --target log_flush, body:log_flush, io, io@log_flush");
	}
	ret->text = xstrdup(text);
	ret->name = name ? xstrdup(name) : NULL;
	return 0;
}

static int refuse(const struct causal_target *t, struct causal_refusal *ret, char *why, char *instead)
{
	*ret = (struct causal_refusal){ xstrdup(t->text), why, instead };
	return 1;
}

/* The names of overloads have their parameters at the end.  A name without parameters means all overloads. */
static bool is_named(const struct project_function *f, const char *name)
{
	size_t len = strlen(name);

	return strncmp(f->name, name, len) == 0 && (f->name[len] == '\0' || f->name[len] == '(');
}

static int find_functions(struct store *s, struct causal_target *t, size_t *ret_known, struct diag *reterr)
{
	_cleanup_(project_freep) struct project *p = NULL;
	_cleanup_(plan_freep) struct plan *plan = NULL;
	_cleanup_(freep) char *path = plan_path();
	int r = project_read(s, &p, reterr);

	if (r == 0)
		r = plan_read(path, &plan, reterr);
	if (r < 0)
		return r;
	*ret_known = 0;
	for (size_t i = 0; i < p->functions.cnt; i++) {
		const struct project_function *f = &p->functions.items[i];

		if (!is_named(f, t->name))
			continue;
		++*ret_known;
		if (plan_level_of(plan, f->key) == PLAN_OFF)
			continue;
		VEC_ADD(&t->keys, f->key);
		if (!t->file && f->file)
			t->file = xstrdup(f->file);
	}
	return 0;
}

static int find_disk(struct causal_target *t, struct causal_refusal *ret_refusal)
{
	_cleanup_(str_release) struct str disks = STR_INIT;

	if (recorder_disk_find(t->name, &t->disk))
		return 0;
	recorder_disk_names(&disks);
	return refuse(t, ret_refusal, xstrdup("this machine has no disk of that name; a partition is not one"),
		      disks.len ? xasprintf("io; or disk:NAME of these: %s", str_cstr(&disks)) : xstrdup("io"));
}

int causal_target_find(struct store *s, struct causal_target *t, struct causal_refusal *ret_refusal, struct diag *reterr)
{
	size_t known = 0;
	int r;

	switch (t->kind) {
	case ASKED_WAIT:
		return refuse(t, ret_refusal, xstrdup("a wait cannot be made faster, only what other threads do during it"),
			      xasprintf("lock:%s, if it waits for a lock; else the function that is waited for; --predict answers it as an"
					" upper bound", t->name));
	case ASKED_QUEUE:
		return refuse(t, ret_refusal, xstrdup("time in a queue cannot be made shorter, only the work of the threads that take from it"),
			      xstrdup("the functions of the threads that take from it; vprof causal --predict --target queue"));
	case ASKED_RUNQUEUE:
	case ASKED_CPUS:
		return refuse(t, ret_refusal, xstrdup("more CPUs cannot be imitated: paused threads free theirs"),
			      xasprintf("vprof causal --predict --target %s", t->text));
	case ASKED_DEVICE:
		return find_disk(t, ret_refusal);
	case ASKED_PC:
		return 0;
	case ASKED_IO:
		if (!t->name)
			return 0;
		break;
	case ASKED_LOCK:
	case ASKED_FUNCTION:
	case ASKED_BODY:
	case ASKED_KIND_CNT:
		break;
	}
	r = find_functions(s, t, &known, reterr);
	if (r < 0 || t->keys.cnt)
		return r;
	if (!known && t->kind == ASKED_LOCK)
		return 0;
	if (!known)
		return refuse(t, ret_refusal, xstrdup("the last build has no function of that name"),
			      t->kind == ASKED_FUNCTION ? xasprintf("pc:%s, if it is one of a library or of code without probes", t->name) : NULL);
	return refuse(t, ret_refusal, xstrdup("it has no probe"),
		      xasprintf("vprof build --functions %s; or pc:%s, its own running time by ticks alone", t->name, t->name));
}

bool causal_target_needs_kernel(const struct causal_target *t)
{
	return t->kind == ASKED_DEVICE;
}

bool causal_target_is_symbol(const struct causal_target *t)
{
	return t->kind == ASKED_PC || (t->kind == ASKED_LOCK && !t->keys.cnt);
}

void causal_target_release(struct causal_target *t)
{
	free(t->text);
	free(t->name);
	free(t->file);
	VEC_RELEASE(&t->keys);
}

void causal_targets_release(causal_targets *list)
{
	for (size_t i = 0; i < list->cnt; i++)
		causal_target_release(&list->items[i]);
	VEC_RELEASE(list);
}

void causal_refusal_release(struct causal_refusal *r)
{
	free(r->target);
	free(r->why);
	free(r->instead);
}
