/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jit_names.h - names of code that a process made itself while it ran (Node, Java, Python 3.12): it writes them into files for perf.
 *
 *	/tmp/perf-7.map		7f10a0 80 LazyCompile:*handle /srv/app.js:12:3		-> handle, app.js:12
 *	.../jit-7.dump		the same in binary (jitdump); the process has it mapped
 *
 * They lie in the process's own /tmp, which a container has to itself.  Anybody may write there: only files of root, of the user who
 * runs vprof and of the user whose process it is are read, no links, and no more than is bounded.
 */
#ifndef RECORDER_STACKS_JIT_NAMES_H
#define RECORDER_STACKS_JIT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct jit_names;

/* dump: the jitdump's path, as the process sees it; NULL: there is none.  NULL if there are no names. */
struct jit_names *jit_names_read(uint32_t pid, const char *dump);
void jit_names_free(struct jit_names *n);	/* NULL is fine */

/* Whether there is a map that would be read. */
bool jit_names_exist(uint32_t pid);

/* Where is `address`?  NULL: unknown.  *ret_file, *ret_line: NULL and 0 where the name does not say it. */
const char *jit_names_find(const struct jit_names *n, uint64_t address, const char **ret_file, int *ret_line);

/* For tests: the same of files that lie elsewhere. */
struct jit_names *jit_names_read_files(const char *map, const char *dump, unsigned int owner);

#endif
