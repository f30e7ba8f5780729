/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shift.c - see shift.h.
 */
#include "runtime/shared/shift.h"

#define GET(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define PUT(p, value) __atomic_store_n(p, value, __ATOMIC_RELEASE)

/* Only ever raised: others may be at it. */
static void raise_max(struct shift_all *all, uint64_t ns)
{
	uint64_t old = __atomic_load_n(&all->max, __ATOMIC_RELAXED);

	while (old < ns && !__atomic_compare_exchange_n(&all->max, &old, ns, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		;
}

static uint64_t grown(uint64_t took, uint32_t speed)
{
	return took * speed / SHIFT_WHOLE;
}

void shift_join(const struct shift_all *all, struct shift *s)
{
	uint32_t block = GET(&all->block);

	if (s->block == block)
		return;
	PUT(&s->since, 0);
	PUT(&s->wait, 0);
	PUT(&s->ns, GET(&all->base));
	PUT(&s->block, block);
}

/* since is read on both sides of ns: the end of a stretch removes it before ns has it. */
static uint64_t look(const struct shift *s, uint32_t speed, uint64_t now)
{
	uint64_t since = GET(&s->since), ns = GET(&s->ns), until = GET(&s->believed);

	if (!since || GET(&s->since) != since)
		return ns;
	if (until > now)
		until = now;
	return until > since ? ns + grown(until - since, speed) : ns;
}

static const struct device_wait *wait_of(const struct shift *s, const struct device_wait *waits)
{
	uint32_t at = GET(&s->wait);

	return waits && at < DEVICE_WAITS && at ? &waits[at] : 0;
}

/*
 * The time of its waits that the kernel saw, and that is not in ns yet.  Call it after reading ns: the thread sets seen before ns.  A wait
 * that goes on counts if the thread's waits count meanwhile, so since is read on both sides of that.
 */
static uint64_t waited(const struct shift_table *t, const struct shift *s, uint64_t now)
{
	const struct device_wait *w = wait_of(s, t->waits);
	uint64_t since, total, seen;
	bool counts;

	if (!w)
		return 0;
	since = GET(&w->since);
	total = GET(&w->total);
	seen = GET(&s->seen);
	counts = wait_of(s, t->waits) == w;
	total = counts && total > seen ? total - seen : 0;
	if (!counts || !since || GET(&w->since) != since || since - t->waits_ahead >= now)
		return total;
	return total + now - (since - t->waits_ahead);
}

uint64_t shift_ns(const struct shift_all *all, const struct shift *s, uint64_t now)
{
	if (GET(&s->block) != GET(&all->block))
		return GET(&all->base);
	return look(s, GET(&all->speed), now);
}

uint64_t shift_max(const struct shift_table *t, uint64_t now)
{
	uint64_t max = GET(&t->all->max);
	uint32_t block = GET(&t->all->block), speed = GET(&t->all->speed);

	for (uint32_t i = 0; i < t->cnt; i++) {
		const struct shift *s = shift_at(t, i);
		uint64_t ns;

		if (GET(&s->block) != block)
			continue;
		ns = look(s, speed, now);
		if (!GET(&s->since))
			ns += grown(waited(t, s, now), speed);
		if (ns > max)
			max = ns;
	}
	return max;
}

void shift_begin(struct shift *s, uint64_t now, uint64_t believed)
{
	PUT(&s->believed, believed);
	PUT(&s->since, now);
}

void shift_believe(struct shift *s, uint64_t believed)
{
	PUT(&s->believed, believed);
}

void shift_end(struct shift_all *all, struct shift *s, uint64_t took)
{
	PUT(&s->since, 0);
	PUT(&s->ns, s->ns + grown(took, GET(&all->speed)));
	raise_max(all, s->ns);
}

uint64_t shift_waited(struct shift_all *all, struct shift *s, const struct device_wait *waits)
{
	const struct device_wait *w = wait_of(s, waits);
	uint64_t total = w ? GET(&w->total) : s->seen, took = total - s->seen;

	if (!took)
		return 0;
	PUT(&s->seen, total);
	if (s->since)
		return 0;
	PUT(&s->ns, s->ns + grown(took, GET(&all->speed)));
	raise_max(all, s->ns);
	return took;
}

void shift_paid(struct shift *s, uint64_t took)
{
	PUT(&s->ns, s->ns + took);
}

void shift_woken(struct shift *s, uint64_t from, uint64_t woken, uint64_t g)
{
	uint64_t most = woken > from ? s->ns + (woken - from) : s->ns;

	if (g > most)
		g = most;
	if (g > s->ns)
		PUT(&s->ns, g);
}
