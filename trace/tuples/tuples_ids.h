/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tuples_ids.h - the tuples about other hosts.  Private to trace/tuples/.
 *
 *	ids 7 0af7651916cd43dd8448eb211c80319c 00f067aa0ba902b7 -	interval 7 has no known parent
 *	remote-call 5 b7ad6b7169203331 1000				thread 5 calls another service at 1000
 *	host db-7
 */
#ifndef TRACE_TUPLES_TUPLES_IDS_H
#define TRACE_TUPLES_TUPLES_IDS_H

#include <stdio.h>
#include "trace/tuples/tuples_fields.h"

int tuples_parse_ids(struct parser *p, const struct field *f, size_t cnt);
int tuples_parse_remote_call(struct parser *p, const struct field *f, size_t cnt);
int tuples_parse_host(struct parser *p, const struct field *f, size_t cnt);

/* The host, written as a name, is written by the caller. */
void tuples_write_ids(FILE *out, const struct trace *t);

#endif
