/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gate_terms.c - parses the text of a gate into terms.
 *
 *	p99>+10%		violated if p99 rises by more than a tenth
 *	mean<-5%		violated if the mean falls by more than a twentieth
 *	share:log_append>+5pt	violated if that function's share of Var(T) rises by more than 5 points
 *	time:f(int, long)>+20%	its mean time; a comma inside a C++ name belongs to the name
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/compare.h"
#include "base/alloc.h"
#include "base/banned.h"
#include "base/str.h"

const char *gate_result_name(enum gate_result r)
{
	static const char *const names[] = {
		[GATE_PASS] = "pass", [GATE_FAIL] = "fail", [GATE_INCONCLUSIVE] = "inconclusive",
	};

	return names[r];
}

static int bad_term(struct diag *reterr, const char *term, const char *why)
{
	diag_set(reterr, EXIT_USAGE, -EINVAL, "--gate: '%s' %s", term, why);
	return diag_remedy(reterr, -EINVAL, "METRIC>+X%% or METRIC<-X%%, METRIC mean, p50, p90, p99, p99.9, sd or var; "
			   "share:FUNCTION>+Xpt; time:FUNCTION>+X%%");
}

/* Where the condition, such as ">+10%", begins at the end of text; NULL: there is none. */
static const char *find_condition(const char *text)
{
	for (const char *at = text + strlen(text); at > text; at--)
		if (at[-1] == '>' || at[-1] == '<')
			return at[1] && (at[0] == '+' || at[0] == '-') ? at - 1 : NULL;
	return NULL;
}

/* Parses "+10%" or "-2.5pt": the number, and whether it is in points.  Returns false for anything else. */
static bool parse_amount(const char *text, double *ret, bool *ret_points)
{
	const char *digits = text + 1;
	size_t len = strspn(digits, "0123456789.");
	char *end;

	if (!len)
		return false;
	*ret_points = strcmp(digits + len, "pt") == 0;
	if (!*ret_points && strcmp(digits + len, "%") != 0)
		return false;
	errno = 0;
	*ret = strtod(digits, &end) / 100;
	return !errno && end == digits + len && isfinite(*ret);
}

static bool is_function_term(const char *text)
{
	return starts_with(text, "share:") || starts_with(text, "time:");
}

static int parse_subject(struct arena *a, const char *term, const char *subject, struct gate_term *ret, struct diag *reterr)
{
	const char *function;

	if (!is_function_term(subject)) {
		ret->subject = GATE_METRIC;
		return metric_find(subject, &ret->metric) ? 0 : bad_term(reterr, term, "names no metric");
	}
	ret->subject = starts_with(subject, "share:") ? GATE_SHARE : GATE_TIME;
	function = strchr(subject, ':') + 1;
	if (!*function)
		return bad_term(reterr, term, "names no function");
	ret->function = arena_strdup(a, function);
	return 0;
}

static int parse_term(struct arena *a, const char *term, struct gate_term *ret, struct diag *reterr)
{
	const char *condition = find_condition(term);
	_cleanup_(freep) char *subject = condition ? xstrndup(term, (size_t)(condition - term)) : NULL;
	bool points;
	int r;

	*ret = (struct gate_term){ .text = arena_strdup(a, term), .value = NAN };
	if (!condition || !parse_amount(condition + 1, &ret->amount, &points))
		return bad_term(reterr, term, "is not a term");
	ret->falls = *condition == '<';
	if (ret->falls != (condition[1] == '-'))
		return bad_term(reterr, term, "is not a term: write >+ for a rise, <- for a fall");
	r = parse_subject(a, term, subject, ret, reterr);
	if (r < 0)
		return r;
	if (points != (ret->subject == GATE_SHARE))
		return bad_term(reterr, term, points ? "is in points, but only a share has points" : "is in %, but a share has points (pt)");
	if (ret->falls && ret->subject != GATE_SHARE && ret->amount > 1)
		return bad_term(reterr, term, "cannot be violated: nothing falls by more than 100 %");
	return 0;
}

/* The length of the first term; a function's name may contain commas. */
static size_t term_length(const char *text)
{
	size_t len = strcspn(text, ",");

	while (is_function_term(text) && text[len]) {
		_cleanup_(freep) char *so_far = xstrndup(text, len);
		const char *condition = find_condition(so_far);
		double amount;
		bool points;

		if (condition && parse_amount(condition + 1, &amount, &points))
			break;
		len += 1 + strcspn(text + len + 1, ",");
	}
	return len;
}

static char *trimmed(const char *text, size_t len)
{
	while (len && *text == ' ') {
		text++;
		len--;
	}
	while (len && text[len - 1] == ' ')
		len--;
	return xstrndup(text, len);
}

int gate_parse(const char *terms, struct gate *ret, struct diag *reterr)
{
	int r = 0;

	*ret = (struct gate){ .arena = arena_new() };
	for (const char *at = terms; r == 0; at++) {
		size_t len;
		_cleanup_(freep) char *term = NULL;

		at += strspn(at, " ");
		len = term_length(at);
		term = trimmed(at, len);
		r = *term ? parse_term(ret->arena, term, VEC_EXTEND(&ret->terms), reterr) :
			    bad_term(reterr, terms, "has an empty term");
		at += len;
		if (!*at)
			break;
	}
	return r;
}

void gate_release(struct gate *g)
{
	VEC_RELEASE(&g->terms);
	arena_free(g->arena);
	g->arena = NULL;
}
