/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cpu_use.c - sums of times; what does not fit stays at the largest.
 *
 *	1 s: make 0.2 s, cc1 1.5 s; 3 s: cc1 0.5 s		4 s: make 0.2 s, cc1 2 s
 */
#include "trace/raw/cpu_use.h"

#include <string.h>

#include "base/arena.h"
#include "base/banned.h"
#include "trace/raw/raw.h"

#define NS_MAX (UINT64_MAX / 4)

static void add_ns(uint64_t *to, uint64_t ns)
{
	ns = ns < NS_MAX ? ns : NS_MAX;
	*to = *to < NS_MAX - ns ? *to + ns : NS_MAX;
}

static void add_user(struct cpu_use *u, struct map *index, struct arena *arena, const char *name, size_t len, uint64_t ns)
{
	uint64_t *slot = map_slot(index, hash_bytes(0, name, len));

	if (!*slot) {
		VEC_ADD(&u->users, (struct cpu_user){ arena_strndup(arena, name, len), 0 });
		*slot = u->users.cnt;
	}
	add_ns(&u->users.items[*slot - 1].ns, ns);
}

static void add_totals(struct cpu_use *u, const struct cpu_use *more)
{
	uint64_t before_ns = u->ns;

	add_ns(&u->ns, more->ns);
	if (more->ns)		/* a mean, weighted by time */
		u->runnable_ns += more->runnable_ns * ((double)(u->ns - before_ns) / (double)more->ns);
	add_ns(&u->stalled_ns, more->stalled_ns);
	add_ns(&u->throttled_ns, more->throttled_ns);
	add_ns(&u->busy_ns, more->busy_ns);
	add_ns(&u->seen_ns, more->seen_ns);
	add_ns(&u->stolen_ns, more->stolen_ns);
	u->runqueue.all += more->runqueue.all;
	u->runqueue.from_idle += more->runqueue.from_idle;
	u->has_stalled |= more->has_stalled;
	u->kernel_knows |= more->kernel_knows;
	u->cpu_cnt = more->cpu_cnt > u->cpu_cnt ? more->cpu_cnt : u->cpu_cnt;
	u->allowed_cnt = more->allowed_cnt > u->allowed_cnt ? more->allowed_cnt : u->allowed_cnt;
}

static uint32_t decode_u32(struct decoder *d)
{
	uint64_t value = decode_varint(d);

	d->bad |= value > UINT32_MAX;
	return (uint32_t)value;
}

void cpu_use_decode(struct cpu_use *u, struct map *index, struct arena *arena, struct decoder *d)
{
	struct cpu_use more = { .ns = decode_varint(d) };
	uint64_t cnt;

	more.cpu_cnt = decode_u32(d);
	more.allowed_cnt = decode_u32(d);
	more.runnable_ns = (double)decode_u32(d) / 1000 * (double)more.ns;
	more.has_stalled = decode_varint(d) != 0;
	more.stalled_ns = decode_varint(d);
	more.throttled_ns = decode_varint(d);
	more.busy_ns = decode_varint(d);
	more.seen_ns = decode_varint(d);
	more.stolen_ns = decode_varint(d);
	cnt = decode_varint(d);
	if (d->bad)
		return;
	add_totals(u, &more);
	while (cnt-- && !d->bad) {
		uint64_t ns = decode_varint(d);
		size_t len;
		const char *name = decode_text(d, &len);

		if (!d->bad)
			add_user(u, index, arena, name, len, ns);
	}
}

void cpu_use_add(struct cpu_use *u, const struct cpu_use *from, struct arena *arena)
{
	_cleanup_(map_freep) struct map *index = map_new();

	for (size_t i = 0; i < u->users.cnt; i++)
		map_set(index, hash_str(0, u->users.items[i].comm), i + 1);
	add_totals(u, from);
	for (size_t i = 0; i < from->users.cnt; i++)
		add_user(u, index, arena, from->users.items[i].comm, strlen(from->users.items[i].comm),
			 from->users.items[i].ns);
}

void cpu_use_sum_accounts(const struct raw *r, struct off_cpu *ret)
{
	_cleanup_(map_freep) struct map *lasts = map_new();

	for (size_t i = 0; i < r->accounts.cnt; i++) {
		const struct raw_account *a = &r->accounts.items[i];
		uint64_t *last;

		if (a->is_own)
			continue;
		last = map_slot(lasts, a->serial);
		if (*last && a->run_ns >= r->accounts.items[*last - 1].run_ns &&
		    a->delay_ns >= r->accounts.items[*last - 1].delay_ns) {
			add_ns(&ret->run_ns, a->run_ns - r->accounts.items[*last - 1].run_ns);
			add_ns(&ret->delay_ns, a->delay_ns - r->accounts.items[*last - 1].delay_ns);
		}
		*last = i + 1;
	}
}
