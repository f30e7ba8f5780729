/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unwind_stack.c - reads the piece of the stack that the kernel copied.
 */
#include "recorder/stacks/unwind.h"

#include <string.h>
#include "base/banned.h"

bool stack_falls_short(const struct record_stack *r)
{
	return r->user_bytes && r->user_bytes != STACK_BYTES && r->user_bytes < STACK_DEEP_BYTES &&
	       (r->registers[STACK_RSP] + r->user_bytes) % STACK_PAGE_BYTES == 0;
}

bool unwind_read(struct unwinder *u, uint64_t address, uint64_t *ret)
{
	const struct record_stack *r = u->now;
	uint64_t offset = address - r->registers[STACK_RSP];

	if (offset > r->user_bytes || r->user_bytes - offset < sizeof(*ret)) {
		/* If there was less to copy, the stack ends there. */
		u->result.cut = (r->user_bytes >= STACK_BYTES || stack_falls_short(r)) && offset < STACK_SIZE_MAX ?
				r->user_bytes : 0;
		return false;
	}
	memcpy(ret, r->user + offset, sizeof(*ret));
	return true;
}
