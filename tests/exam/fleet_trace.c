/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleet_trace.c - fleet_trace PATH INVOCATIONS SEED: the recording of one host, for tests/exam/fleet.sh. */
#include <stdio.h>
#include <stdlib.h>
#include "tests/bench/big_trace.h"
#include "base/banned.h"

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	return big_trace_write_seeded(argv[1], strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10)) == 0;
}
