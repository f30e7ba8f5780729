/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * client.h - the latencies that a client of the server saw, and how much of them the interval is.
 *
 *	pgbench: latency stddev = 44.721 ms; the interval's sd is 1 ms	-> it holds 0.05 % of the variance
 */
#ifndef REPORT_WORDS_CLIENT_H
#define REPORT_WORDS_CLIENT_H

#include "analysis/findings/findings.h"

struct client {
	const char *tool;		/* whose output it was; NULL: the figures were given */
	bool has_mean, has_sd, has_p99;
	double mean_ns, sd_ns, p99_ns;
};

/* "4.1ms", "635us", "2s", "120ns"; a bare number is in ms.  false: it is none, or not above 0. */
bool client_parse_time(const char *text, double *ret_ns);

/* The output of ab, wrk, pgbench, dnsperf, redis-benchmark or memaslap.  false: it is of none of them, or has no figure that is asked for. */
bool client_parse(const char *text, struct client *ret);

/* The part of the client's variance that the interval holds; NAN: its sd is not known. */
double client_variance_held(const struct findings *f, const struct client *c);

/* One sentence; freed by the caller. */
char *client_text(const struct findings *f, const struct client *c, bool utf8);

#endif
