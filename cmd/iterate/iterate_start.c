/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * iterate_start.c - the options and sources that an iteration began with, kept to decide whether it may continue.
 *
 * For the sources and vprof.conf this is a hash.  Example: a header with a function in it was changed: "the sources
 * were changed since".
 */
#include <string.h>

#include "base/banned.h"
#include "base/file.h"
#include "base/map.h"
#include "cmd/iterate/iterate_loop.h"
#include "project/config/locate.h"
#include "store/iteration_start.h"

static uint64_t hash_file(uint64_t hash, const char *path)
{
	_cleanup_(freep) char *text = NULL;
	size_t len = 0;

	if (file_read(path, &text, &len) < 0)
		return hash_u64(hash, 1);	/* generated and removed again, perhaps */
	return hash_bytes(hash, text, len);
}

static uint64_t hash_new_file(struct map *seen, uint64_t hash, const char *path)
{
	if (!path || (*map_slot(seen, hash_str(0, path)))++)
		return hash;
	return hash_file(hash_str(hash, path), path);
}

/* For the units: their commands, their sources, and the headers that contain functions. */
static uint64_t hash_sources(const units *list)
{
	_cleanup_(map_freep) struct map *seen = map_new();
	uint64_t hash = 0;

	for (size_t i = 0; i < list->cnt; i++) {
		const struct unit *u = list->items[i];

		hash = hash_str(hash, u->object);
		for (const char **word = u->argv; *word; word++)
			hash = hash_str(hash_u64(hash, 1), *word);
		hash = hash_new_file(seen, hash, u->source);
		for (size_t k = 0; k < u->functions.cnt; k++)
			hash = hash_new_file(seen, hash, u->functions.items[k].file);
	}
	return hash;
}

static void describe_start(const struct loop *l, struct iteration_start *ret)
{
	*ret = (struct iteration_start){
		.first_run = l->first_run,
		.command = record_command_text(&l->run_command),
		.policy = xstrdup(refine_policy_name(l->options.policy)),
		.k = l->options.k,
		.max_runs = l->options.max_runs,
		.threshold = l->options.threshold,
		.overhead = l->options.overhead,
		.sources = hash_sources(&l->scanned),
		.configuration = config_path() ? hash_file(0, config_path()) : 0,
	};
}

int iterate_keep_start(const struct loop *l, struct diag *reterr)
{
	_cleanup_(iteration_start_release) struct iteration_start start;

	describe_start(l, &start);
	return iteration_start_write(l->store, &start, reterr);
}

char *iterate_start_difference(const struct loop *l, const struct iteration_start *start)
{
	_cleanup_(iteration_start_release) struct iteration_start now;

	describe_start(l, &now);
	if (strcmp(start->command, now.command) != 0)
		return xasprintf("its command was '%s'", start->command);
	if (strcmp(start->policy, now.policy) != 0)
		return xasprintf("its policy was %s", start->policy);
	if (start->k != now.k)
		return xasprintf("its k was %u", start->k);
	if (start->threshold != now.threshold)
		return xasprintf("its threshold was %.9g", start->threshold);
	if (start->overhead != now.overhead)
		return xasprintf("its overhead was %.9g", start->overhead);
	if (start->configuration != now.configuration)
		return xstrdup("vprof.conf was changed since");
	if (start->sources != now.sources)
		return xstrdup("the sources were changed since");
	return NULL;
}
