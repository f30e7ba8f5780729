/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * callers.c - maps return addresses to the project's functions.
 *
 * A symbol is the project's function of that name; of several (overloads, static functions) the one whose source and
 * line the program gives, or, where that leaves two, one of them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/file.h"
#include "base/map.h"
#include "instrumenter/plan/location.h"
#include "project/runs/bare_name.h"
#include "project/runs/callers.h"
#include "trace/callers.h"

#define LINES_NEAR 4			/* a definition's line may be that of its name or of its body */

/* Functions that have something in common. */
struct chains {
	struct map *first;		/* of its hash -> index + 1 */
	uint32_t *next;			/* another + 1; 0: none */
};

struct candidates {
	const struct project *project;
	struct chains by_name;		/* bare */
	struct chains by_file;		/* without directories */
};

static uint64_t bare_hash(const char *name)
{
	_cleanup_(str_release) struct str bare = STR_INIT;

	add_bare_name(&bare, name);
	return hash_str(0, str_cstr(&bare));
}

static uint64_t file_hash(const char *file)
{
	return hash_str(1, path_base(file));
}

static void chains_begin(struct chains *c, size_t cnt)
{
	c->first = map_new();
	c->next = xcalloc(cnt + 1, sizeof(*c->next));
}

/* The last one added is found first. */
static void chains_add(struct chains *c, uint64_t hash, size_t i)
{
	uint64_t *slot = map_slot(c->first, hash);

	c->next[i] = (uint32_t)*slot;
	*slot = i + 1;
}

static void chains_end(struct chains *c)
{
	map_free(c->first);
	free(c->next);
}

static void list_candidates(struct candidates *c, const struct project *p)
{
	c->project = p;
	chains_begin(&c->by_name, p->functions.cnt);
	chains_begin(&c->by_file, p->functions.cnt);
	for (size_t i = p->functions.cnt; i-- > 0; ) {
		const struct project_function *f = &p->functions.items[i];

		chains_add(&c->by_name, bare_hash(f->name), i);
		if (f->file)
			chains_add(&c->by_file, file_hash(f->file), i);
	}
}

/* Removes differences between compilers and libclang: "(char const*)", "(const char *)".  "" for a name without
 * parameters. */
static char *plain_parameters(const char *name)
{
	const char *at = strchr(name, '(');
	struct str s = STR_INIT;

	str_add(&s, "");
	while (at && *at) {
		if (starts_with(at, "const"))
			at += strlen("const");
		else if (*at == ' ')
			at++;
		else
			str_addc(&s, *at++);
	}
	return str_take(&s);
}

static bool same_parameters(const char *a, const char *b)
{
	_cleanup_(freep) char *x = plain_parameters(a), *y = plain_parameters(b);

	return strcmp(x, y) == 0;
}

static int nearness(uint32_t line, const struct project_function *f)
{
	uint32_t distance = line > f->line ? line - f->line : f->line - line;

	return line && distance < LINES_NEAR ? (int)(LINES_NEAR - distance) : 0;
}

static int score(const struct code_function *wanted, const struct project_function *f)
{
	bool has_files = wanted->file && f->file;
	bool same_file = has_files && strcmp(path_base(wanted->file), path_base(f->file)) == 0;

	if (has_files && !same_file)	/* another function has that name, so this one is unknown */
		return -1;
	return (same_parameters(wanted->name, f->name) ? 32 : 0) + (same_file ? 16 : 0) +
	       (same_file ? 2 * nearness(wanted->line, f) : 0) + (has_files && strcmp(wanted->file, f->file) == 0);
}

/* Lines do not say the class or namespace of an inlined function. */
static bool is_at(const struct code_function *wanted, const struct project_function *f)
{
	return nearness(wanted->line, f) && strcmp(path_base(wanted->file), path_base(f->file)) == 0 &&
	       location_function_matches(wanted->name, f->name);
}

static const struct project_function *find_by_line(const struct candidates *c, const struct code_function *wanted)
{
	const struct project_function *best = NULL;
	uint64_t at;

	if (!wanted->file || strstr(wanted->name, "::") || !map_get(c->by_file.first, file_hash(wanted->file), &at))
		return NULL;
	for (; at; at = c->by_file.next[at - 1]) {
		const struct project_function *candidate = &c->project->functions.items[at - 1];

		if (is_at(wanted, candidate) && (!best || nearness(wanted->line, candidate) > nearness(wanted->line, best)))
			best = candidate;
	}
	return best;
}

static const struct project_function *find_by_name(const struct candidates *c, const struct code_function *wanted, bool *ret_one)
{
	const struct project_function *best = NULL;
	int most = -1;
	uint64_t at;

	*ret_one = true;
	if (!map_get(c->by_name.first, bare_hash(wanted->name), &at))
		return NULL;
	for (; at; at = c->by_name.next[at - 1]) {
		const struct project_function *candidate = &c->project->functions.items[at - 1];
		int own = score(wanted, candidate);

		if (own < 0 || own < most)
			continue;
		*ret_one = own > most;
		most = own;
		best = candidate;
	}
	return best;
}

static void find_key(const struct candidates *c, struct code_function *f, struct arena *a)
{
	const struct project_function *found = find_by_name(c, f, &f->is_one);

	if (!found)
		found = find_by_line(c, f);
	if (!found)
		return;
	f->key = found->key;
	f->name = arena_strdup(a, found->name);
}

void callers_add(const char *trace_path, const struct project *p, struct trace *t)
{
	_cleanup_(freep) char *dir = path_dir(trace_path), *path = path_join(dir, CALLERS_FILE);
	struct candidates c;

	if (strcmp(path_base(trace_path), "trace.vpt") != 0)	/* it was merged from others, whose numbers it does
								 * not have */
		return;
	callers_read(path, t);
	if (!t->callers.cnt)
		return;
	list_candidates(&c, p);
	for (size_t i = 0; i < t->callers.cnt; i++)
		for (uint32_t k = 0; k < t->callers.items[i].function_cnt; k++)
			find_key(&c, &t->callers.items[i].functions[k], t->arena);
	chains_end(&c.by_name);
	chains_end(&c.by_file);
}
