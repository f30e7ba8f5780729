/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * later.c - what intervals.c and sync.c both put into a function: a label, a place of the scan record, an event for
 * when it is left.
 *
 *	struct vprof_later vprof_later_0 __attribute__((cleanup(vprof_later_out), unused)) = { VPROF_KIND_END, &vprof_labels[0], c->id, 0 };
 */
#include <string.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "instrumenter/insert/instrument.h"
#include "instrumenter/plan/expression.h"

size_t label_number(struct instrumenting *in, const char *name)
{
	for (size_t i = 0; i < in->labels.cnt; i++)
		if (strcmp(in->labels.items[i], name) == 0)
			return i;
	VEC_ADD(&in->labels, name);
	return in->labels.cnt - 1;
}

void place_add(struct instrumenting *in, const char *interval, const char *role,
	       const char *location, const char *problem)
{
	struct arena *a = in->unit->arena;
	struct scan_place p = {
		.interval = interval ? arena_strdup(a, interval) : NULL,
		.role = arena_strdup(a, role), .location = arena_strdup(a, location),
		.problem = problem ? arena_strdup(a, problem) : NULL,
	};

	VEC_ADD(&in->unit->places, p);
}

const char *parameter_name_of(size_t n, void *parsed_function)
{
	const struct parsed_function *f = parsed_function;

	return n < f->parameters.cnt ? f->parameters.items[n].name : NULL;
}

struct later_text {			/* of the members of struct vprof_later */
	struct str kind, a, b;
};

static void later_text_release(struct later_text *t)
{
	str_release(&t->kind);
	str_release(&t->a);
	str_release(&t->b);
}

/* EXPRESSION, or CONDITION ? EXPRESSION : 0 */
static const char *expand_under(const char *condition, const char *expression, struct parsed_function *f,
				const char *result, struct str *ret)
{
	const char *problem = NULL;

	if (condition) {
		problem = expression_expand(condition, parameter_name_of, f, result, ret);
		str_add(ret, " ? ");
	}
	if (!problem)
		problem = expression_expand(expression, parameter_name_of, f, result, ret);
	str_add(ret, condition ? " : 0" : "");
	return problem;
}

static const char *expand_later(const struct later *l, struct parsed_function *f, const char *result,
				struct later_text *ret)
{
	const char *problem = expand_under(l->condition, l->a, f, result, &ret->a);

	if (!problem)
		problem = expand_under(l->condition, l->b ? l->b : "0", f, result, &ret->b);
	if (!problem && l->condition)
		problem = expression_expand(l->condition, parameter_name_of, f, result, &ret->kind);
	str_addf(&ret->kind, l->condition ? " ? %s : 0" : "%s", l->kind);
	return problem;
}

static bool uses_result(const char *expression)
{
	return expression && expression_uses_result(expression);
}

const char *later_add(struct instrumenting *in, size_t f, struct str *where, const struct later *later)
{
	struct parsed_function *pf = &in->parsed->functions.items[f];
	bool result_used = uses_result(later->a) || uses_result(later->b) || uses_result(later->condition);
	bool at_return = later->at_return || result_used;
	_cleanup_(later_text_release) struct later_text t = { STR_INIT, STR_INIT, STR_INIT };
	_cleanup_(str_release) struct str text = STR_INIT;
	const char *problem;

	if (result_used && !pf->result_is_scalar)
		return "the function's result is neither a number nor a pointer";
	problem = expand_later(later, pf, result_used ? "vprof_ret_" : NULL, &t);
	if (problem)
		return problem;
	str_addf(&text, " struct vprof_later vprof_later_%zu __attribute__((cleanup(vprof_later_out),"
		 " unused)) = { %s, %s, %s, %s };", in->later_cnt, at_return ? "0" : t.kind.data,
		 later->label, at_return ? "0" : t.a.data, at_return ? "0" : t.b.data);
	str_add(&text, str_cstr(where));
	str_reset(where);
	str_add(where, text.data);
	if (at_return)
		str_addf(&in->bodies.items[f].at_return,
			 " vprof_later_%zu.a = %s; vprof_later_%zu.b = %s; vprof_later_%zu.kind = %s;",
			 in->later_cnt, t.a.data, in->later_cnt, t.b.data, in->later_cnt, t.kind.data);
	in->later_cnt++;
	in->event_cnt++;
	return NULL;
}
