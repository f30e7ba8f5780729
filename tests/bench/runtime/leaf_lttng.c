/* SPDX-License-Identifier: GPL-3.0-or-later */
/* leaf_lttng.c - what LTTng makes of leaf_lttng.h. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "leaf_lttng.h"
