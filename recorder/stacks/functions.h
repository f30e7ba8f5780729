/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * functions.h - which function of its file an address is in, by the symbol table.
 */
#ifndef RECORDER_STACKS_FUNCTIONS_H
#define RECORDER_STACKS_FUNCTIONS_H

#include <elfutils/libdwfl.h>
#include <stdint.h>

struct functions;

struct functions *functions_new(void);
void functions_free(struct functions *f);	/* NULL is fine; call it before the modules are freed */

/* As dwfl_module_addrname(): NULL if the module knows none, else it lives as long as the module. */
const char *functions_name(struct functions *f, Dwfl_Module *module, uint64_t address);

#endif
