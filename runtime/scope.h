/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope.h - named blocks: what VPROF_SCOPE of annotations/vprof.h calls.  That header declares the
 * same two functions with structs of its own, laid out like these.
 */
#ifndef RUNTIME_SCOPE_H
#define RUNTIME_SCOPE_H

#include "runtime/shared/clock.h"

struct vprof_scope {
	struct vprof_site site;
	unsigned int known;		/* process.epoch of the arena that knows it; 0: none */
};

/* address and caller: frame and return address of the function around the block. */
void vprof_scope_in(struct vprof_scope *scope, struct vprof_span *span, void *address, void *caller)
	__asm__("vprof_scope_in_2") __attribute__((visibility("default")));
void vprof_scope_out(struct vprof_span *span) __attribute__((visibility("default")));

#endif
