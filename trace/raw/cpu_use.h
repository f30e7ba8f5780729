/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cpu_use.h - other processes' use of the CPUs: the periods of a trace, added up.
 */
#ifndef TRACE_RAW_CPU_USE_H
#define TRACE_RAW_CPU_USE_H

#include "base/map.h"
#include "trace/encode.h"
#include "trace/model.h"

/* One BLOCK_CPU_USE, added to u.  index: of u's users, by name. */
void cpu_use_decode(struct cpu_use *u, struct map *index, struct arena *arena, struct decoder *d);

/* Another run's, or part's; names are copied. */
void cpu_use_add(struct cpu_use *u, const struct cpu_use *from, struct arena *arena);

/* What all its threads were charged with, by the last word about each, for who does not look where (off_cpu.h). */
struct raw;
void cpu_use_sum_accounts(const struct raw *r, struct off_cpu *ret);

#endif
