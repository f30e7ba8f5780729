/* SPDX-License-Identifier: GPL-3.0-or-later */
/* demo.h - what an example of `vprof demo` plants, and the steps that all of them share.  Private to cmd/demo*.c. */
#ifndef CMD_DEMO_H
#define CMD_DEMO_H

#include <stdbool.h>
#include "base/str.h"

/* [demo] of demo.ini. */
struct demo_answer {
	char *summary, *question;	/* question: NULL for the usual one */
	char *function, *wait, *because_of;	/* the first factor; function NULL: an example of causal experiments */
	char *beside;			/* the largest function, of which nothing can be gained */
	char *faster, *also;		/* the target that is worth making faster; another one that is the same thing */
};

/* Runs one step of the demo in dir, as the user would type it.  out: gets its standard output; or NULL. */
int demo_step(const char *dir, bool quiet, struct str *out, const char *const *words);

int demo_causal(const char *dir, const struct demo_answer *a, bool check, bool json);

#endif
