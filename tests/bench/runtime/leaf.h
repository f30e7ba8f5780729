/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * leaf.h - the empty function, three times: as it is, with a pair of rdtsc, under a tool.
 *
 * Each program of the bench has the first two and one tool's leaf (leaf_tool.c, compiled as that tool wants),
 * so that its ratio to the pair is taken within one process, a slice of calls of each in turns.
 */
#ifndef TESTS_BENCH_RUNTIME_LEAF_H
#define TESTS_BENCH_RUNTIME_LEAF_H

void plain_leaf(void);
void rdtsc_leaf(void);
void tool_leaf(void);

#endif
