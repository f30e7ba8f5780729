/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_head.c - the begin of a scan record.
 */
#include <stdio.h>
#include <string.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/pack.h"
#include "instrumenter/scan/scan_head.h"

static const char first_line[] = "vprof-scan 1\n";

#define HEX_DIGITS 16

static void add_packed_lines(const struct unit *u, const scan_part_names *parts, struct str *s)
{
	const struct scan_known *k = &u->known;

	str_add(s, "keys");
	for (size_t i = 0; k->plain && i < u->functions.cnt; i++)
		if (!u->functions.items[i].skipped && strcmp(u->functions.items[i].file, u->source) == 0)
			str_addf(s, " %016llx", (unsigned long long)u->functions.items[i].key);
	str_addc(s, '\n');
	for (size_t i = 0; i < k->inputs.cnt; i++)
		str_addf(s, "input %016llx %016llx %s\n", (unsigned long long)k->inputs.items[i].ns,
			 (unsigned long long)k->inputs.items[i].bytes, k->inputs.items[i].path);
	for (size_t i = 0; i < parts->cnt; i++) {
		str_addf(s, "part %016llx ", (unsigned long long)parts->items[i].hash);
		for (const char *c = parts->items[i].file; *c; c++)
			str_addc(s, *c == '\n' ? '?' : *c);	/* no plan names such a file */
		str_addc(s, '\n');
	}
}

int scan_head_add(const struct unit *u, const scan_part_names *parts, struct str *s)
{
	_cleanup_(str_release) struct str lines = STR_INIT, packed = STR_INIT;
	int r;

	add_packed_lines(u, parts, &lines);
	r = pack(lines.data, lines.len, &packed);
	if (r < 0)
		return r;
	str_addf(s, "%smade %016llx %016llx\nplain %016llx\nredirected%s\nhead %016llx\n", first_line,
		 (unsigned long long)u->product_ns, (unsigned long long)u->product_bytes,
		 (unsigned long long)u->known.plain, u->known.redirected, (unsigned long long)packed.len);
	str_addn(s, packed.data, packed.len);
	return 0;
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

static bool take_parts(struct cursor *c, struct arena *a, struct scan_head *ret)
{
	while (take(c, "part ")) {
		struct scan_part_name p = { 0, NULL };

		if (!take_hex(c, &p.hash) || !take(c, " "))
			return false;
		p.file = take_line(c, a);
		if (!p.file)
			return false;
		VEC_ADD(&ret->parts, p);
	}
	return true;
}

static const char *read_packed_lines(struct cursor c, struct arena *a, struct scan_head *ret)
{
	if (!take(&c, "keys") || !take_keys(&c, ret))
		return "keys";
	if (!take_inputs(&c, a, ret))
		return "input";
	if (!take_parts(&c, a, ret) || c.at != c.end)
		return "part";
	return NULL;
}

static const char *read_packed(struct cursor *c, struct arena *a, struct scan_head *ret)
{
	_cleanup_(freep) char *lines = NULL;
	uint64_t packed;
	size_t len;

	if (!take(c, "head ") || !take_hex(c, &packed) || !take(c, "\n") || packed > (size_t)(c->end - c->at) ||
	    unpack(c->at, (size_t)packed, SCAN_BYTES_MAX, &lines, &len) < 0)
		return "head";
	c->at += packed;
	return read_packed_lines((struct cursor){ lines, lines + len }, a, ret);
}

const char *scan_head_read(const char *text, size_t len, struct arena *a, struct scan_head *ret)
{
	struct cursor c = { text, text + len };
	const char *bad;

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
	bad = read_packed(&c, a, ret);
	ret->len = (size_t)(c.at - text);
	return bad;
}

void scan_head_release(struct scan_head *h)
{
	VEC_RELEASE(&h->keys);
	VEC_RELEASE(&h->inputs);
	VEC_RELEASE(&h->parts);
}
