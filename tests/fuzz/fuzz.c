/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz.c - a target under libFuzzer.
 *
 *	FUZZ_TARGET=trace FUZZ_SECONDS=60 fuzz CORPUS...
 *
 * It ends after that many seconds of CPU time (0: never), and an input that takes 20 of those hangs: what a run is
 * worth, and what it finds, does not depend on other users of the machine.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/targets.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t cap, unsigned int seed);

enum { HANG_SECONDS = 20 };

static const struct fuzz_target *target;
static clock_t until;			/* of this process's time; 0: no end */
static timer_t hang;			/* ends in SIGABRT, which libFuzzer reports with the input */

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
	if (getenv("FUZZ_SECONDS"))
		until = (clock_t)strtol(getenv("FUZZ_SECONDS"), NULL, 10) * CLOCKS_PER_SEC;
	if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &(struct sigevent){ .sigev_notify = SIGEV_SIGNAL,
			 .sigev_signo = SIGABRT }, &hang)) {
		perror("fuzz: timer_create");
		exit(99);
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct itimerspec patience = { .it_value = { HANG_SECONDS, 0 } };

	timer_settime(hang, 0, &patience, NULL);
	target->run(data, len);
	if (until && clock() > until) {
		if (fuzz_made.all)
			fprintf(stderr, "stat::accepted_percent: %" PRIu64 "\n", 100 * fuzz_made.accepted / fuzz_made.all);
		raise(SIGUSR1);			/* libFuzzer prints its sums and ends well */
	}
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t cap, unsigned int seed)
{
	if (target->run == fuzz_db)
		return mutate_sql(data, len, cap, seed);
	if (target->magic)
		return mutate_blocks(target, data, len, cap, seed);
	return LLVMFuzzerMutate(data, len, cap);
}
