/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stacks.h - the stacks of a recording, each with a number.
 */
#ifndef RECORDER_STACKS_STACKS_H
#define RECORDER_STACKS_STACKS_H

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

void stacks_count(struct stacks *s, uint32_t number);	/* one more was there */

/* What the kernel needs to recognise the one that got its number last, that of r, and where it belongs.  False: it could
 * not be sure, or has been told since r was made. */
bool stacks_known(struct stacks *s, const struct record_stack *r, uint64_t now_ns, unsigned int *ret_place,
		  struct known_stack *ret);

/* Of the stacks those with functions that have no name, for their file was stripped of its symbols. */
struct unnamed_stacks {
	char file[64];			/* which most of them pass through, without its directory; "": there are none */
	uint64_t cnt, of;		/* through that file; all */
};

/* Their texts, in order of their numbers. */
void stacks_each(struct stacks *s, void (*take)(void *context, const char *text, size_t len),
		 void *context, struct unnamed_stacks *ret);

#endif
