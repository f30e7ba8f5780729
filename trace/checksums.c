/* SPDX-License-Identifier: GPL-3.0-or-later */
/* checksums.c - four chains side by side as far as the shortest block goes, then what is left of each. */
#include "trace/checksums.h"

#include "base/banned.h"
#include "trace/encode.h"

void checksums(struct summed blocks[CHECKSUMS_AT_ONCE])
{
	const unsigned char *a = blocks[0].data, *b = blocks[1].data, *c = blocks[2].data, *d = blocks[3].data;
	uint64_t sum_a = CHECKSUM_EMPTY, sum_b = CHECKSUM_EMPTY, sum_c = CHECKSUM_EMPTY, sum_d = CHECKSUM_EMPTY;
	size_t shortest = blocks[0].len;

	for (size_t i = 1; i < CHECKSUMS_AT_ONCE; i++)
		shortest = blocks[i].len < shortest ? blocks[i].len : shortest;
	for (size_t i = 0; i < shortest; i++) {
		sum_a = checksum_byte(sum_a, a[i]);
		sum_b = checksum_byte(sum_b, b[i]);
		sum_c = checksum_byte(sum_c, c[i]);
		sum_d = checksum_byte(sum_d, d[i]);
	}
	blocks[0].sum = checksum_more(sum_a, a + shortest, blocks[0].len - shortest);
	blocks[1].sum = checksum_more(sum_b, b + shortest, blocks[1].len - shortest);
	blocks[2].sum = checksum_more(sum_c, c + shortest, blocks[2].len - shortest);
	blocks[3].sum = checksum_more(sum_d, d + shortest, blocks[3].len - shortest);
}
