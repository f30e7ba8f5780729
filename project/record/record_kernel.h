/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record_kernel.h - the kernel's side of a run, if it is wanted and permitted.
 */
#ifndef PROJECT_RECORD_RECORD_KERNEL_H
#define PROJECT_RECORD_RECORD_KERNEL_H

#include <sys/types.h>
#include "base/diag.h"
#include "recorder/recorder.h"

enum kernel_mode {
	KERNEL_MODE_OFF,
	KERNEL_MODE_AUTO,		/* if permitted; otherwise a line says why not */
	KERNEL_MODE_REQUIRE,
};

enum kernel_stacks {			/* bits */
	KERNEL_STACKS_OFF = 0,
	KERNEL_STACKS_USER = 1,
	KERNEL_STACKS_KERNEL = 2,
	KERNEL_STACKS_BOTH = 3,
};

enum { SAMPLES_HZ_DEFAULT = 250, SAMPLES_HZ_MAX = 10000 };

/* text as after --stacks=; "" is user, NULL off. */
bool kernel_stacks_parse(const char *text, enum kernel_stacks *ret);

/* text as after --kernel=; "" is auto, NULL off.  False: no such mode. */
bool kernel_mode_parse(const char *text, enum kernel_mode *ret);

struct record_options;

/* --start, --end, --key; NULL: not given.  EXIT_USAGE: they do not go together, or make no sense. */
int record_take_calls(struct record_options *o, const char *start, const char *end, const char *key, struct diag *reterr);

/* ret remains NULL if the kernel's side is not wanted, or not permitted and not required. */
int record_kernel_open(const struct record_options *o, uint64_t limit_bytes, const char *run_dir,
		       struct recorder **ret, struct diag *reterr);

/* In a run of experiments: gives the processes the recorder's table of their waits for disks.  NULL: nothing to do. */
struct drainer;
int record_kernel_lend(struct recorder *r, struct drainer *d, struct diag *reterr);

/* Reports losses.  Returns the number of records; 0 for NULL. */
uint64_t record_kernel_close(struct recorder *r, const struct record_options *o);

#endif
