/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz.c - a target under libFuzzer.
 *
 *	FUZZ_TARGET=trace fuzz -max_total_time=60 CORPUS...
 */
#include <stdio.h>
#include <stdlib.h>
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/targets.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t cap, unsigned int seed);

static const struct fuzz_target *target;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = getenv("FUZZ_TARGET");

	(void)argc;
	(void)argv;
	target = name ? fuzz_target_find(name) : NULL;
	if (!target) {
		fprintf(stderr, "fuzz: FUZZ_TARGET is one of");
		for (size_t i = 0; i < fuzz_target_cnt; i++)
			fprintf(stderr, " %s", fuzz_targets[i].name);
		fprintf(stderr, "\n");
		exit(2);
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	target->run(data, len);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t cap, unsigned int seed)
{
	if (target->magic)
		return mutate_blocks(target, data, len, cap, seed);
	return LLVMFuzzerMutate(data, len, cap);
}
