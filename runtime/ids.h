/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ids.h - which trace an interval belongs to, as tracing systems number them: trace id, its own span, its parent's span.
 *
 * A program says them before the interval begins, as integers or as text:
 *
 *	trace	"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01": W3C's traceparent, which has the parent's span too;
 *		"4bf92f3577b34da6a3ce929d0e0e4736": 32 hexadecimal digits; 17: an integer
 *	span	"00f067aa0ba902b7": 16 hexadecimal digits; an integer; or a traceparent, whose span it is
 *
 * Text is read up to the first character that cannot belong to it.  Any other text is 0, unknown.
 */
#ifndef RUNTIME_IDS_H
#define RUNTIME_IDS_H

#include <stdint.h>

struct thread_ids;

/* VPROF_KIND_TRACE, _SPAN, _PARENT: the calling thread's next interval of that label (0: of any). */
void ids_note(unsigned int kind, uint64_t label, uint64_t value, uint64_t type);

/* The ids noted for an interval of that label, or NULL; valid until ids_taken(). */
const struct thread_ids *ids_of(uint64_t label);
void ids_taken(void);

/* A span. */
uint64_t ids_span(uint64_t value, uint64_t type);

#endif
