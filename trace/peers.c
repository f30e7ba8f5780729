/* SPDX-License-Identifier: GPL-3.0-or-later */
/* peers.c - see peers.h. */
#include "trace/peers.h"

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/map.h"

static bool has_peers(const struct trace *t)
{
	for (size_t i = 0; i < t->threads.cnt; i++)
		if (t->threads.items[i].kind == KIND_PEER)
			return true;
	return false;
}

struct trace *trace_name_peers(struct trace *t)
{
	_cleanup_(names_freep) struct names *names = NULL;
	VEC(uint32_t) function_of = { NULL, 0, 0 };	/* by name */

	if (!has_peers(t))
		return t;
	names = names_new();
	for (uint32_t i = 0; i < t->functions.cnt; i++)
		if (names_add(names, t->functions.items[i].name) == function_of.cnt)
			VEC_ADD(&function_of, i);
	for (size_t i = 0; i < t->threads.cnt; i++) {
		struct thread_name *peer = &t->threads.items[i];
		const char *name;
		uint32_t id;

		if (peer->kind != KIND_PEER)
			continue;
		name = arena_printf(t->arena, "(%s)", peer->name ? peer->name : thread_kind_name(KIND_PEER));
		id = names_add(names, name);
		if (id == function_of.cnt) {
			VEC_ADD(&function_of, (uint32_t)t->functions.cnt);
			VEC_EXTEND(&t->functions)->name = name;
		}
		peer->function = function_of.items[id];
	}
	VEC_RELEASE(&function_of);
	return t;
}
