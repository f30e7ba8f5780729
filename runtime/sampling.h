/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampling.h - which intervals are recorded in full, and which root-only: their events and waits,
 * but no function that records inside intervals only.
 *
 * Decided by lot when an interval begins, and kept until it ends, on every thread that works for it:
 * a choice by time would miss the long ones, every n-th would fall in step with periodic load.
 * label is a number of the arena, key what tells intervals of that name apart.
 */
#ifndef RUNTIME_SAMPLING_H
#define RUNTIME_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

enum sampling_found { SAMPLING_IN_FULL, SAMPLING_SKIPPED, SAMPLING_NOT_BEGUN };

/* Lots are drawn: not every interval is recorded in full. */
bool sampling_is_on(void);

/* A lot: BEGIN_ROOT_ONLY or not, and the rate if that changes (trace/format.h). */
uint64_t sampling_lot(void);

/* Few intervals are recorded in full, just now. */
bool sampling_is_rare(void);

/* The interval begins: remembers whether its functions are left out, by its lot or for another reason. */
void sampling_begin(uint64_t label, uint64_t key, bool skip, uint64_t now);

/* It began in this process, and has not ended. */
bool sampling_is_open(uint64_t label, uint64_t key);

/* Somebody goes on with it. */
enum sampling_found sampling_find(uint64_t label, uint64_t key);

void sampling_end(uint64_t label, uint64_t key, uint64_t now);

#endif
