/* SPDX-License-Identifier: Apache-2.0 */
/* jump.h - calls that longjmp() ends. */
#ifndef RUNTIME_JUMP_H
#define RUNTIME_JUMP_H

/* Once, at the start: learns how this C library keeps the stack pointer. */
void jump_prepare(void);

#endif
