/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * findings.c - the container: made empty, warned into, freed.
 *
 * Example: findings_warn(f, "few-intervals", "only %d intervals", 12) appends one warning whose
 * text lives as long as f.
 */
#include "analysis/findings/findings.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "base/banned.h"

#define MOSTLY_IDLE 0.5		/* of that variance */

const char *node_kind_name(enum node_kind kind)
{
	static const char *const names[] = {
		[NODE_INTERVAL] = "interval", [NODE_FUNCTION] = "function", [NODE_BODY] = "body",
		[NODE_WAIT] = "wait", [NODE_BLAME] = "blame",
	};

	return names[kind];
}

const char *factor_kind_name(enum factor_kind kind)
{
	static const char *const names[] = {
		[FACTOR_FUNCTION] = "function", [FACTOR_BODY] = "body", [FACTOR_WAIT] = "wait",
		[FACTOR_PAIR] = "pair",
	};

	return names[kind];
}

const char *cause_how_name(enum cause_how how)
{
	static const char *const names[] = {
		[HOW_CPU] = "cpu", [HOW_LOCK] = "lock", [HOW_QUEUE] = "queue", [HOW_IO] = "io",
		[HOW_RUNQUEUE] = "runqueue", [HOW_OTHER] = "other",
	};

	return names[how];
}

size_t findings_peer_len(const char *function)
{
	enum thread_kind kind;
	size_t len = function ? strlen(function) : 0;
	char name[16] = "";

	if (len < 3 || function[0] != '(' || function[len - 1] != ')')
		return 0;
	if (len - 2 < sizeof(name)) {
		memcpy(name, function + 1, len - 2);
		if (thread_kind_parse(name, &kind))
			return 0;
	}
	return len - 2;
}

struct findings *findings_new(void)
{
	struct findings *f = xcalloc(1, sizeof(*f));

	f->arena = arena_new();
	f->interval.name = "";
	f->tail.quantile = TAIL_QUANTILE_DEFAULT;
	return f;
}

void findings_free(struct findings *f)
{
	if (!f)
		return;
	VEC_RELEASE(&f->nodes);
	VEC_RELEASE(&f->covariances);
	VEC_RELEASE(&f->factors);
	VEC_RELEASE(&f->parts);
	VEC_RELEASE(&f->bins);
	VEC_RELEASE(&f->part_pairs);
	VEC_RELEASE(&f->common_causes);
	VEC_RELEASE(&f->causes);
	VEC_RELEASE(&f->intervals);
	VEC_RELEASE(&f->origins);
	VEC_RELEASE(&f->warnings);
	VEC_RELEASE(&f->waiters);
	VEC_RELEASE(&f->observed);
	VEC_RELEASE(&f->interval_names);
	arena_free(f->arena);
	free(f);
}

/*
 * Order: warnings that make the answer wrong, then those that make it uncertain, then those that qualify it.  A code
 * that is not listed comes last.
 */
static const char *const warning_ranks[] = {
	"names-missing", "aborted", "hole", "losses", "table-full", "cut-off", "stacks", "bad-path", "nested",
	"other-intervals", "kernel-reduced", "overloaded", "off-cpu-unknown", "parked", "burst", "sample-cost", "overlaps", "call-graph", "few-intervals", "before-start",
	"no-waker", "probe-cost", "outliers", "drift", "autocorrelated", "few-hosts", "mixture", "hedge", "either", "unnamed-frames", "few-samples", "unsolicited", "window", "paused",
};

static size_t warning_rank(const char *code)
{
	for (size_t i = 0; i < ARRAY_SIZE(warning_ranks); i++)
		if (strcmp(code, warning_ranks[i]) == 0)
			return i;
	return ARRAY_SIZE(warning_ranks);
}

void findings_warn(struct findings *f, const char *code, const char *fmt, ...)
{
	_cleanup_(str_release) struct str s = STR_INIT;
	struct warning w;
	size_t at = f->warnings.cnt;
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&s, fmt, ap);
	va_end(ap);
	w.code = arena_strdup(f->arena, code);
	w.text = arena_strdup(f->arena, str_cstr(&s));
	VEC_ADD(&f->warnings, w);
	for (; at > 0 && warning_rank(f->warnings.items[at - 1].code) > warning_rank(code); at--)
		f->warnings.items[at] = f->warnings.items[at - 1];
	f->warnings.items[at] = w;
}

void findings_ci95(double share, double half, double ret[2])
{
	bool inside = share >= 0 && share <= 1;

	ret[0] = inside ? fmax(share - half, 0) : share - half;
	ret[1] = inside ? fmin(share + half, 1) : share + half;
}

double findings_ci95_half(double share, const double ci95[2])
{
	return fmax(share - ci95[0], ci95[1] - share);
}

double *findings_other_covariances(const struct findings *f)
{
	double *rest = xcalloc(f->nodes.cnt + 1, sizeof(*rest));
	_cleanup_(freep) size_t *child_cnt = xcalloc(f->nodes.cnt + 1, sizeof(*child_cnt));
	_cleanup_(freep) size_t *listed = xcalloc(f->nodes.cnt + 1, sizeof(*listed));
	_cleanup_(freep) bool *estimated = xcalloc(f->nodes.cnt + 1, sizeof(*estimated));	/* a child, so the rest is not known */

	for (uint32_t i = 1; i < f->nodes.cnt; i++) {
		rest[f->nodes.items[i].parent] -= f->nodes.items[i].variance_ns2;
		child_cnt[f->nodes.items[i].parent]++;
		estimated[f->nodes.items[i].parent] |= f->nodes.items[i].samples > 0;
	}
	for (size_t i = 0; i < f->covariances.cnt; i++) {
		rest[f->covariances.items[i].parent] -= 2 * f->covariances.items[i].covariance_ns2;
		listed[f->covariances.items[i].parent]++;
	}
	for (uint32_t i = 0; i < f->nodes.cnt; i++) {
		bool is_whole = child_cnt[i] <= CHILDREN_WITH_ALL && 2 * listed[i] >= child_cnt[i] * (child_cnt[i] - (child_cnt[i] > 0));

		rest[i] = is_whole || estimated[i] ? NAN : (rest[i] + f->nodes.items[i].variance_ns2) / 2;
	}
	return rest;
}

bool findings_hidden_before_start(const struct findings *f)
{
	return f->before.cnt && !f->before.exact && f->interval.cnt >= FINDINGS_INTERVALS_MIN && f->before.sd_ns > f->interval.stddev_ns;
}

bool findings_are_whole(const struct findings *f)
{
	for (size_t i = 0; i < f->warnings.cnt; i++)
		if (strcmp(f->warnings.items[i].code, "table-full") == 0 ||
		    strcmp(f->warnings.items[i].code, "names-missing") == 0)
			return false;
	return true;
}

double findings_others_cpus(const struct findings *f)
{
	double sum = 0;

	for (size_t i = 0; i < f->cpu.others.cnt; i++)
		sum += f->cpu.others.items[i].cpus;
	return sum;
}

bool findings_waits_for_idle_cpus(const struct findings *f)
{
	return f->cpu.has_from_idle && f->cpu.from_idle >= MOSTLY_IDLE;
}
