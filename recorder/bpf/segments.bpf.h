/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * segments.bpf.h - part of record.bpf.c: the buffers of records until they are taken out (segments.h).
 *
 * A place is reserved by incrementing a counter that only this CPU increments; an interrupt in between gets the next
 * place.  The record is complete when its own number, plus one, is written after it.
 *
 *	r = reserve(&place)	r->... = ...	commit(&place)
 *
 * The kernel's ring buffers have a lock that all CPUs compete for.
 */

/* Set before loading: a power of two; and whether this machine's CPUs see each other's stores in the order in which
 * they were made, as on x86. */
const volatile unsigned int places_per_cpu = 1;
const volatile int stores_are_in_order;

enum { RESERVED_AT_ONCE = 16 };		/* by programs that were interrupted between looking and taking */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);		/* one a CPU: programs.c */
	__type(key, unsigned int);
	__type(value, struct record_segment);
} segments SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);		/* places_per_cpu a CPU: programs.c */
	__type(key, unsigned int);
	__type(value, struct record_place);
} places SEC(".maps");

struct reserved {
	struct record_place *place;
	unsigned long long number;
};

/* NULL: there is no room.  alone: nothing can interrupt, so no locked instruction is needed.  That would wait until
 * all earlier writes have reached the cache: a switch takes a seventh less without this one and that of commit(). */
static __always_inline void *reserve_if(struct reserved *ret, int alone)
{
	unsigned int cpu = bpf_get_smp_processor_id(), at;
	struct record_segment *g = bpf_map_lookup_elem(&segments, &cpu);

	if (!g || *(volatile unsigned long long *)&g->reserved - *(volatile unsigned long long *)&g->taken >=
	    places_per_cpu - RESERVED_AT_ONCE)
		return 0;
	if (alone) {
		ret->number = *(volatile unsigned long long *)&g->reserved;
		*(volatile unsigned long long *)&g->reserved = ret->number + 1;
	} else {
		ret->number = __sync_fetch_and_add(&g->reserved, 1);
	}
	at = cpu * places_per_cpu + ((unsigned int)ret->number & (places_per_cpu - 1));
	ret->place = bpf_map_lookup_elem(&places, &at);
	return ret->place ? &ret->place->record : 0;
}

static __always_inline void *reserve(struct reserved *ret)
{
	return reserve_if(ret, 0);
}

/* Called with interrupts off, or when nothing else is attached. */
static __always_inline void *reserve_alone(struct reserved *ret)
{
	return reserve_if(ret, 1);
}

/* Called after the record was written.  Where the machine does not keep the order of stores, the exchange does. */
static __always_inline void commit(struct reserved *r)
{
	barrier();
	if (stores_are_in_order)
		*(volatile unsigned long long *)&r->place->committed = r->number + 1;
	else
		__sync_lock_test_and_set(&r->place->committed, r->number + 1);
}
