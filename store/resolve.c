/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * resolve.c - decides which function a call means.
 *
 * A scan record knows one translation unit; a name in it may mean a function of another.
 *
 *	the unit defines the callee	exactly that body (file, line and name agree)
 *	a static callee			the function of that name in the same unit
 *	an extern callee		every extern function of that name in any unit: a build may
 *					link several programs, each with its own usage()
 *				link several programs, each with its own usage(); of overloads
 *				those of the callee's type
 *	a call through a pointer	a may-edge to every function of the same type whose address
 *					is taken somewhere
 *
 * Example: a.c calls log(), b.c defines it and puts flush() (void (void)) into a table that a.c calls through a void
 * (*)(void).  Edges: a.c's caller -> log, and may-edge caller -> flush. A function of a header is compiled in many
 * units; its key makes it one.  A callee that no unit defines belongs to a library and gets no edge.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/file.h"
#include "base/map.h"
#include "store/resolve.h"

#define END UINT32_MAX

/* Functions that share a name (or a type): first of each, then linked. */
struct chains {
	struct names *names;
	VEC(uint32_t) first;		/* by number in names */
	VEC(uint32_t) next;		/* by function */
};

struct resolver {
	struct resolved *out;
	struct map *by_key;		/* key -> index in out->functions, plus one */
	struct map *seen;		/* calls that were resolved already, by hash */
	struct chains by_name, by_type;
};

static void chains_init(struct chains *c, size_t cnt)
{
	memset(c, 0, sizeof(*c));
	c->names = names_new();
	for (size_t i = 0; i < cnt; i++)
		VEC_ADD(&c->next, END);
}

static void chains_release(struct chains *c)
{
	names_free(c->names);
	VEC_RELEASE(&c->first);
	VEC_RELEASE(&c->next);
}

static void chains_add(struct chains *c, const char *name, uint32_t function)
{
	uint32_t id = names_add(c->names, name);

	if (id == c->first.cnt)
		VEC_ADD(&c->first, END);
	c->next.items[function] = c->first.items[id];
	c->first.items[id] = function;
}

static uint32_t chains_first(const struct chains *c, const char *name)
{
	uint32_t id = names_find(c->names, name);

	return id == NAMES_NONE ? END : c->first.items[id];
}

static const char *nonnull(const char *s)
{
	return s ? s : "";
}

/* The same body, seen in one more unit. */
static void merge_function(struct scan_function *have, const struct scan_function *f)
{
	have->address_taken |= f->address_taken;
	have->releases |= f->releases;
	have->probed |= f->probed;
	have->no_return |= f->no_return;
	if (!f->skipped || have->probed)
		have->skipped = NULL;	/* some unit could give it a probe */
}

static void add_functions(struct resolver *r, const struct unit *u)
{
	for (size_t i = 0; i < u->functions.cnt; i++) {
		const struct scan_function *f = &u->functions.items[i];
		uint64_t *slot = map_slot(r->by_key, f->key);

		if (*slot) {
			merge_function(&r->out->functions.items[*slot - 1], f);
			continue;
		}
		VEC_ADD(&r->out->functions, *f);
		*slot = r->out->functions.cnt;
	}
}

static struct scan_function *by_key(struct resolver *r, uint64_t key)
{
	uint64_t slot = 0;

	map_get(r->by_key, key, &slot);
	return &r->out->functions.items[slot - 1];
}

static void index_names(struct resolver *r)
{
	chains_init(&r->by_name, r->out->functions.cnt);
	for (uint32_t i = 0; i < r->out->functions.cnt; i++)
		if (!r->out->functions.items[i].is_static)
			chains_add(&r->by_name, r->out->functions.items[i].name, i);
}

static void index_types(struct resolver *r)
{
	chains_init(&r->by_type, r->out->functions.cnt);
	for (uint32_t i = 0; i < r->out->functions.cnt; i++) {
		const struct scan_function *f = &r->out->functions.items[i];

		if (f->address_taken && f->type)
			chains_add(&r->by_type, f->type, i);
	}
}

static void index_unit(struct chains *local, const struct unit *u)
{
	chains_init(local, u->functions.cnt);
	for (uint32_t i = 0; i < u->functions.cnt; i++)
		chains_add(local, u->functions.items[i].name, i);
}

/* A name whose address is taken means the unit's own function, if it has one. */
static void mark_address_taken(struct resolver *r, const struct unit *u)
{
	struct chains local;

	index_unit(&local, u);
	for (size_t i = 0; i < u->address_taken.cnt; i++) {
		const char *name = u->address_taken.items[i];
		uint32_t f = chains_first(&local, name);

		for (; f != END; f = local.next.items[f])
			by_key(r, u->functions.items[f].key)->address_taken = true;
		if (chains_first(&local, name) != END)
			continue;
		for (f = chains_first(&r->by_name, name); f != END; f = r->by_name.next.items[f])
			r->out->functions.items[f].address_taken = true;
	}
	chains_release(&local);
}

struct origin {				/* of a call */
	uint64_t caller;
	const char *site;
	bool is_tail;
};

static void add_call(struct resolver *r, const struct origin *from, uint64_t callee, bool may)
{
	VEC_ADD(&r->out->calls, (struct resolved_call){ from->caller, callee, from->site, may, from->is_tail });
}

/* Adds calls through a pointer, or to a name: to every function of the chain; type: only those of that type, NULL: all. */
static bool add_chain(struct resolver *r, const struct chains *c, const char *name, const char *type,
		      const struct origin *from, bool may)
{
	bool added = false;

	for (uint32_t i = chains_first(c, name); i != END; i = c->next.items[i]) {
		const struct scan_function *f = &r->out->functions.items[i];

		if (type && strcmp(type, nonnull(f->type)) != 0)
			continue;
		add_call(r, from, f->key, may);
		added = true;
	}
	return added;
}

/* Callees in the unit itself; false if it has none of that name. */
static bool add_local(struct resolver *r, const struct unit *u, const struct chains *local,
		      const struct scan_call *call, const struct origin *from)
{
	bool added = false;

	for (uint32_t i = chains_first(local, call->callee); i != END; i = local->next.items[i]) {
		const struct scan_function *f = &u->functions.items[i];

		if (call->callee_file && (call->callee_line != f->line ||
					  strcmp(call->callee_file, nonnull(f->file)) != 0))
			continue;
		add_call(r, from, f->key, false);
		added = true;
	}
	return added;
}

/* A call through a pointer, or a wrapper as std::function: to functions of that type, and lambdas that take the same. */
static void add_pointed(struct resolver *r, const char *type, const struct origin *from)
{
	const char *parameters = type ? strchr(type, '(') : NULL;

	if (!parameters)
		return;
	add_chain(r, &r->by_type, type, NULL, from, true);
	if (!starts_with(type, "virtual "))
		add_chain(r, &r->by_type, arena_printf(r->out->arena, "{lambda} %s", parameters), NULL, from, true);
}

static void resolve_call(struct resolver *r, const struct unit *u, const struct chains *local,
			 const struct scan_call *call)
{
	uint64_t caller = u->functions.items[call->caller].key;
	_cleanup_(freep) char *site = xasprintf("%s:%" PRIu32, path_base(nonnull(call->file)),
						call->line);
	struct origin from;
	uint64_t hash = hash_str(hash_u64(0, caller), site);
	uint64_t *seen;

	/* A header's function makes the same calls in each of its units. */
	hash = hash_str(hash_str(hash, nonnull(call->callee)), nonnull(call->type));
	hash = hash_str(hash_u64(hash, call->callee_line), nonnull(call->callee_file));
	if (call->callee_static)
		hash = hash_str(hash, u->object);
	seen = map_slot(r->seen, hash);
	if ((*seen)++)
		return;
	from = (struct origin){ caller, arena_strdup(r->out->arena, site), call->is_tail };
	if (!call->callee) {
		add_pointed(r, call->type, &from);
		return;
	}
	if ((call->callee_file || call->callee_static) && add_local(r, u, local, call, &from))
		return;
	/* The overload that is meant; in C a function may be declared differently from its definition. */
	if (!call->callee_static && !(call->type && add_chain(r, &r->by_name, call->callee, call->type, &from, false)))
		add_chain(r, &r->by_name, call->callee, NULL, &from, false);
}

/*
 * From here on functions have the names that are printed: work(int) and work(double) if both exist; else work.
 */
static void show_signatures(struct resolver *r)
{
	_cleanup_(map_freep) struct map *signatures = map_new();	/* by name, a hash; 1: several */

	for (size_t i = 0; i < r->out->functions.cnt; i++) {
		const struct scan_function *f = &r->out->functions.items[i];
		uint64_t *known = map_slot(signatures, hash_str(0, f->name)), own = hash_str(0, nonnull(f->signature));

		*known = *known && *known != own ? 1 : own;
	}
	for (size_t i = 0; i < r->out->functions.cnt; i++) {
		struct scan_function *f = &r->out->functions.items[i];

		if (f->signature && *map_slot(signatures, hash_str(0, f->name)) == 1)
			f->name = arena_printf(r->out->arena, "%s%s", f->name, f->signature);
	}
}

void resolve_units(const units *list, struct resolved *ret)
{
	struct resolver r = { .out = ret, .by_key = map_new(), .seen = map_new() };

	memset(ret, 0, sizeof(*ret));
	ret->arena = arena_new();
	for (size_t i = 0; i < list->cnt; i++)
		add_functions(&r, list->items[i]);
	index_names(&r);
	for (size_t i = 0; i < list->cnt; i++)
		mark_address_taken(&r, list->items[i]);
	index_types(&r);
	for (size_t i = 0; i < list->cnt; i++) {
		const struct unit *u = list->items[i];
		struct chains local;

		index_unit(&local, u);
		for (size_t c = 0; c < u->calls.cnt; c++)
			if (u->calls.items[c].caller < u->functions.cnt)
				resolve_call(&r, u, &local, &u->calls.items[c]);
		chains_release(&local);
	}
	show_signatures(&r);
	chains_release(&r.by_name);
	chains_release(&r.by_type);
	map_free(r.seen);
	map_free(r.by_key);
}

void resolved_release(struct resolved *r)
{
	arena_free(r->arena);
	VEC_RELEASE(&r->functions);
	VEC_RELEASE(&r->calls);
}
