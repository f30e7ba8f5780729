/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lock_names.c - see lock_names.h.
 */
#include <string.h>
#include "base/banned.h"
#include "base/elf.h"
#include "base/str.h"
#include "base/text/symbol.h"
#include "project/causal/lock_names.h"
#include "recorder/stacks/cxx_name.h"

struct looking {
	struct lock_names *names;
	struct drainer *d;
	const struct drainer_module *module;
};

/* flush of C, and parts that compilers make of it (flush.cold, flush.isra.0); of C++ log::flush(int), for which flush is enough. */
static bool is_function(const char *symbol, const char *name)
{
	_cleanup_(str_release) struct str cxx = STR_INIT;
	size_t len = strlen(name);
	const char *is;

	if (!add_cxx_name(&cxx, symbol))
		return strncmp(symbol, name, len) == 0 && (!symbol[len] || symbol[len] == '.');
	is = str_cstr(&cxx);
	return strcmp(is, name) == 0 ||
	       (cxx.len > len + 2 && strcmp(is + cxx.len - len, name) == 0 && strncmp(is + cxx.len - len - 2, "::", 2) == 0);
}

static void take_symbol(void *arg, const struct elf_function *v, bool is_code)
{
	struct looking *l = arg;
	uint64_t start = l->module->base + v->start;

	for (size_t i = 0; i < l->names->target_cnt; i++) {
		const struct causal_target *t = &l->names->targets[i];

		if (causal_target_is_symbol(t) && (t->kind == ASKED_PC) == is_code &&
		    (is_code ? is_function(v->name, t->name) : symbol_is_variable(v->name, t->name)))
			l->names->found.items[i] |= drainer_add_lock(l->d, (uint32_t)i, l->module->program, start, start + v->bytes);
	}
}

static void take_variable(void *arg, const struct elf_function *v)
{
	take_symbol(arg, v, false);
}

static void take_function(void *arg, const struct elf_function *f)
{
	take_symbol(arg, f, true);
}

static void take_module(void *arg, const struct drainer_module *m)
{
	_cleanup_(elf_closep) struct elf *e = NULL;
	struct looking *l = arg;

	l->module = m;
	if (elf_open(m->path, &e) == 0) {
		elf_variables(e, take_variable, l);
		elf_functions(e, take_function, l);
	}
}

void lock_names_look(struct lock_names *n, struct drainer *d)
{
	bool is_asked = false;

	while (n->found.cnt < n->target_cnt)
		VEC_ADD(&n->found, false);
	for (size_t i = 0; i < n->target_cnt; i++)
		is_asked |= causal_target_is_symbol(&n->targets[i]);
	if (is_asked)
		n->next = drainer_modules(d, n->next, take_module, &(struct looking){ n, d, NULL });
}

const struct causal_target *lock_names_missing(const struct lock_names *n)
{
	for (size_t i = 0; i < n->found.cnt; i++)
		if (causal_target_is_symbol(&n->targets[i]) && !n->found.items[i])
			return &n->targets[i];
	return NULL;
}

void lock_names_release(struct lock_names *n)
{
	VEC_RELEASE(&n->found);
}
