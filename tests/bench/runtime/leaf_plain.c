/* SPDX-License-Identifier: GPL-3.0-or-later */
/* leaf_plain.c - the leaf as it is, and the least that any tool can do that wants to know a duration. */
#include <stdint.h>
#include "leaf.h"

__attribute__((noinline, aligned(64))) void plain_leaf(void)
{
	__asm__ __volatile__("");
}

static inline uint64_t ticks(void)
{
	uint32_t low, high;

	__asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

static __thread volatile uint64_t sum;

__attribute__((noinline, aligned(64))) void rdtsc_leaf(void)
{
	uint64_t start = ticks();

	__asm__ __volatile__("");
	sum += ticks() - start;
}
