/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * code_places.h - where in a file a function's code begins, for the kernel's uprobes: they are set at offsets of files.
 *
 *	code_function_find("/usr/bin/redis-server", "processCommand", &offset)
 *
 * Functions are looked up in the symbols, those of the loader's included, and in the separate debugging information of this
 * machine (/usr/lib/debug/.build-id).  Files may be hostile: what makes no sense is not found.
 */
#ifndef RECORDER_STACKS_CODE_PLACES_H
#define RECORDER_STACKS_CODE_PLACES_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

/* 0; -ENOENT: it has none of that name; -ENOTUNIQ: it has several; -ENOEXEC: it is no ELF file; or what open() says.
 * Names of C++ are without parameters: "store::get". */
int code_function_find(const char *path, const char *function, uint64_t *ret_offset);

/* The offset of the code at an address of the file.  False: there is no code. */
bool code_offset(Elf *elf, uint64_t address, uint64_t *ret);

/* The file, for libelf; NULL and *ret_err: a negative errno.  code_close() in any case. */
struct code_elf {
	int fd;
	Elf *elf;
};
int code_open(struct code_elf *e, const char *path);
void code_close(struct code_elf *e);

#endif
