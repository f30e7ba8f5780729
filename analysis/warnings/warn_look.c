/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * warn_look.c - what to keep in mind where intervals are requests on sockets (struct look).
 */
#include <inttypes.h>
#include "analysis/warnings/warnings.h"
#include "base/banned.h"

#define SEVERAL_SHARE 0.05
#define UNSOLICITED_SHARE 0.05
#define PARKED_SHARE 0.20

static void warn_parked(const struct analysis *a)
{
	double share = 0;

	for (size_t i = 0; i < a->f->nodes.cnt; i++)
		if (a->f->nodes.items[i].kind == NODE_WAIT && a->f->nodes.items[i].wait == STATE_PARKED)
			share += a->f->nodes.items[i].share;
	if (share > PARKED_SHARE)
		findings_warn(a->f, "parked",
			      "%.0f %% of the variance is time in which no thread here had the request: another server, a timer or the "
			      "client had it, and this run does not say why that took so long; look at the process behind",
			      100 * share);
}

void warn_look(const struct analysis *a)
{
	const struct look *k = &a->t->look;
	uint64_t sends = k->answers + k->unsolicited;

	if (!k->is_one)
		return;
	if (k->answers && (double)k->several > SEVERAL_SHARE * (double)k->answers)
		findings_warn(a->f, "burst",
			      "%" PRIu64 " of %" PRIu64 " exchanges hold several requests (pipelining, HTTP/2): each is one interval, and "
			      "its latency is the burst's; a load that waits for each answer tells them apart", k->several, k->answers);
	if (sends && (double)k->unsolicited > UNSOLICITED_SHARE * (double)sends)
		findings_warn(a->f, "unsolicited",
			      "%.0f %% of the sends answer no request: the figures are of the others alone",
			      100 * (double)k->unsolicited / (double)sends);
	warn_parked(a);
}
