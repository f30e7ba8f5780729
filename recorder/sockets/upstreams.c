/* SPDX-License-Identifier: GPL-3.0-or-later */
/* upstreams.c - see upstreams.h. */
#include "recorder/sockets/upstreams.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include "base/banned.h"
#include "base/cleanup.h"

/* IPv4 in IPv6, as in ::ffff:10.0.0.7, is IPv4 to a reader. */
static const unsigned char v4_in_v6[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

static void make_name(struct upstream *u)
{
	bool is_v6 = u->family == AF_INET6, is_mapped = is_v6 && memcmp(u->address, v4_in_v6, sizeof(v4_in_v6)) == 0;
	char host[INET6_ADDRSTRLEN] = "?";

	inet_ntop(is_v6 && !is_mapped ? AF_INET6 : AF_INET, is_mapped ? u->address + sizeof(v4_in_v6) : u->address, host, sizeof(host));
	snprintf(u->name, sizeof(u->name), is_v6 && !is_mapped ? "[%s]:%u" : "%s:%u", host, u->port);
}

static bool is_of(const struct upstream *u, const struct record_upstream *r)
{
	return u->port == r->port && u->family == r->family && memcmp(u->address, r->address, sizeof(u->address)) == 0;
}

const char *upstream_name(struct upstreams *u, const struct record_upstream *r)
{
	struct upstream *new;

	if (u->last < u->cnt && is_of(&u->items[u->last], r))
		return u->items[u->last].name;
	for (unsigned int i = 0; i < u->cnt; i++)
		if (is_of(&u->items[i], r)) {
			u->last = i;
			return u->items[i].name;
		}
	if (u->cnt == ARRAY_SIZE(u->items))
		return "other servers";
	u->last = u->cnt;
	new = &u->items[u->cnt++];
	new->family = r->family;
	new->port = r->port;
	memcpy(new->address, r->address, sizeof(new->address));
	make_name(new);
	return new->name;
}
