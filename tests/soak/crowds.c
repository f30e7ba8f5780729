/* SPDX-License-Identifier: GPL-3.0-or-later */
/* crowds.c - many threads, many processes, many signals. */
#include <string.h>
#include "base/banned.h"
#include "tests/soak/soak.h"

static void expect_all(const struct ordeal *o)
{
	CHECK(o->status == 0 && o->counts->ended, "the program ended with %d", o->status);
	if (!CHECK(o->readable, "the trace cannot be read: %s", o->diag.text))
		return;
	CHECK(o->stats.lost_records == 0, "%llu records were lost",
	      (unsigned long long)o->stats.lost_records);
	CHECK(recorded_leafs(o, 0) == counted_leafs(o), "%llu of %llu records are in the trace",
	      (unsigned long long)recorded_leafs(o, 0), (unsigned long long)counted_leafs(o));
}

/* Once with a chunk for each, once with fewer chunks than threads. */
void soak_live_threads(long n)
{
	struct ordeal o = { .program = "live", .n = n, .arena_bytes = 256 << 20 };
	struct ordeal few = { .program = "live", .n = n, .arena_bytes = (size_t)n * 4096 };
	uint64_t read;

	progress("a chunk for each of %ld", n);
	ordeal_run(&o);
	expect_all(&o);
	CHECK(o.stats.threads == (uint64_t)n + 1, "%llu threads of %ld",
	      (unsigned long long)o.stats.threads, n + 1);
	ordeal_release(&o);

	progress("a chunk for one in four");
	ordeal_run(&few);
	CHECK(few.status == 0 && few.counts->ended, "the program ended with %d", few.status);
	if (CHECK(few.readable, "the trace cannot be read: %s", few.diag.text)) {
		/* A thread has a START, a STOP and a CREATE besides; its maker waits for it.  When it begins and when it ends, two
		 * records describe its CPU; if its first record was lost, so were those. */
		read = recorded_leafs(&few, 0) + few.stats.lost_records;
		CHECK(few.stats.lost_records > 0, "nothing was lost");
		CHECK(read >= counted_leafs(&few) && read <= counted_leafs(&few) + 6 * (uint64_t)n + 8,
		      "%llu records: %llu read or said to be lost",
		      (unsigned long long)counted_leafs(&few), (unsigned long long)read);
	}
	ordeal_release(&few);
}

void soak_short_threads(long n)
{
	struct ordeal o = { .program = "short", .n = n };

	ordeal_run(&o);
	expect_all(&o);
	CHECK(o.stats.threads == (uint64_t)n + 1, "%llu threads of %ld",
	      (unsigned long long)o.stats.threads, n + 1);
	ordeal_release(&o);
}

void soak_fork_tree(long n)
{
	struct ordeal o = { .program = "tree", .n = n };

	ordeal_run(&o);
	expect_all(&o);
	CHECK(o.stats.processes == o.counts->threads, "%llu processes of %llu",
	      (unsigned long long)o.stats.processes, (unsigned long long)o.counts->threads);
	ordeal_release(&o);
}

/* A tick that comes right before must not end the program that is executed: causal experiments are under way, if asked for. */
void soak_execs(long n)
{
	struct ordeal o = { .program = "execs", .n = n };

	ordeal_run(&o);
	CHECK(o.status == 0 && o.counts->ended, "the program ended with %d", o.status);
	CHECK(o.counts->leafs == (uint64_t)n, "%llu of %ld programs ended as they should", (unsigned long long)o.counts->leafs, n);
	CHECK(o.readable, "the trace cannot be read: %s", o.diag.text);
	ordeal_release(&o);
}

static uint64_t calls_of(const struct trace *t, const char *function)
{
	uint64_t cnt = 0;

	for (size_t i = 0; i < t->invocations.cnt; i++)
		cnt += !strcmp(t->functions.items[t->invocations.items[i].function].name, function);
	return cnt;
}

void soak_storm(long n)
{
	struct ordeal o = { .program = "storm", .n = n };
	uint64_t handled, leafs;

	ordeal_run(&o);
	CHECK(o.status == 0 && o.counts->ended, "the program ended with %d", o.status);
	if (CHECK(o.readable, "the trace cannot be read: %s", o.diag.text)) {
		handled = o.counts->cells[0].handled;
		leafs = counted_leafs(&o) + handled;
		progress("%llu signals handled", (unsigned long long)handled);
		CHECK(handled > (uint64_t)n / 100000, "only %llu signals", (unsigned long long)handled);
		CHECK(recorded_leafs(&o, 0) == leafs && calls_of(o.t, "handler") == handled,
		      "of %llu calls %llu are in the trace, of %llu handlers %llu, %llu lost",
		      (unsigned long long)leafs, (unsigned long long)recorded_leafs(&o, 0),
		      (unsigned long long)handled, (unsigned long long)calls_of(o.t, "handler"),
		      (unsigned long long)o.stats.lost_records);
	}
	ordeal_release(&o);
}
