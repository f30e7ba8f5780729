/* SPDX-License-Identifier: GPL-3.0-or-later */
/* by_host.c - see by_host.h. */
#include "digest/by_host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/str.h"

static bool is_same(const struct summed_source *a, const struct summed_source *b)
{
	return *a->machine && *b->machine ? strcmp(a->machine, b->machine) == 0 : strcmp(a->host, b->host) == 0;
}

/* The number of its host, a new one if there is none yet; of: the first source of each. */
static size_t host_number(const struct summed *s, const struct summed_source *source, host_parts *h, const struct summed_source **of)
{
	for (size_t i = 0; i < h->cnt; i++)
		if (is_same(of[i], source))
			return i;
	of[h->cnt] = source;
	VEC_ADD(h, (struct host_part){ .name = *source->host ? source->host : source->machine, .part = *s,
				       .started_ns = source->started_ns });
	memset(&h->items[h->cnt - 1].part.windows, 0, sizeof(s->windows));
	return h->cnt - 1;
}

/* Clones of one image have one name; so they keep apart. */
static void name_twins(host_parts *h, const struct summed_source *const *of)
{
	for (size_t i = 0; i < h->cnt; i++)
		for (size_t k = 0; k < h->cnt; k++)
			if (k != i && strcmp(h->items[i].name, *of[k]->host ? of[k]->host : of[k]->machine) == 0 && !h->items[i].own_name)
				h->items[i].own_name = xasprintf("%s (%s)", h->items[i].name, of[i]->machine);
	for (size_t i = 0; i < h->cnt; i++)
		if (h->items[i].own_name)
			h->items[i].name = h->items[i].own_name;
}

static int by_name(const void *a, const void *b)
{
	const struct host_part *x = a, *y = b;

	return strcmp(x->name, y->name);
}

int hosts_of(const struct summed *s, host_parts *ret)
{
	_cleanup_(freep) const struct summed_source **of = xcalloc(s->windows.cnt + 1, sizeof(*of));

	for (size_t i = 0; i < s->windows.cnt; i++) {
		const struct summed_source *source = &s->sources.items[s->windows.items[i].source];
		struct host_part *h;
		size_t number;

		if (!*source->machine && !*source->host)
			return -ENODATA;
		number = host_number(s, source, ret, of);	/* the list may move */
		h = &ret->items[number];
		VEC_ADD(&h->part.windows, s->windows.items[i]);
		if (source->started_ns && source->started_ns < h->started_ns)
			h->started_ns = source->started_ns;
	}
	name_twins(ret, of);
	if (ret->cnt)
		qsort(ret->items, ret->cnt, sizeof(*ret->items), by_name);
	return 0;
}

void hosts_release(host_parts *h)
{
	for (size_t i = 0; i < h->cnt; i++) {
		VEC_RELEASE(&h->items[i].part.windows);
		free(h->items[i].own_name);
	}
	VEC_RELEASE(h);
}
