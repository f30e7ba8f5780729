/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * full_tables.c - describes what a full table means for the results.
 */
#include "trace/full_tables.h"
#include "base/banned.h"

_Static_assert((int)TRACE_TABLE_CNT <= (int)FULL_TABLES_MAX, "room for all of them");

#define FEWER "probe fewer functions (vprof build --functions)"

static const struct {
	const char *table, *dropped, *effect;
} words[TRACE_TABLE_CNT] = {
	[TABLE_FUNCTIONS] = { "functions", "probes are in functions without a number",
		"their calls are not recorded, and their time counts as their callers' own: " FEWER },
	[TABLE_LABELS] = { "names of intervals and work", "uses were of names without a number",
		"such intervals are all named '?': use fewer names, and distinguish them by key" },
	[TABLE_TEXT] = { "bytes for names", "names had no room",
		"these functions have a number in place of their name: " FEWER },
	[TABLE_THREADS] = { "threads at the same time", "times a thread had no room",
		"what it did is missing, and intervals from then on are left out: start fewer threads" },
	[TABLE_CALLS] = { "calls open at once on a thread", "calls were deeper",
		"they are not recorded, and their time counts as the own time of the innermost call that is: probe fewer functions "
		"that call themselves (vprof build --functions)" },
	[TABLE_INTERVALS] = { "intervals open at once on a thread", "times a thread lost sight of its outermost interval",
		"its later work for that interval is missing: mark fewer intervals inside each other" },
	[TABLE_LOCKS] = { "listed locks asked for at once on a thread", "times the outermost one was forgotten",
		"its wait is not recorded: list fewer of the functions that call each other under [sync]" },
	[TABLE_UNITS] = { "compiled units", "probes are in units for which there was no memory",
		"their calls may be missing: give the program more memory" },
	[TABLE_NOTES] = { NULL, "probes are in parts of the program that do not say which functions to record (an older vprof built "
		"them, or their section .vprof was removed), and the plan here does not know them",
		"their calls are not recorded, and their time counts as their callers' own: build the program again and leave its "
		"section .vprof in it, or record with the data directory of its build (vprof -d DIR)" },
	[TABLE_STRANGERS] = { NULL, "program holds probes of another version of vprof, which stay dormant",
		"none of its functions was recorded: build it again (vprof build -- make, after make clean)" },
};

void full_tables_decode(struct full_tables *f, struct decoder *d)
{
	while (!d->bad && decode_left(d)) {
		uint64_t table = decode_varint(d), size = decode_varint(d), dropped = decode_varint(d);
		struct full_table *t = table < TRACE_TABLE_CNT ? &f->items[table] : NULL;

		/* Older recorders also counted intervals that nobody missed; replay_lose_sight() counts the others. */
		if (!d->bad && t && dropped > t->dropped && table != TABLE_INTERVALS)
			*t = (struct full_table){ words[table].table, words[table].dropped, words[table].effect, size, dropped };
	}
}

void full_tables_count(struct full_tables *f, enum trace_table table, uint64_t size)
{
	uint64_t dropped = f->items[table].dropped + 1;

	f->items[table] = (struct full_table){ words[table].table, words[table].dropped, words[table].effect, size, dropped };
}

void full_tables_add(struct full_tables *f, const struct full_tables *from)
{
	for (size_t i = 0; i < FULL_TABLES_MAX; i++) {
		uint64_t dropped = f->items[i].dropped + from->items[i].dropped;

		if (!from->items[i].dropped)
			continue;
		f->items[i] = from->items[i];
		f->items[i].dropped = dropped < from->items[i].dropped ? UINT64_MAX : dropped;
	}
}
