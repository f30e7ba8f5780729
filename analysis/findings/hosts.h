/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hosts.h - which host each origin of intervals is.
 *
 * A host is a machine; where the machine is not known, a host name.  All origins of which neither is known, as
 * imports, count as one host.
 */
#ifndef ANALYSIS_FINDINGS_HOSTS_H
#define ANALYSIS_FINDINGS_HOSTS_H

#include <stdbool.h>
#include "trace/model.h"

/* Texts that are not known are NULL or "". */
bool hosts_same(const char *machine_a, const char *host_a, const char *machine_b, const char *host_b);

/* Per origin its host, numbered from 0 in the order of their first origins; the caller frees it. */
uint32_t *hosts_of_origins(const struct trace_origin *origins, size_t cnt, uint32_t *ret_host_cnt);

#endif
