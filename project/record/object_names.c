/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * object_names.c - see object_names.h.
 *
 * Where two programs of the run have variables at one address, the lock has no name.
 */
#include <string.h>
#include "base/alloc.h"
#include "base/banned.h"
#include "base/elf.h"
#include "base/map.h"
#include "base/search.h"
#include "drainer/experiments.h"
#include "project/record/object_names.h"

enum { LOOKED_AT = 64 };

struct variable {
	uint64_t start, end;
	uint32_t name, file;
};

struct naming {
	struct drainer *d;
	struct names *names;
	VEC(struct variable) variables;
	uint64_t base;			/* of the module that is being read */
	uint32_t file;			/* ... and its */
	VEC(struct variable) found;	/* start: the object */
};

static void take_variable(void *arg, const struct elf_function *v)
{
	struct naming *n = arg;

	VEC_ADD(&n->variables, (struct variable){ n->base + v->start, n->base + v->start + v->bytes, names_add(n->names, v->name), n->file });
}

static void take_module(void *arg, const struct drainer_module *m)
{
	_cleanup_(elf_closep) struct elf *e = NULL;
	struct naming *n = arg;

	n->base = m->base;
	n->file = names_add(n->names, m->path);
	if (elf_open(m->path, &e) == 0)
		elf_variables(e, take_variable, n);
}

static int by_start(const void *pa, const void *pb)
{
	const struct variable *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

/* Several symbols may stand for one variable.  This many before the address are searched for one that holds it. */
static void take_object(void *arg, uint64_t object, uint64_t address)
{
	struct naming *n = arg;
	const struct variable *v = n->variables.items, *found = NULL;
	size_t at = partition_point(i, n->variables.cnt, v[i].start <= address);

	for (size_t steps = 0; at > 0 && steps < LOOKED_AT; steps++) {
		const struct variable *x = &v[--at];

		if (address >= x->end)
			continue;
		if (found && found->file != x->file)
			return;
		found = x;
	}
	if (found)
		VEC_ADD(&n->found, (struct variable){ object, 0, found->name, 0 });
}

void object_names_tell(void *arg, struct drainer *d)
{
	struct naming n = { .d = d, .names = names_new() };

	(void)arg;
	drainer_modules(d, 0, take_module, &n);
	if (n.variables.cnt > 1)
		qsort(n.variables.items, n.variables.cnt, sizeof(*n.variables.items), by_start);
	drainer_objects(d, take_object, &n);
	for (size_t i = 0; i < n.found.cnt; i++)
		drainer_name_object(d, n.found.items[i].start, names_get(n.names, n.found.items[i].name));
	VEC_RELEASE(&n.variables);
	VEC_RELEASE(&n.found);
	names_free(n.names);
}
