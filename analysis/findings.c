/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * findings.c - the container: made empty, warned into, freed.
 *
 * Example: findings_warn(f, "few-intervals", "only %d intervals", 12) appends one warning whose
 * text lives as long as f.
 */
#include "analysis/findings.h"

#include <stdarg.h>
#include "base/str.h"
#include "base/banned.h"

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
	VEC_RELEASE(&f->part_pairs);
	VEC_RELEASE(&f->common_causes);
	VEC_RELEASE(&f->intervals);
	VEC_RELEASE(&f->warnings);
	VEC_RELEASE(&f->observed);
	VEC_RELEASE(&f->interval_names);
	arena_free(f->arena);
	free(f);
}

void findings_warn(struct findings *f, const char *code, const char *fmt, ...)
{
	_cleanup_(str_release) struct str s = STR_INIT;
	struct warning w = { .code = code };
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&s, fmt, ap);
	va_end(ap);
	w.code = arena_strdup(f->arena, code);
	w.text = arena_strdup(f->arena, str_cstr(&s));
	VEC_ADD(&f->warnings, w);
}
