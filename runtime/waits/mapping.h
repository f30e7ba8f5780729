/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapping.h - what lies at an address of memory that processes share.
 *
 *	process 1 maps locks.shm at 0x7f10000, process 2 at 0x7fa0000: the mutex at 0x7f10040 of the one
 *	and that at 0x7fa0040 of the other are both (locks.shm's inode, offset 0x40)
 *
 * Known are the mappings made by the program and its libraries since the process attached, by mmap(), shmat()
 * or sem_open(); a forked child knows its parent's.  Naming an object makes no system call: each mapping was
 * noted when it was made.
 */
#ifndef RUNTIME_WAITS_MAPPING_H
#define RUNTIME_WAITS_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The same number for the same byte in every process of the run; 0: not known to be shared. */
uint64_t mapping_name(uint64_t address);

#endif
