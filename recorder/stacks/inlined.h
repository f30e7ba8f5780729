/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inlined.h - the functions that the compiler inlined at an address, by a file's debugging information.
 */
#ifndef RECORDER_STACKS_INLINED_H
#define RECORDER_STACKS_INLINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inlined;				/* of one file */

/* NULL: it has no debugging information, or none that this vprof can read. */
struct inlined *inlined_open(const char *path);
void inlined_close(struct inlined *i);	/* NULL is fine */

struct inlined_function {
	const char *symbol;		/* as a symbol: "_ZN5store3getEi", or the plain name; lives as long as the file */
	const char *file;		/* where it is defined; NULL: it does not say */
	uint32_t line;
	bool is_inlined;		/* false: the function itself, which comes last; it may be missing */
};

/* The functions at an address, the innermost first.  Returns how many. */
size_t inlined_find(struct inlined *i, uint64_t address, struct inlined_function *ret, size_t most);

#endif
