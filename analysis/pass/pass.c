/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pass.c - helpers of all passes: name a function in the findings, and compute a share.
 */
#include "analysis/pass/pass.h"

#include <stdlib.h>
#include <string.h>
#include "base/banned.h"

struct known_names {			/* per function; NULL: not needed yet */
	const char **names, **files;
};

struct known_names *known_names_new(size_t function_cnt)
{
	struct known_names *k = xcalloc(1, sizeof(*k));

	k->names = xcalloc(function_cnt + 1, sizeof(*k->names));
	k->files = xcalloc(function_cnt + 1, sizeof(*k->files));
	return k;
}

void known_names_free(struct known_names *k)
{
	if (!k)
		return;
	free(k->names);
	free(k->files);
	free(k);
}

/* Only threads have functions. */
static bool is_function(uint32_t function)
{
	return function != FUNCTION_NONE && DEVICE_OF_FUNCTION(function) == KIND_THREAD;
}

const char *analysis_function_name(const struct analysis *a, uint32_t function)
{
	if (function == FUNCTION_NONE)
		return NULL;
	if (!is_function(function))
		return arena_printf(a->f->arena, "(%s)", thread_kind_name(DEVICE_OF_FUNCTION(function)));
	if (!a->names->names[function])
		a->names->names[function] = arena_strdup(a->f->arena, a->t->functions.items[function].name);
	return a->names->names[function];
}

const char *analysis_function_file(const struct analysis *a, uint32_t function)
{
	if (!is_function(function) || !a->t->functions.items[function].file)
		return NULL;
	if (!a->names->files[function])
		a->names->files[function] = arena_strdup(a->f->arena, a->t->functions.items[function].file);
	return a->names->files[function];
}

uint32_t analysis_function_line(const struct analysis *a, uint32_t function)
{
	return is_function(function) ? a->t->functions.items[function].line : 0;
}

double analysis_share(const struct analysis *a, double covariance)
{
	return a->variance_ns2 > 0 ? covariance / a->variance_ns2 : 0;
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void strings_sort_unique(strings *list)
{
	size_t kept = 0;

	if (list->cnt > 1)
		qsort(list->items, list->cnt, sizeof(*list->items), compare_strings);
	for (size_t i = 0; i < list->cnt; i++)
		if (kept == 0 || strcmp(list->items[kept - 1], list->items[i]) != 0)
			list->items[kept++] = list->items[i];
	list->cnt = kept;
}
