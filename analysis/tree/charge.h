/* SPDX-License-Identifier: GPL-3.0-or-later */
/* charge.h - charges a piece of a wait to the functions around the wait, or to those of the waker (paper, Algorithm 2). */
#ifndef ANALYSIS_TREE_CHARGE_H
#define ANALYSIS_TREE_CHARGE_H

enum charge { CHARGE_WAITER, CHARGE_WAKER };

#endif
