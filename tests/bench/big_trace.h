/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * big_trace.h - a recorded trace of any length, as a server of 16 threads would leave it.
 */
#ifndef TESTS_BENCH_BIG_TRACE_H
#define TESTS_BENCH_BIG_TRACE_H

#include <stdint.h>

/*
 * Writes about invocation_cnt invocations to path, nearly 60 a request, from the same seed the same ones.  Of
 * each eight requests one waits for a lock of its neighbour.  Returns the number of invocations; 0: not written.
 */
uint64_t big_trace_write(const char *path, uint64_t invocation_cnt);
uint64_t big_trace_write_seeded(const char *path, uint64_t invocation_cnt, uint64_t seed);

#endif
