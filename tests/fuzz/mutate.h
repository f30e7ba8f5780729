/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mutate.h - changes in a file of blocks that get behind its checksums: a block is unpacked, changed
 * and packed again, blocks come, go and change places.
 */
#ifndef TESTS_FUZZ_MUTATE_H
#define TESTS_FUZZ_MUTATE_H

#include "tests/fuzz/targets.h"

/* libFuzzer's own, of bytes that mean nothing. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t len, size_t cap);

/* Changes data, len bytes, in place; the new length, at most cap. */
size_t mutate_blocks(const struct fuzz_target *target, uint8_t *data, size_t len, size_t cap,
		     unsigned int seed);

#endif
