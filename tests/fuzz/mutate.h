/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mutate.h - changes that get behind checksums and grammars.
 *
 * In a file of blocks: a block is unpacked, changed and packed again, blocks come, go and change places
 * (mutate.c).  In what is done to a database: statements on its tables and columns (mutate_sql.c).
 */
#ifndef TESTS_FUZZ_MUTATE_H
#define TESTS_FUZZ_MUTATE_H

#include "tests/fuzz/targets.h"

/* libFuzzer's own, of bytes that mean nothing. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t len, size_t cap);

/* Changes data, len bytes, in place; the new length, at most cap. */
size_t mutate_blocks(const struct fuzz_target *target, uint8_t *data, size_t len, size_t cap,
		     unsigned int seed);

/* The same for SQL on the tables of vprof.db. */
size_t mutate_sql(uint8_t *data, size_t len, size_t cap, unsigned int seed);

#endif
