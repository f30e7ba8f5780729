/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lock_names.c - see lock_names.h.
 */
#include "base/banned.h"
#include "base/elf.h"
#include "base/text/symbol.h"
#include "project/causal/lock_names.h"

struct looking {
	struct lock_names *names;
	struct drainer *d;
	const struct drainer_module *module;
};

static void take_variable(void *arg, const struct elf_function *v)
{
	struct looking *l = arg;
	uint64_t start = l->module->base + v->start;

	for (size_t i = 0; i < l->names->target_cnt; i++) {
		const struct causal_target *t = &l->names->targets[i];

		if (causal_target_is_variable(t) && symbol_is_variable(v->name, t->name))
			l->names->found.items[i] |= drainer_add_lock(l->d, (uint32_t)i, l->module->program, start, start + v->bytes);
	}
}

static void take_module(void *arg, const struct drainer_module *m)
{
	_cleanup_(elf_closep) struct elf *e = NULL;
	struct looking *l = arg;

	l->module = m;
	if (elf_open(m->path, &e) == 0)
		elf_variables(e, take_variable, l);
}

void lock_names_look(struct lock_names *n, struct drainer *d)
{
	bool is_asked = false;

	while (n->found.cnt < n->target_cnt)
		VEC_ADD(&n->found, false);
	for (size_t i = 0; i < n->target_cnt; i++)
		is_asked |= causal_target_is_variable(&n->targets[i]);
	if (is_asked)
		n->next = drainer_modules(d, n->next, take_module, &(struct looking){ n, d, NULL });
}

const struct causal_target *lock_names_missing(const struct lock_names *n)
{
	for (size_t i = 0; i < n->found.cnt; i++)
		if (causal_target_is_variable(&n->targets[i]) && !n->found.items[i])
			return &n->targets[i];
	return NULL;
}

void lock_names_release(struct lock_names *n)
{
	VEC_RELEASE(&n->found);
}
