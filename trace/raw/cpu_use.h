/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cpu_use.h - other processes' use of the CPUs: the periods of a trace, added up.
 */
#ifndef TRACE_RAW_CPU_USE_H
#define TRACE_RAW_CPU_USE_H

#include "base/map.h"
#include "trace/encode.h"
#include "trace/model.h"

/* Adds one BLOCK_CPU_USE to u.  index: finds u's users by name. */
void cpu_use_decode(struct cpu_use *u, struct map *index, struct arena *arena, struct decoder *d);

/* Adds the use of another run or part; names are copied. */
void cpu_use_add(struct cpu_use *u, const struct cpu_use *from, struct arena *arena);

/* Sums each thread's last account, for a reader that does not look at where threads were off the CPU (off_cpu.h). */
struct raw;
void cpu_use_sum_accounts(const struct raw *r, struct off_cpu *ret);

#endif
