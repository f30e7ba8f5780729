/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampling.h - which intervals are recorded in full, and which root-only: their events and waits,
 * but no function that records inside intervals only.
 *
 * The choice is random, made when an interval begins, and holds until it ends, on every thread that works for it:
 * a choice by time would miss the long ones, every n-th would fall in step with periodic load.
 * label is a number of the arena; key tells intervals of that name apart.
 */
#ifndef RUNTIME_SAMPLING_H
#define RUNTIME_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>
#include "runtime/ids.h"

enum sampling_found { SAMPLING_IN_FULL, SAMPLING_SKIPPED, SAMPLING_NOT_BEGUN };

/* Whether lots are drawn: not every interval is recorded in full. */
bool sampling_is_on(void);

/*
 * Draws a lot: BEGIN_ROOT_ONLY or not, and the rate if that changes (trace/format.h).  With `record --by trace` the low 56 bits of
 * the interval's trace id are the lot, so that all hosts choose the same requests.  ids NULL: it has none.
 */
uint64_t sampling_lot(const struct thread_ids *ids);

/* Whether few intervals are recorded in full at present. */
bool sampling_is_rare(void);

/* At the interval's begin: remembers whether to skip its functions, by its lot or for another reason. */
void sampling_begin(uint64_t label, uint64_t key, bool skip, uint64_t now);

/* Whether the interval began in this process and has not ended. */
bool sampling_is_open(uint64_t label, uint64_t key);

/* A thread takes up the interval. */
enum sampling_found sampling_find(uint64_t label, uint64_t key);

void sampling_end(uint64_t label, uint64_t key, uint64_t now);

#endif
