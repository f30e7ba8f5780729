/* SPDX-License-Identifier: GPL-3.0-or-later */
/* iterate_loop.c - see iterate_loop.h: what may end or forbid a round. */
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

/* Where an interval cannot begin or end no load is spent on it. */
int iterate_check_places(const struct loop *l, struct diag *reterr)
{
	_cleanup_(str_release) struct str unused = STR_INIT;

	return check_places(l->store, &l->config, &l->scanned, &unused, reterr);
}
