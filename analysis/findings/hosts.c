/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hosts.c - compares the machines and names of hosts.
 */
#include "analysis/findings/hosts.h"

#include <string.h>
#include "base/alloc.h"
#include "base/banned.h"

static const char *text_of(const char *text)
{
	return text ? text : "";
}

bool hosts_same(const char *machine_a, const char *host_a, const char *machine_b, const char *host_b)
{
	if (*text_of(machine_a) && *text_of(machine_b))
		return strcmp(machine_a, machine_b) == 0;
	return strcmp(text_of(host_a), text_of(host_b)) == 0;
}

/* The first origin of the same host. */
static size_t first_of(const struct trace_origin *o, size_t i)
{
	size_t k = 0;

	while (!hosts_same(o[k].machine, o[k].host, o[i].machine, o[i].host))
		k++;
	return k;
}

uint32_t *hosts_of_origins(const struct trace_origin *origins, size_t cnt, uint32_t *ret_host_cnt)
{
	uint32_t *hosts = xcalloc(cnt + 1, sizeof(*hosts));

	*ret_host_cnt = 0;
	for (size_t i = 0; i < cnt; i++) {
		size_t first = first_of(origins, i);

		hosts[i] = first < i ? hosts[first] : (*ret_host_cnt)++;
	}
	return hosts;
}
