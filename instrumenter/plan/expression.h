/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * expression.h - the C expressions of vprof.conf: argN and ret put in place.
 */
#ifndef INSTRUMENTER_PLAN_EXPRESSION_H
#define INSTRUMENTER_PLAN_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include "base/str.h"

/* Name of parameter n, "" if it has none, NULL if there is no such parameter. */
typedef const char *(*parameter_name)(size_t n, void *arg);

/*
 * Appends text with argN and ret replaced by names, as an unsigned long long:
 *	"arg0->id" with a parameter c gives "(unsigned long long)(c->id)"
 * ret_name NULL: there is no result here.  NULL, or why it cannot be done (static text).
 */
const char *expression_expand(const char *text, parameter_name name_of, void *arg,
			      const char *ret_name, struct str *ret);

/* Does the expression mention ret? */
bool expression_uses_result(const char *text);

#endif
