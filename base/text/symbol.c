/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * symbol.c - see symbol.h.
 */
#include <string.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "base/text/symbol.h"

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

bool symbol_is_variable(const char *symbol, const char *name)
{
	size_t len = strlen(name);

	if (starts_with(symbol, MANGLED))
		return is_cxx(symbol + strlen(MANGLED), name);
	return strncmp(symbol, name, len) == 0 && (!symbol[len] || (symbol[len] == '.' && symbol[len + 1] >= '0' && symbol[len + 1] <= '9'));
}
