/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check_annotation.h - does the last build have the places of an interval, and the arguments that its keys name?
 */
#ifndef PROJECT_BUILD_CHECK_ANNOTATION_H
#define PROJECT_BUILD_CHECK_ANNOTATION_H

#include "instrumenter/plan/location.h"
#include "instrumenter/scan/scan.h"

/* EXIT_USAGE with the nearest function, or the number of arguments; 0 also where nothing was built yet. */
int check_annotation(const struct interval_directive *d, const units *scanned, struct diag *reterr);

#endif
