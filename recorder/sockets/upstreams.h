/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * upstreams.h - the names of servers that the run's processes ask.
 *
 *	{ AF_INET, 5432, 127.0.0.1 } -> "127.0.0.1:5432"	{ AF_INET6, 5432, ::1 } -> "[::1]:5432"
 */
#ifndef RECORDER_UPSTREAMS_H
#define RECORDER_UPSTREAMS_H

#include "recorder/bpf/record.h"
#include "trace/kernel_format.h"

struct upstreams {			/* {0} to begin with */
	struct upstream {
		unsigned int family, port;
		unsigned char address[16];
		char name[UPSTREAM_NAME_MAX + 1];
	} items[UPSTREAMS_MAX - 1];
	unsigned int cnt, last;
};

/* The name of r's server, whose port is one; after UPSTREAMS_MAX - 1 different ones "other servers" for all new ones. */
const char *upstream_name(struct upstreams *u, const struct record_upstream *r);

#endif
