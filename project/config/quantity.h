/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * quantity.h - times and sizes as users write them: 500ms, 30s, 2m, 1h; 64K, 200M, 2G.
 *
 * A bare number is seconds, or bytes.  1.5G is 1,610,612,736: K, M and G are powers of 1,024.
 */
#ifndef PROJECT_CONFIG_QUANTITY_H
#define PROJECT_CONFIG_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

/* false: not a quantity, or not above 0. */
bool parse_duration(const char *text, int64_t *ret_ns);
bool parse_bytes(const char *text, uint64_t *ret);

#endif
