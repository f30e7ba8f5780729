/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * segments.c - takes the oldest record of all CPUs, repeatedly.
 */
#include "recorder/segments.h"

#include <stdlib.h>
#include <string.h>
#include "base/banned.h"

enum { CPUS_MAX = 1 << 16 };

unsigned int segments_cpus(const char *present)
{
	size_t len = strcspn(present, "\n");
	const char *last = present + len;
	char *end;
	unsigned long number;

	while (last > present && last[-1] >= '0' && last[-1] <= '9')
		last--;
	number = strtoul(last, &end, 10);
	return end == present + len && end > last && number < CPUS_MAX ? (unsigned int)number + 1 : 0;
}

static struct record_place *next_of(const struct segments *s, unsigned int cpu, uint64_t number)
{
	return &s->places[(size_t)cpu * s->places_per_cpu + (number & (s->places_per_cpu - 1))];
}

/* The next record of a CPU; NULL: none is complete and old enough. */
static const struct record_place *look(struct segments *s, unsigned int cpu, uint64_t before_ns)
{
	struct record_segment *g = &s->all[cpu];

	for (;;) {
		struct record_place *p = next_of(s, cpu, g->taken);
		uint64_t committed = __atomic_load_n(&p->committed, __ATOMIC_ACQUIRE);

		if (committed == g->taken + 1)
			return p->record.ns < before_ns ? p : NULL;
		if (committed <= g->taken)
			return NULL;
		s->overwritten++;
		__atomic_store_n(&g->taken, g->taken + 1, __ATOMIC_RELEASE);
	}
}

/* Takes the records of one CPU that are older than this; there is at least one. */
static void take_run(struct segments *s, unsigned int cpu, uint64_t before_ns, segment_taker *take, void *context)
{
	const struct record_place *p;

	while ((p = look(s, cpu, before_ns))) {
		take(context, &p->record, sizeof(p->record));
		__atomic_store_n(&s->all[cpu].taken, s->all[cpu].taken + 1, __ATOMIC_RELEASE);
	}
}

uint64_t segments_most(const struct segments *s)
{
	uint64_t most = 0;

	for (unsigned int cpu = 0; cpu < s->cpu_cnt; cpu++) {
		uint64_t cnt = __atomic_load_n(&s->all[cpu].reserved, __ATOMIC_RELAXED) - s->all[cpu].taken;

		most = cnt > most ? cnt : most;
	}
	return most;
}

void segments_take(struct segments *s, uint64_t before_ns, segment_taker *take, void *context)
{
	for (;;) {
		uint64_t oldest_ns = UINT64_MAX, second_ns = before_ns;
		unsigned int oldest = s->cpu_cnt;

		for (unsigned int cpu = 0; cpu < s->cpu_cnt; cpu++) {
			const struct record_place *p = look(s, cpu, before_ns);

			if (!p)
				continue;
			if (oldest == s->cpu_cnt || p->record.ns < oldest_ns) {
				second_ns = oldest == s->cpu_cnt ? before_ns : oldest_ns;
				oldest_ns = p->record.ns;
				oldest = cpu;
			} else if (p->record.ns < second_ns) {
				second_ns = p->record.ns;
			}
		}
		if (oldest == s->cpu_cnt)
			return;
		take_run(s, oldest, second_ns > oldest_ns ? second_ns : oldest_ns + 1, take, context);
	}
}
