/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_sample_cost.c - what a sample takes, from when a loop stood still and when it was sampled (recorder/sample_cost.c). */
#include <stdbool.h>
#include <stdint.h>
#include "tests/unit/cmocka_all.h"
#include "recorder/sample_cost.h"

/* 15 gaps of 100 each 1000, and one of 5000 in which another thread ran; between them short ones that no sample hits. */
static void test_median(void **state)
{
	gaps_in_time gaps = { NULL, 0, 0 };
	uint64_t samples_ns[20];
	size_t cnt = 0;

	(void)state;
	for (uint64_t i = 1; i <= 16; i++) {
		uint64_t start_ns = i * 10000, length_ns = i == 7 ? 5000 : 100 + i;

		VEC_ADD(&gaps, (struct gap_in_time){ start_ns, start_ns + length_ns });
		VEC_ADD(&gaps, (struct gap_in_time){ start_ns + 7000, start_ns + 7600 });
		samples_ns[cnt++] = start_ns + 50;
	}
	samples_ns[cnt++] = 5;		/* the loop was not there yet */
	samples_ns[cnt++] = 18000;	/* it did not stand still */
	assert_int_equal(sample_cost_of(&gaps, samples_ns, cnt), 110);	/* of 101 ... 116 without 107, and 5000: the ninth */
	assert_int_equal(sample_cost_of(&gaps, samples_ns, 9), 0);	/* too few */
	assert_int_equal(sample_cost_of(&gaps, samples_ns, 0), 0);
	VEC_RELEASE(&gaps);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_median) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
