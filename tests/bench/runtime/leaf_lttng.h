/* SPDX-License-Identifier: GPL-3.0-or-later */
/* leaf_lttng.h - two tracepoints of LTTng-UST, at the entry and at the return; what they carry is an id. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER leaf
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./leaf_lttng.h"

#if !defined(LEAF_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LEAF_LTTNG_H
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(leaf, in, LTTNG_UST_TP_ARGS(int, id),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, id, id)))
LTTNG_UST_TRACEPOINT_EVENT(leaf, out, LTTNG_UST_TP_ARGS(int, id),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, id, id)))
#endif

#include <lttng/tracepoint-event.h>
