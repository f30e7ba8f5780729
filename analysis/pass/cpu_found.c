/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cpu_found.c - findings about the CPUs: how long the run's threads waited for one, and which other processes used them.
 *
 *	60 s; cc1 90 s, make 6 s; the CPUs were busy 100 s, of which 99 are seen	cc1 1.5, make 0.1
 */
#include "analysis/pass/cpu_found.h"

#include <stdlib.h>
#include <string.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "base/text/utf8.h"

#define ENTRIES_MAX 5
#define NAMED_MIN 0.01			/* CPUs; a process that used less is not named */
#define UNSEEN_MIN 0.1			/* the clock of /proc/stat ticks: less unexplained time than that may be none */
#define UNSEEN_SHARE 0.05

static int by_cpus(const void *pa, const void *pb)
{
	const struct cpu_other *a = pa, *b = pb;

	if (a->cpus != b->cpus)
		return a->cpus > b->cpus ? -1 : 1;
	return strcmp(a->comm, b->comm);
}

/* A process may have any name: this makes it harmless to print, store or query. */
static const char *harmless(struct arena *a, const char *comm)
{
	_cleanup_(str_release) struct str s = STR_INIT;

	utf8_add_line(&s, comm);
	return arena_strdup(a, str_cstr(&s));
}

static double unseen_cpus(const struct cpu_use *u)
{
	double unseen_ns = u->busy_ns > u->seen_ns ? (double)(u->busy_ns - u->seen_ns) : 0;
	double cpus = unseen_ns / (double)u->ns;

	return cpus >= UNSEEN_MIN && unseen_ns >= UNSEEN_SHARE * (double)u->busy_ns ? cpus : 0;
}

/* Names the largest users, and sums the rest. */
static void find_others(struct findings *f, const struct cpu_use *u)
{
	struct cpu_found *c = &f->cpu;
	struct cpu_other *list = xcalloc(u->users.cnt + 1, sizeof(*list));
	double rest = unseen_cpus(u), stolen = (double)u->stolen_ns / (double)u->ns;
	size_t named = stolen >= UNSEEN_SHARE ? ENTRIES_MAX - 2 : ENTRIES_MAX - 1;
	size_t cnt = 0;

	for (size_t i = 0; i < u->users.cnt; i++) {
		const struct cpu_user *user = &u->users.items[i];
		double cpus = (double)user->ns / (double)u->ns;

		if (!*user->comm)
			rest += cpus;
		else
			list[cnt++] = (struct cpu_other){ user->comm, cpus };
	}
	if (cnt)
		qsort(list, cnt, sizeof(*list), by_cpus);
	c->others.items = ARENA_NEW(f->arena, struct cpu_other, ENTRIES_MAX);
	c->others.cap = ENTRIES_MAX;
	for (size_t i = 0; i < cnt; i++) {
		if (c->others.cnt < named && list[i].cpus >= NAMED_MIN)
			c->others.items[c->others.cnt++] =
				(struct cpu_other){ harmless(f->arena, list[i].comm), list[i].cpus };
		else
			rest += list[i].cpus;
	}
	if (rest >= UNSEEN_SHARE)
		c->others.items[c->others.cnt++] = (struct cpu_other){ CPU_OTHERS, rest };
	if (stolen >= UNSEEN_SHARE)
		c->others.items[c->others.cnt++] = (struct cpu_other){ CPU_STOLEN, stolen };
	free(list);
}

void find_cpu(const struct trace *t, struct findings *f)
{
	const struct cpu_use *u = &t->cpu_use;
	const struct off_cpu *o = &t->off_cpu;
	double wanted_ns = (double)o->run_ns + (double)o->delay_ns;
	struct cpu_found *c = &f->cpu;

	c->has_share = wanted_ns > 0;
	c->runqueue_share = c->has_share ? (double)o->delay_ns / wanted_ns : 0;
	c->is_exact = u->kernel_knows;
	c->has_from_idle = u->runqueue.all > 0;
	c->from_idle = c->has_from_idle ? u->runqueue.from_idle / u->runqueue.all : 0;
	if (!u->ns)
		return;
	c->is_known = true;
	c->cpu_cnt = u->cpu_cnt;
	c->allowed_cnt = u->allowed_cnt && u->allowed_cnt < u->cpu_cnt ? u->allowed_cnt : u->cpu_cnt;
	c->runnable = u->runnable_ns / (double)u->ns;
	c->has_stalled = u->has_stalled;
	c->stalled = (double)u->stalled_ns / (double)u->ns;
	c->throttled = (double)u->throttled_ns / (double)u->ns;
	find_others(f, u);
}
