/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * beside.h - what a thread may be doing when a request comes.
 *
 *	main calls loop; loop calls read_requests, save_all; read_requests calls handle_request, where the interval begins
 *	-> save_all, and what it calls
 *
 * A request that is picked up late, or that lies aside, waits for what its thread does meanwhile.  That is called around the place
 * where the interval begins, and never from there.
 */
#ifndef PROJECT_BUILD_BESIDE_H
#define PROJECT_BUILD_BESIDE_H

#include "store/store.h"

enum { BESIDE_MOST = 240 };		/* functions; the nearest callers' come first */

/* starts, ret_beside: per function.  skips: functions that are probed anyway, or not to be. */
void find_beside(const struct project *p, const bool *starts, const bool *skips, bool *ret_beside);

#endif
