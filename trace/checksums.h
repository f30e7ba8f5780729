/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * checksums.h - encode_checksum() of several blocks at once.
 *
 * A checksum is a chain of multiplications, each of which waits for the one before; those of another block do not, so four
 * take as long as one.
 */
#ifndef TRACE_CHECKSUMS_H
#define TRACE_CHECKSUMS_H

#include <stddef.h>
#include <stdint.h>

enum { CHECKSUMS_AT_ONCE = 4 };

struct summed {
	const unsigned char *data;	/* not NULL */
	size_t len;
	uint64_t sum;			/* set */
};

void checksums(struct summed blocks[CHECKSUMS_AT_ONCE]);

#endif
