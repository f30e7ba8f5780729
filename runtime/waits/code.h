/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.h - the callers of primitives that blocked, with a probe or without.
 *
 *	lock_slow+0x31 calls pthread_mutex_lock: its wait has the number of that return address
 *
 * Between it and the innermost probed function there may be others without a probe (event_wait of a library, called
 * by lock_slow): words on the stack that point into code are noted with it, when that call is first seen at that
 * place below the probed frame.  Which of them are return addresses is settled where there are files and symbols
 * (recorder/stacks/code_names.h).
 *
 * The numbers are places in a table of the arena, which all processes of the run share; an address counts within a
 * program and its forks.  The runtime notes which file's code is where when the process attaches and when libraries
 * are loaded.  The recorder turns both into names at the end of the run (trace/callers.h).
 */
#ifndef RUNTIME_WAITS_CODE_H
#define RUNTIME_WAITS_CODE_H

#include <stdint.h>

/* The number of a return address, for wait_word(); 0: there is none, or no room.  No lock, no system call. */
uint32_t code_caller(uint64_t address);

/* Notes where code is, if there is new code: adds is the loader's count of loaded files.  Takes the loader's lock. */
void code_look(unsigned long long adds);

#endif
