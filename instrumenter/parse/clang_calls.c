/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clang_calls.c - loads libclang.
 *
 * The names are looked up among all that is loaded, as for a linked library: a preloaded one may
 * stand before it.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <string.h>
#include "base/banned.h"
#include "build-config.h"
#include "instrumenter/parse/clang_calls.h"

struct clang_calls clang_calls;

/* Looks up each function's address by the name of its field; C has no conversion from void * to a function pointer. */
static bool look_up(const char *name, void *field)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	memcpy(field, &found, sizeof(found));
	return found;
}

static const char *load(void)
{
	if (!dlopen(LIBCLANG_SONAME, RTLD_LAZY | RTLD_GLOBAL))
		return dlerror();
#define X(name)									\
	if (!look_up("clang_" #name, &clang_calls.name))			\
		return LIBCLANG_SONAME " has no clang_" #name;
	CLANG_CALLS(X)
#undef X
	/* A syntax tree consists of many small allocations that are not freed before the end. */
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_TOP_PAD, 32 << 20);
	return NULL;
}

bool clang_calls_load(const char **ret_why)
{
	static bool loaded;
	static const char *why;

	if (!loaded)
		why = load();
	loaded = true;
	if (ret_why)
		*ret_why = why;
	return !why;
}
