/* SPDX-License-Identifier: GPL-3.0-or-later */
/* charge.h - whose time a piece of a wait is: of the functions around the wait, or of those of the thread that woke (paper, Algorithm 2). */
#ifndef ANALYSIS_TREE_CHARGE_H
#define ANALYSIS_TREE_CHARGE_H

enum charge { CHARGE_WAITER, CHARGE_WAKER };

#endif
