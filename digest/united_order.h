/* SPDX-License-Identifier: GPL-3.0-or-later */
/* united_order.h - see united_order.c.  Private to digest/. */
#ifndef DIGEST_UNITED_ORDER_H
#define DIGEST_UNITED_ORDER_H

#include "analysis/summed/summed.h"

/* Sorts everything and renumbers it. */
void summed_put_in_order(struct summed *s);

/* Sorts the lists of one window after a renumbering, and adds up duplicates. */
void window_put_in_order(struct summed_window *w);

#endif
