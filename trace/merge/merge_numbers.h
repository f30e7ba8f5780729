/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * merge_numbers.h - TIDs, or SIDs, of several parts: no two parts keep the same one.
 *
 * Private to trace/.  Example: parts with 1, 2 and 2, 3: the second's 2 becomes 4, the first that no part has.
 */
#ifndef TRACE_MERGE_MERGE_NUMBERS_H
#define TRACE_MERGE_MERGE_NUMBERS_H

#include <stddef.h>
#include <stdint.h>
#include "trace/archive.h"
#include "base/cleanup.h"

struct merge_numbers;

struct merge_numbers *merge_numbers_new(size_t part_cnt);
void merge_numbers_free(struct merge_numbers *n);	/* NULL is fine */

/* Notes that the part has this number; any order, any number of times. */
void merge_numbers_see(struct merge_numbers *n, size_t part, uint64_t number);
/* Writes the part's numbers, or reads some and sees them. */
void merge_numbers_archive(struct merge_numbers *n, size_t part, struct archive *a);
/* Forgets all numbers noted for the part. */
void merge_numbers_forget(struct merge_numbers *n, size_t part);
/* All numbers of all parts have been noted. */
void merge_numbers_settle(struct merge_numbers *n);

/* The number after settling; a number that was not noted is unchanged. */
uint64_t merge_numbers_of(const struct merge_numbers *n, size_t part, uint64_t number);

#endif
