/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * elf.h - reads an executable of this machine: how it was linked, which symbols it has.
 *
 *	struct elf *e;
 *	if (elf_open("server", &e) == 0 && !elf_symbol(e, "main", true))
 *		...
 */
#ifndef BASE_ELF_H
#define BASE_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/cleanup.h"

struct elf {
	const char *interpreter;	/* NULL: a static program, which has none */
	bool has_symbols;		/* has symbols besides those that the loader needs: it is not stripped */
	bool is_movable;		/* position independent */
	struct elf_private *private;
};

/* -ENOEXEC: no ELF file; -ENOTSUP: of another machine, or damaged; or what open() says. */
int elf_open(const char *path, struct elf **ret);
void elf_close(struct elf *e);
DEFINE_CLEANUP(struct elf *, elf_close);

/* Finds a symbol whose name begins with this, in either table.  defined: the file must define it. */
bool elf_symbol(const struct elf *e, const char *prefix, bool defined);

/* The contents of a section; NULL: there is no section of that name.  A file without a table of sections: the
 * whole file. */
const char *elf_section(const struct elf *e, const char *name, size_t *ret_bytes);

struct elf_function {			/* or a variable */
	const char *name;
	const char *file;		/* of a local one: the source's name, without directories; else NULL */
	uint64_t start, bytes;
};

/* Visits all functions with a size, in the order of the table: the debuggers' table, or the loader's if that
 * was stripped. */
void elf_functions(const struct elf *e, void (*take)(void *arg, const struct elf_function *f), void *arg);

/* The same for variables. */
void elf_variables(const struct elf *e, void (*take)(void *arg, const struct elf_function *variable), void *arg);

/* The memory of the program at this address of the file; NULL if a part of it does not come from the file. */
const void *elf_at(const struct elf *e, uint64_t address, size_t bytes);

/* Does the file hold this text? */
bool elf_holds(const struct elf *e, const char *text);

#endif
