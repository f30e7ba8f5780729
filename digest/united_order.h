/* SPDX-License-Identifier: GPL-3.0-or-later */
/* united_order.h - see united_order.c.  Private to digest/. */
#ifndef DIGEST_UNITED_ORDER_H
#define DIGEST_UNITED_ORDER_H

#include "analysis/summed/summed.h"

/* Everything by what it is, under new numbers. */
void summed_put_in_order(struct summed *s);

/* The lists of one window whose numbers are new; what is there twice is added up. */
void window_put_in_order(struct summed_window *w);

#endif
