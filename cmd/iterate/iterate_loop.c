/* SPDX-License-Identifier: GPL-3.0-or-later */
/* iterate_loop.c - reasons to end the loop or to skip a round; see iterate_loop.h. */
#include <signal.h>
#include <stddef.h>
#include "base/banned.h"
#include "cmd/iterate/iterate_loop.h"
#include "project/build/check_places.h"

volatile sig_atomic_t iterate_interrupted;

static void on_interrupt(int signal_number)
{
	iterate_interrupted = signal_number;
}

void iterate_catch_interrupt(void)
{
	struct sigaction catch = { .sa_handler = on_interrupt, .sa_flags = SA_RESTART };

	sigaction(SIGINT, &catch, NULL);
}

/* An interval that cannot begin or end is found before any load is run. */
int iterate_check_places(const struct loop *l, struct diag *reterr)
{
	_cleanup_(primitives_unused_release) struct primitives_unused unused = PRIMITIVES_UNUSED_INIT;

	return check_places(l->store, &l->config, &l->scanned, &unused, reterr);
}
