/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devices.h - waits of the calling thread that the kernel reports (runtime/shared/device_wait.h).  Private to runtime/causal/, but for
 * devices_map().
 *
 *	disk:NAME, io		all its waits for that disk, or for any, count
 *	io@FUNCTION		those inside its calls: devices_begin(), devices_end()
 *	FUNCTION, lock:NAME	those inside a stretch of CPU time, as page faults: devices_total() at both ends
 */
#ifndef RUNTIME_CAUSAL_DEVICES_H
#define RUNTIME_CAUSAL_DEVICES_H

#include <stdbool.h>
#include <stdint.h>
#include "runtime/shared/arena.h"

/* NULL: the recorder has no such table, or this process has not inherited it. */
const struct device_wait *devices_map(const struct arena_map *a);

/* The thread takes part in the block in force (shift_join()). */
void devices_join(struct shift *s);

void devices_begin(struct shift *s);
void devices_end(struct shift *s);

/* ns, of its waits that are over; 0 if there is no table. */
uint64_t devices_total(void);

/* When its last wait began, by the experiment's clock. */
uint64_t devices_from(const struct shift *s);

#endif
