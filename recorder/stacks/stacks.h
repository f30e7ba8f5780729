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

/* Follows what the calling thread forks from now on. */
struct stacks *stacks_new(void);
void stacks_free(struct stacks *s);		/* NULL is fine */

/* Notes new mappings; call it before adding the stacks of that time. */
void stacks_read(struct stacks *s);

/* STACK_NONE: the stack is unknown. */
uint32_t stacks_number(struct stacks *s, const struct record_stack *r, size_t len);

void stacks_count(struct stacks *s, uint32_t number);	/* counts one more occurrence */

/* Returns the data by which the kernel can recognise the last numbered stack, that of r, and its slot.  False: the
 * kernel could not be certain, or knows the stack already. */
bool stacks_known(struct stacks *s, const struct record_stack *r, uint64_t now_ns, unsigned int *ret_place,
		  struct known_stack *ret);

/* Stacks with functions that have no name because their file was stripped. */
struct unnamed_stacks {
	char file[64];			/* the file that most of them pass through, without its directory; "": there
					 * are none */
	uint64_t cnt, of;		/* through that file; all */
};

/* The stacks' texts, in order of their numbers. */
void stacks_each(struct stacks *s, void (*take)(void *context, const char *text, size_t len),
		 void *context, struct unnamed_stacks *ret);

/* Then: the functions of system libraries in them, as written there. */
void stacks_each_system(const struct stacks *s, void (*take)(void *context, const char *text, size_t len), void *context);

#endif
