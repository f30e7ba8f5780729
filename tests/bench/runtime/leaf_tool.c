/* SPDX-License-Identifier: GPL-3.0-or-later */
/* leaf_tool.c - the leaf that a tool records: its compiler, or the tool itself, inserts the probes. */
#include "leaf.h"

#ifdef WITH_LTTNG
#include "leaf_lttng.h"
#endif

__attribute__((noinline, aligned(64))) void tool_leaf(void)
{
#ifdef WITH_LTTNG
	lttng_ust_tracepoint(leaf, in, 1);
#endif
	__asm__ __volatile__("");
#ifdef WITH_LTTNG
	lttng_ust_tracepoint(leaf, out, 1);
#endif
}
