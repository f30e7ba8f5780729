/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mixture_function.h - the function that distinguishes two kinds of intervals.  Private to analysis/. */
#ifndef ANALYSIS_WARNINGS_MIXTURE_FUNCTION_H
#define ANALYSIS_WARNINGS_MIXTURE_FUNCTION_H

#include "analysis/factors/factors.h"

/* The function that half of Var(T) and more is between intervals with it and without; NULL: there is none. */
const struct factor *find_factor_of_kinds(const struct analysis *a, const struct factor_columns *factors, double *ret_between);

#endif
