/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_json.h - functions and calls as JSON, for the files of a scan (scan_file.c, scan_part.c).
 *
 * Both are in groups, one for each file that has functions:
 *
 *	{"file": "/src/a.h",
 *	 "functions": [{"name": "f", "line": 3, "flags": "si", ...}],
 *	 "calls": [{"caller": 0, "callee": "g", "line": 4}]}
 *
 * "caller" counts in the group.  What depends on the unit is not in it: where the bodies are in its text, and which
 * functions have a probe.  Keys are 64-bit and JSON numbers are signed: they are written as hexadecimal strings.
 * Readers must not trust the file: they check every field, and a caller beyond the functions is damage.
 */
#ifndef INSTRUMENTER_SCAN_SCAN_JSON_H
#define INSTRUMENTER_SCAN_SCAN_JSON_H

#include <jansson.h>
#include "instrumenter/scan/scan.h"

/* ---- writing ---- */

json_t *text_value(const char *s);
void put_text(json_t *o, const char *name, const char *s);	/* NULL: nothing */
void put_hex(json_t *o, const char *name, uint64_t value);
json_t *list_value(const char *const *words);

/* The functions of u that are in file, and their calls. */
struct scan_group {
	const char *file;
	VEC(uint32_t) functions, calls;		/* indexes into those of the unit, in order */
};
/* within: the index of each function of u in its group. */
json_t *group_value(const struct unit *u, const struct scan_group *g, const uint32_t *within);

/* ---- reading ---- */

/* The first problem is remembered, as the name of the field. */
struct reading {
	struct arena *arena;
	const char *bad;
};

const char *get_text(struct reading *r, const json_t *o, const char *name, bool needed);
uint32_t get_number(struct reading *r, const json_t *o, const char *name);
uint64_t get_hex(struct reading *r, const json_t *o, const char *name);
const json_t *get_list(struct reading *r, const json_t *o, const char *name);	/* any other value has no items */
uint32_t item_number(struct reading *r, const json_t *list, size_t i, const char *name);	/* name: of the list */
const char **get_words(struct reading *r, const json_t *o, const char *name);

struct scan_contents {			/* of a group */
	const char *file;
	VEC(struct scan_function) functions;
	VEC(struct scan_call) calls;	/* callers: indexes into these functions */
};
void get_group(struct reading *r, const json_t *o, struct scan_contents *ret);
void scan_contents_release(struct scan_contents *c);

#endif
