/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * code_names.h - names of the code at an address of a program, by its symbols and debugging information.
 *
 *	struct code_names *n = code_names_new();
 *	code_names_find(n, "/srv/server", 0x1234, &place);
 *
 * Unlike symbols.h it needs no process, no kernel trace and no debugging information: static functions are in the
 * table of symbols, with the name of their source.
 */
#ifndef RECORDER_STACKS_CODE_NAMES_H
#define RECORDER_STACKS_CODE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct code_names;

struct code_names *code_names_new(void);
void code_names_free(struct code_names *n);	/* NULL is fine */

enum { CODE_NAMES_MAX = 8 };

struct code_name {
	const char *name;		/* "lock_slow", of C++ with its parameters: "store::get(int)"; lives as long as n */
	const char *file;		/* the source, perhaps without directories; NULL: unknown */
	uint32_t line;			/* of its definition; 0: unknown */
};

struct code_place {
	struct code_name names[CODE_NAMES_MAX];	/* the innermost first; several where some are inlined */
	uint32_t name_cnt;			/* 0: the file has no name for it */
	bool is_built;				/* the file holds units that vprof built */
	const char *path;
	uint64_t start;				/* of the function by its symbol; 0: it has none */
	uint64_t called;			/* target of the call before the address, if the instruction contains
						 * it; else 0 */
	bool called_is_function;		/* a symbol begins at `called`: it is not a stub for another file */
};

/*
 * The caller, by the return address in the file.  A function whose last call was compiled to a jump left no return
 * address; its own caller did, whose call instruction names that function: it is the innermost then.  False: the file
 * does not exist, or is not ELF.
 */
bool code_names_find(struct code_names *n, const char *path, uint64_t address, struct code_place *ret);

/*
 * The next caller: adds its names to place, which it becomes.  The address comes from the stack and may be anything;
 * false: no call of place's function precedes it, and nothing is changed.
 */
bool code_names_add_caller(struct code_names *n, const char *path, uint64_t address, struct code_place *place);

#endif
