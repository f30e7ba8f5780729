/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * device_waits.h - the table of waits for disks (runtime/shared/device_wait.h): a number for it, and a descriptor that programs of the
 * run inherit.  From then on the kernel writes it, and nobody else can.
 */
#ifndef RECORDER_DEVICE_WAITS_H
#define RECORDER_DEVICE_WAITS_H

#include <stdint.h>

struct record_bpf;

struct device_waits {
	const struct device_wait *table;	/* NULL: not open */
	int fd;				/* the programs' own */
	uint64_t number;
};

int device_waits_open(struct record_bpf *p, struct device_waits *ret);	/* 0 or a negative errno */
void device_waits_close(struct device_waits *w);
void device_waits_await(struct record_bpf *p, uint32_t disk);		/* as recorder_await() */

#endif
