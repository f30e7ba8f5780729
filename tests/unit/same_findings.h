/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * same_findings.h - asserts that two findings are equal: doubles bit for bit.
 */
#ifndef TESTS_UNIT_SAME_FINDINGS_H
#define TESTS_UNIT_SAME_FINDINGS_H

#include "analysis/findings/findings.h"

void same_findings(const struct findings *a, const struct findings *b);

#endif
