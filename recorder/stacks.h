/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stacks.h - the stacks of a recording, each with a number.
 */
#ifndef RECORDER_STACKS_H
#define RECORDER_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stacks;
struct record_stack;
struct known_stack;

#define STACK_NONE UINT32_MAX

/* From now on what the calling thread forks is known. */
struct stacks *stacks_new(void);
void stacks_free(struct stacks *s);		/* NULL is fine */

/* What was mapped meanwhile; before the stacks of that time. */
void stacks_read(struct stacks *s);

/* STACK_NONE: nothing is known about it. */
uint32_t stacks_number(struct stacks *s, const struct record_stack *r, size_t len);

/* What the kernel needs to recognise the one that got its number last, that of r, and where it belongs.  False: it could
 * not be sure, or has been told since r was made. */
bool stacks_known(struct stacks *s, const struct record_stack *r, uint64_t now_ns, unsigned int *ret_place,
		  struct known_stack *ret);

/* Their texts, in order of their numbers. */
void stacks_each(struct stacks *s, void (*take)(void *context, const char *text, size_t len),
		 void *context);

#endif
