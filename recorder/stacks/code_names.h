/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * code_names.h - names of the code at an address of a program, by its symbols and debugging information.
 *
 *	struct code_names *n = code_names_new();
 *	code_names_find(n, "/srv/server", 0x1234, &place);
 *
 * Unlike symbols.h it needs no process, no kernel's side and no debugging information: static functions are in the table of
 * symbols, with the name of their source.
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
	const char *file;		/* the source, perhaps without directories; NULL: not known */
	uint32_t line;			/* of its definition; 0: not known */
};

struct code_place {
	struct code_name names[CODE_NAMES_MAX];	/* the innermost first; several where some are inlined */
	uint32_t name_cnt;			/* 0: the file has no name for it */
	bool is_built;				/* the file holds units that vprof built */
	const char *path;
	uint64_t start;				/* of the function by its symbol; 0: it has none */
	uint64_t called;			/* what the call before the address is of, if that says it by itself; else 0 */
	bool called_is_function;		/* a symbol begins there: it is no way to another file */
};

/*
 * Who called, by the return address as the file counts.  A function that ended in the call, so that it was a jump, has left
 * no return address; who called that one did, and says whom: it is the innermost then.  False: there is no such file, or it is none.
 */
bool code_names_find(struct code_names *n, const char *path, uint64_t address, struct code_place *ret);

/*
 * The caller of that: adds its names, and is the place then.  The address was found on the stack and may be anything; false, and
 * nothing is changed: no call of place's function is before it.
 */
bool code_names_add_caller(struct code_names *n, const char *path, uint64_t address, struct code_place *place);

#endif
