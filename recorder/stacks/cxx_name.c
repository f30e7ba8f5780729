/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cxx_name.c - a file of its own, because libiberty's header defines names that we use.
 */
#include "recorder/stacks/cxx_name.h"

#include <libiberty/demangle.h>
#include <string.h>

static void take(const char *text, size_t len, void *str)
{
	str_addn(str, text, len);
}

/* "store::get[abi:cxx11]" is written store::get. */
static void add_without_tags(struct str *to, const char *name)
{
	static const char tag[] = "[abi:";

	for (const char *at; (at = strstr(name, tag)) && strchr(at, ']'); name = strchr(at, ']') + 1)
		str_addn(to, name, (size_t)(at - name));
	str_add(to, name);
}

static bool add(struct str *to, const char *symbol, int options)
{
	struct str name = STR_INIT;	/* the demangler may have added a part before it fails */
	bool found = cplus_demangle_v3_callback(symbol, options, take, &name);

	if (found)
		add_without_tags(to, str_cstr(&name));
	str_release(&name);
	return found;
}

bool add_cxx_name(struct str *to, const char *symbol)
{
	return add(to, symbol, DMGL_ANSI);
}

bool add_cxx_signature(struct str *to, const char *symbol)
{
	return add(to, symbol, DMGL_ANSI | DMGL_PARAMS | DMGL_RET_DROP);
}
