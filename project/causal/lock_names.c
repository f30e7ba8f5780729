/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lock_names.c - see lock_names.h.
 *
 * C++ names are compared as they are in the file: of server::log_lock, _ZN6server8log_lockE, the last part is 8log_lock.
 */
#include <stdio.h>
#include <string.h>
#include "base/banned.h"
#include "base/elf.h"
#include "base/str.h"
#include "project/causal/lock_names.h"

#define MANGLED "_Z"

/* "server::log_lock" -> "6server8log_lock". */
static void mangle(const char *name, struct str *ret)
{
	while (*name) {
		const char *end = strstr(name, "::");
		size_t len = end ? (size_t)(end - name) : strlen(name);

		str_addf(ret, "%zu", len);
		str_addn(ret, name, len);
		name += len + (end ? 2 : 0);
	}
}

/* Whether a part of the name begins there: parts have their lengths before them. */
static bool is_part(const char *symbol, const char *at)
{
	while (symbol < at) {
		size_t len = 0;

		if (*symbol < '0' || *symbol > '9') {
			symbol++;
			continue;
		}
		while (*symbol >= '0' && *symbol <= '9' && len < 1000)
			len = len * 10 + (size_t)(*symbol++ - '0');
		if (len > strlen(symbol))
			return false;
		symbol += len;
	}
	return symbol == at;
}

static bool is_cxx(const char *symbol, const char *name)
{
	_cleanup_(str_release) struct str mangled = STR_INIT;
	const char *at, *end;

	mangle(name, &mangled);
	for (at = strstr(symbol, str_cstr(&mangled)); at; at = strstr(at + 1, str_cstr(&mangled))) {
		end = at + mangled.len;
		if (is_part(symbol, at) && (!*end || strcmp(end, "E") == 0 || *end == '.'))
			return true;
	}
	return false;
}

bool lock_names_match(const char *symbol, const char *name)
{
	size_t len = strlen(name);

	if (starts_with(symbol, MANGLED))
		return is_cxx(symbol + strlen(MANGLED), name);
	return strncmp(symbol, name, len) == 0 && (!symbol[len] || (symbol[len] == '.' && symbol[len + 1] >= '0' && symbol[len + 1] <= '9'));
}

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

		if (causal_target_is_variable(t) && lock_names_match(v->name, t->name))
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
