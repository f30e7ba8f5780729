/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diagnosis.h - checks, their results and remedies: the answer of `vprof doctor`.
 *
 *	struct diagnosis d = { 0 };
 *	diagnosis_add(&d, "disk", DIAGNOSIS_WARNING, "vprof -d DIR", "only %s are free", "3 MiB");
 *	diagnosis_text(&style, &d);
 *	diagnosis_release(&d);
 */
#ifndef REPORT_DIAGNOSIS_H
#define REPORT_DIAGNOSIS_H

#include "report/report.h"

enum diagnosis_state {
	DIAGNOSIS_OK,
	DIAGNOSIS_NOTE,			/* good to know */
	DIAGNOSIS_WARNING,		/* works, but could be better */
	DIAGNOSIS_PROBLEM		/* something does not work */
};

struct diagnosis_check {
	const char *name;		/* a literal: what was looked at */
	enum diagnosis_state state;
	char *text, *fix;		/* fix: NULL if there is nothing to do */
};

struct diagnosis {
	VEC(struct diagnosis_check) checks;
};

/* fix may be NULL. */
void diagnosis_add(struct diagnosis *d, const char *name, enum diagnosis_state state, const char *fix,
		   const char *fmt, ...) __attribute__((format(printf, 5, 6)));

size_t diagnosis_cnt(const struct diagnosis *d, enum diagnosis_state state);
void diagnosis_text(const struct style *s, const struct diagnosis *d);
json_t *diagnosis_json(const struct diagnosis *d);
void diagnosis_release(struct diagnosis *d);		/* also a _cleanup_ function */

#endif
