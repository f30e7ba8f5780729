/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tsv_ids.c - numbers that do not depend on what else is in a digest: 64 bits of a hash of the names.
 */
#include "digest/tsv.h"

#include "base/banned.h"
#include "base/map.h"

const char *const tsv_tables[] = {
	[TSV_WINDOW] = "vprof_window", [TSV_FUNCTION] = "vprof_function", [TSV_CALL] = "vprof_call", [TSV_NAME] = "vprof_name",
	[TSV_NODE] = "vprof_node", [TSV_PAIR] = "vprof_pair", [TSV_OWN] = "vprof_own", [TSV_BUCKET] = "vprof_bucket",
	[TSV_CELL] = "vprof_cell", [TSV_SHARE] = "vprof_share", [TSV_TABLE_CNT] = NULL,
};

const char *const tsv_own_kinds[] = {
	[OWN_FUNCTION] = "function", [OWN_BODY] = "body", [OWN_WAIT] = "wait", [OWN_RUNQUEUE] = "runqueue",
	[OWN_RUNQUEUE_WAITS] = "runqueue-waits",
};

/* The end of a text counts, too: "ab", "c" is not "a", "bc". */
static uint64_t hash_text(uint64_t seed, const char *text)
{
	return hash_u64(hash_str(seed, text ? text : ""), 0);
}

uint64_t tsv_function_id(const struct summed *s, uint32_t function)
{
	const struct summed_function *f;
	uint64_t id;

	if (function > SUMMED_DEVICE(SUMMED_DEVICES))
		return SUMMED_NO_FUNCTION - function;
	f = &s->functions.items[function];
	id = hash_u64(hash_text(hash_text(0, f->name), f->file), f->line);
	return id < TSV_FUNCTION_IDS ? id + TSV_FUNCTION_IDS : id;
}

uint64_t tsv_source_id(const struct summed_source *s)
{
	const char *const texts[] = { s->machine, s->boot, s->host, s->container, s->build, s->run };
	uint64_t id = hash_u64(hash_u64(s->recording, (uint64_t)s->started_ns), (uint64_t)s->clock_ns);

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		id = hash_text(id, texts[i]);
	return id;
}

/* 0 is nobody's: it stands for the parent of a root. */
uint64_t *tsv_place_ids(const struct summed *s)
{
	uint64_t *ids = xcalloc(s->places.cnt + 1, sizeof(*ids));

	for (size_t i = 0; i < s->places.cnt; i++) {
		const struct summed_place *p = &s->places.items[i];
		uint64_t id = p->parent == NODE_NONE ? hash_text(0, s->interval_names.items[p->name]) : ids[p->parent];

		id = hash_u64(id, (uint64_t)p->kind | (uint64_t)p->wait << 8 | (uint64_t)p->device << 16 | (uint64_t)p->is_wait << 24);
		id = hash_u64(id, tsv_function_id(s, p->function));
		id = hash_text(id, p->call_site == CALL_SITE_NONE ? NULL : s->call_sites.items[p->call_site]);
		ids[i] = id ? id : 1;
	}
	return ids;
}
