/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unit_report.c - reports units without probes before a load runs.
 *
 *	vprof: warning: 'lock0lock.cc' was compiled untouched: ...
 *	vprof: warning: 5 of the units have no probes: compiled untouched or not understood; vprof show coverage lists all with their reasons
 */
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "project/build/unit_report.h"
#include "project/notices.h"

#define UNITS_LISTED 5

const char *how_uncounted(const struct unit *u)
{
	return u->untouched ? "compiled untouched" : "not understood";
}

const char *why_uncounted(const struct unit *u)
{
	return u->untouched ? u->untouched : u->misread;
}

size_t uncounted_cnt(const units *scanned, const struct unit **ret_first)
{
	size_t cnt = 0;

	*ret_first = NULL;
	for (size_t u = 0; u < scanned->cnt; u++)
		if (unit_is_uncounted(scanned->items[u]) && !cnt++)
			*ret_first = scanned->items[u];
	return cnt;
}

/* --- the unit that has a function --------------------------------------------------------------- */

static bool is_name_char(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "(int a) const {" belongs to a definition, "(1);" to a call. */
static bool begins_body(const char *at)
{
	int depth = 0;

	at += strspn(at, " \t\r\n");
	if (*at != '(')
		return false;
	do {
		depth += *at == '(';
		depth -= *at == ')';
	} while (*++at && depth);
	at += strcspn(at, "{;,)=");
	return *at == '{';
}

/* 0: the word does not occur; 1: it does; 2: it is the name of a function that is defined there. */
static int has_word(const char *text, const char *word)
{
	size_t len = strlen(word);
	int found = 0;

	for (const char *at = text; len && found < 2 && (at = strstr(at, word)); at += len)
		if ((at == text || !is_name_char(at[-1])) && !is_name_char(at[len]))
			found = begins_body(at + len) ? 2 : 1;
	return found;
}

const struct unit *untouched_unit_with(const units *scanned, const char *name)
{
	const char *behind = name ? strrchr(name, ':') : NULL;
	const struct unit *best = NULL;
	int most = 0;

	for (size_t u = 0; name && most < 2 && u < scanned->cnt; u++) {
		const struct unit *unit = scanned->items[u];
		_cleanup_(freep) char *text = NULL;
		int found = 0;

		if (unit_is_uncounted(unit) && file_read(unit->source, &text, NULL) == 0)
			found = has_word(text, behind ? behind + 1 : name);
		if (found > most) {
			most = found;
			best = unit;
		}
	}
	return best;
}

/* --- all of them ---------------------------------------------------------------------------------- */

void warn_untouched(const units *scanned)
{
	const struct unit *first;
	size_t cnt = uncounted_cnt(scanned, &first), told = 0;

	for (size_t u = 0; u < scanned->cnt && told < UNITS_LISTED; u++) {
		const struct unit *unit = scanned->items[u];

		if (!unit_is_uncounted(unit))
			continue;
		warn_line("'%s' was %s: %s", unit->source, how_uncounted(unit), why_uncounted(unit));
		told++;
	}
	if (cnt)
		warn_line("%zu of the units %s no probes: compiled untouched or not understood%s; vprof show coverage lists %s",
			  cnt, cnt == 1 ? "has" : "have", cnt > told ? "; above are the first" : "",
			  cnt == 1 ? "it with the reason" : "them with their reasons");
}
