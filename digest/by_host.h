/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * by_host.h - a digest of several hosts, host by host.
 *
 *	r = hosts_of(digest, &hosts);
 *	... hosts.items[i].name, .part
 *	hosts_release(&hosts);
 *
 * A host is a machine: containers on it are the same host, and so are its recordings of different boots.
 */
#ifndef DIGEST_BY_HOST_H
#define DIGEST_BY_HOST_H

#include "analysis/summed/summed.h"

struct host_part {
	const char *name;		/* the digest's text; of two machines of the same name "name (machine-id)", its own */
	char *own_name;
	struct summed part;		/* its windows; all but the list of them is the digest's: for reading only */
	int64_t started_ns;		/* of its first recording; 0: not known */
};
typedef VEC(struct host_part) host_parts;

/* By name.  -ENODATA: a window is of a source that says neither machine nor host; hosts_release() in any case. */
int hosts_of(const struct summed *s, host_parts *ret);
void hosts_release(host_parts *h);

#endif
