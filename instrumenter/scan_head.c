/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_head.c - the lines before the JSON of a scan record.
 */
#include <stdio.h>
#include <string.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "instrumenter/scan_head.h"

static const char first_line[] = "vprof-scan 3\n";

#define HEX_DIGITS 16

void scan_head_add(const struct unit *u, struct str *s)
{
	const struct scan_known *k = &u->known;

	str_addf(s, "%smade %016llx %016llx\nplain %016llx\nredirected%s\nkeys", first_line,
		 (unsigned long long)u->product_ns, (unsigned long long)u->product_bytes,
		 (unsigned long long)k->plain, k->redirected);
	for (size_t i = 0; k->plain && i < u->functions.cnt; i++)
		if (!u->functions.items[i].skipped)
			str_addf(s, " %016llx", (unsigned long long)u->functions.items[i].key);
	str_addc(s, '\n');
	for (size_t i = 0; i < k->inputs.cnt; i++)
		str_addf(s, "input %016llx %016llx %s\n", (unsigned long long)k->inputs.items[i].ns,
			 (unsigned long long)k->inputs.items[i].bytes, k->inputs.items[i].path);
}

void scan_head_stamp(char *text, uint64_t ns, uint64_t bytes)
{
	char line[2 * HEX_DIGITS + 16];
	int len = snprintf(line, sizeof(line), "made %016llx %016llx\n", (unsigned long long)ns,
			   (unsigned long long)bytes);

	memcpy(text + strlen(first_line), line, (size_t)len);
}

/* --- reading ---------------------------------------------------------------------------- */

struct cursor {
	const char *at, *end;
};

static bool take(struct cursor *c, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(c->end - c->at) < len || memcmp(c->at, word, len) != 0)
		return false;
	c->at += len;
	return true;
}

static bool take_hex(struct cursor *c, uint64_t *ret)
{
	uint64_t n = 0;

	if (c->end - c->at < HEX_DIGITS)
		return false;
	for (int i = 0; i < HEX_DIGITS; i++) {
		char digit = *c->at++;
		const char *found = digit ? strchr("0123456789abcdef", digit) : NULL;

		if (!found)
			return false;
		n = n << 4 | (uint64_t)(found - "0123456789abcdef");
	}
	*ret = n;
	return true;
}

/* The rest of the line; NULL: it has no end, or holds a NUL. */
static const char *take_line(struct cursor *c, struct arena *a)
{
	const char *from = c->at, *newline = memchr(from, '\n', (size_t)(c->end - from));

	if (!newline || memchr(from, '\0', (size_t)(newline - from)))
		return NULL;
	c->at = newline + 1;
	return arena_strndup(a, from, (size_t)(newline - from));
}

static bool take_keys(struct cursor *c, struct scan_head *ret)
{
	uint64_t key;

	while (take(c, " ")) {
		if (!take_hex(c, &key))
			return false;
		VEC_ADD(&ret->keys, key);
	}
	return take(c, "\n");
}

static bool take_inputs(struct cursor *c, struct arena *a, struct scan_head *ret)
{
	while (take(c, "input ")) {
		struct scan_input i = { NULL, 0, 0 };

		if (!take_hex(c, &i.ns) || !take(c, " ") || !take_hex(c, &i.bytes) || !take(c, " "))
			return false;
		i.path = take_line(c, a);
		if (!i.path)
			return false;
		VEC_ADD(&ret->inputs, i);
	}
	return true;
}

const char *scan_head_read(const char *text, size_t len, struct arena *a, struct scan_head *ret)
{
	struct cursor c = { text, text + len };

	if (!take(&c, first_line))
		return "format";
	if (!take(&c, "made ") || !take_hex(&c, &ret->made_ns) || !take(&c, " ") ||
	    !take_hex(&c, &ret->made_bytes) || !take(&c, "\n"))
		return "made";
	if (!take(&c, "plain ") || !take_hex(&c, &ret->plain) || !take(&c, "\n"))
		return "plain";
	ret->redirected = take(&c, "redirected") ? take_line(&c, a) : NULL;
	if (!ret->redirected)
		return "redirected";
	if (!take(&c, "keys") || !take_keys(&c, ret))
		return "keys";
	if (!take_inputs(&c, a, ret))
		return "input";
	ret->len = (size_t)(c.at - text);
	return NULL;
}

void scan_head_release(struct scan_head *h)
{
	VEC_RELEASE(&h->keys);
	VEC_RELEASE(&h->inputs);
}
