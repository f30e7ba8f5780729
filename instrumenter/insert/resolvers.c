/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * resolvers.c - which functions may run before the program is relocated.
 *
 *	static int (*resolve(void))(int) { return choose() ? wide : plain; }
 *	int add(int) __attribute__((ifunc("resolve")));
 *
 * The dynamic linker calls resolve() while it still relocates the program, and resolve() calls choose().  A probe in
 * either may use something that does not exist yet: the global offset table, the stack protector's canary,
 * AddressSanitizer's shadow.  So neither is probed, nor what they call in turn.  A call through a pointer may reach
 * every function of the unit that has the type and whose address is taken.
 */
#include <string.h>
#include "base/banned.h"
#include "instrumenter/insert/instrument.h"

#define INDIRECT "gnu_indirect_function"

/* The name in front of p in ".type NAME, @gnu_indirect_function". */
static struct text_range name_before(const char *text, size_t at)
{
	size_t end = at;

	while (end && strchr("@%#\", \t", text[end - 1]))
		end--;
	size_t start = end;

	while (start && !strchr(" \t\"\n", text[start - 1]))
		start--;
	return (struct text_range){ start, end };
}

/* glibc's older way: an asm statement marks the function's symbol as a resolver. */
static bool is_made_indirect(const struct instrumenting *in, const char *symbol)
{
	const char *p = in->text, *end = in->text + in->len;

	while ((p = memmem(p, (size_t)(end - p), INDIRECT, strlen(INDIRECT)))) {
		struct text_range name = name_before(in->text, (size_t)(p - in->text));
		size_t len = name.end - name.start;

		if (len && strlen(symbol) == len && memcmp(in->text + name.start, symbol, len) == 0)
			return true;
		p += strlen(INDIRECT);
	}
	return false;
}

static bool is_resolver(const struct instrumenting *in, size_t f, bool indirect)
{
	const struct parsed *p = in->parsed;
	_cleanup_(freep) char *symbol = p->resolvers.cnt || indirect ? parsed_symbol(p, f) : NULL;

	for (size_t i = 0; i < p->resolvers.cnt; i++)
		if (strcmp(p->resolvers.items[i], p->functions.items[f].name) == 0 ||
		    strcmp(p->resolvers.items[i], symbol) == 0)
			return true;
	return indirect && is_made_indirect(in, symbol);
}

static bool is_address_taken(const struct parsed *p, const struct parsed_function *f)
{
	for (size_t i = 0; i < p->address_taken.cnt; i++)
		if (strcmp(p->address_taken.items[i], f->name) == 0)
			return true;
	return f->is_virtual || f->is_lambda;
}

static bool may_reach(const struct parsed *p, const struct parsed_call *c, const struct parsed_function *f)
{
	if (c->callee)
		return c->callee_body && c->callee_body == f->body;
	return c->type && strcmp(c->type, f->type) == 0 && is_address_taken(p, f);
}

static bool add_callees(struct parsed *p)
{
	bool added = false;

	for (size_t i = 0; i < p->calls.cnt; i++) {
		const struct parsed_call *c = &p->calls.items[i];

		for (size_t f = 0; p->functions.items[c->caller].early && f < p->functions.cnt; f++) {
			struct parsed_function *to = &p->functions.items[f];

			if (to->early || !may_reach(p, c, to))
				continue;
			to->early = EARLY_CALLED;
			added = true;
		}
	}
	return added;
}

void find_early(struct instrumenting *in)
{
	struct parsed *p = in->parsed;
	bool indirect = memmem(in->text, in->len, INDIRECT, strlen(INDIRECT)), some = false;

	for (size_t f = 0; (p->resolvers.cnt || indirect) && f < p->functions.cnt; f++)
		if (is_resolver(in, f, indirect)) {
			p->functions.items[f].early = EARLY_RESOLVER;
			some = true;
		}
	while (some && add_callees(p))
		;
}
