/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kills.c - the end comes at any moment: of the program, of the recorder, of both.
 *
 * Killing the program: each record that it had closed is in the trace, thread by thread, and its exit status is
 * the signal's.  Killing the recorder: the program goes on and ends as it would have; the written part is read.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "base/banned.h"
#include "base/file.h"
#include "tests/soak/soak.h"

enum { THREADS = 3 };

static bool is_working(const struct ordeal *o)
{
	while (o->counts->working < THREADS && is_recording(o))
		wait_ns(100000);
	return CHECK(o->counts->working >= THREADS, "the program did not start");
}

/* A kill, a signal from outside, or a mistake of its own. */
static bool kill_victim(struct ordeal *o)
{
	static const int signals[] = { SIGKILL, SIGSEGV, SIGABRT };

	is_working(o);
	wait_ns(rand_r(&o->random) % 30000000);
	if (o->n == THREADS + 1)
		o->counts->how = 1 + o->random % 2;
	else
		kill(o->victim, signals[o->random % 3]);
	return false;
}

static int expected_status(const struct ordeal *o)
{
	if (o->counts->how)
		return 128 + (o->counts->how == 1 ? SIGSEGV : SIGABRT);
	return 128 + (o->random % 3 == 0 ? SIGKILL : o->random % 3 == 1 ? SIGSEGV : SIGABRT);
}

static void compare_threads(const struct ordeal *o)
{
	for (uint32_t i = 0; i < o->counts->cell_cnt; i++) {
		const struct cell *c = &o->counts->cells[i];
		uint64_t read = recorded_leafs(o, c->tid);

		CHECK(read == c->leafs || read == c->leafs + 1,
		      "thread %u closed %llu records before the kill, %llu are in the trace", c->tid,
		      (unsigned long long)c->leafs, (unsigned long long)read);
	}
}

static void compare_events(const struct ordeal *o)
{
	uint64_t counted = counted_events(o), read = o->stats.begins + o->stats.ends;

	CHECK(read >= counted && read <= counted + o->counts->cell_cnt,
	      "%llu events were logged before the kill, %llu are in the trace",
	      (unsigned long long)counted, (unsigned long long)read);
}

/* If chunks ran short, records are missing: exactly the number reported. */
static void compare_sums(const struct ordeal *o)
{
	uint64_t counted = counted_leafs(o) + counted_events(o);
	uint64_t read = recorded_leafs(o, 0) + o->stats.begins + o->stats.ends + o->stats.lost_records;

	CHECK(read >= counted && read <= counted + 2 * o->counts->cell_cnt,
	      "%llu records before the kill, %llu read or said to be lost", (unsigned long long)counted,
	      (unsigned long long)read);
}

void soak_kills(long n)
{
	for (long i = 0; i < n && all_held(); i++) {
		struct ordeal o = { .program = "kill", .n = THREADS + (i % 5 == 4), .arena_bytes = 48 << 20,
				    .meanwhile = kill_victim, .random = (unsigned int)(i * 7919 + 1) };

		progress("kill %ld of %ld", i + 1, n);
		ordeal_run(&o);
		CHECK(o.readable, "the trace cannot be read: %s", o.diag.text);
		CHECK(o.status == expected_status(&o), "ended with %d, not %d", o.status,
		      expected_status(&o));
		if (o.readable && !o.stats.lost_records) {
			compare_threads(&o);
			compare_events(&o);
		} else if (o.readable) {
			compare_sums(&o);
		}
		ordeal_release(&o);
	}
}

static bool kill_recorder(struct ordeal *o)
{
	while (!o->counts->cell_cnt && is_recording(o))
		wait_ns(100000);
	wait_ns(rand_r(&o->random) % 150000000);
	kill(o->recorder, SIGKILL);
	return true;
}

static bool kill_both(struct ordeal *o)
{
	kill_recorder(o);
	kill(o->victim, SIGKILL);
	return true;
}

/* A trace whose recorder was killed holds no more than the program did, and whole intervals. */
static void check_rest(const struct ordeal *o)
{
	if (!o->readable) {
		CHECK(strstr(o->diag.text, "cut so early that its clock is unknown") != NULL,
		      "the trace cannot be read: %s", o->diag.text);
		return;
	}
	CHECK(recorded_leafs(o, 0) <= counted_leafs(o) + 1, "more in the trace than happened");
	for (size_t i = 0; i < o->t->intervals.cnt; i++) {
		const struct interval *iv = &o->t->intervals.items[i];

		CHECK(iv->status != INTERVAL_COMPLETED || iv->end_ns - iv->start_ns >= 1000000,
		      "an interval of %lld ns: each rests for a millisecond",
		      (long long)(iv->end_ns - iv->start_ns));
	}
}

/* The rest of the arena goes into the trace.  Then each record is in it or reported lost: the recorder may
 * have been killed between writing some and noting it, so as many more may be reported lost as it had. */
static void recover(struct ordeal *o)
{
	uint64_t counted = counted_leafs(o) + counted_events(o), read;
	struct drainer_stats stats;
	int r = drainer_recover(o->arena_path, o->trace_path, &stats, &o->diag);

	if (!CHECK(!r, "the arena cannot be recovered: %d, %s", r, o->diag.text))
		return;
	CHECK(drainer_recover(o->arena_path, o->trace_path, &stats, &o->diag) == -ENOENT, "the arena is still there");
	ordeal_read(o);
	if (!CHECK(o->readable, "the recovered trace cannot be read: %s", o->diag.text))
		return;
	read = recorded_leafs(o, 0) + recorded_events(o);
	CHECK(read <= counted + 2, "%llu records, %llu are in the recovered trace", (unsigned long long)counted,
	      (unsigned long long)read);
	CHECK(read + o->t->losses.records >= counted, "%llu records, %llu are in the recovered trace, %llu said to be lost",
	      (unsigned long long)counted, (unsigned long long)read, (unsigned long long)o->t->losses.records);
	check_rest(o);
}

void soak_killed_recorders(long n)
{
	for (long i = 0; i < n && all_held(); i++) {
		struct ordeal o = { .program = "steady", .n = 200, .arena_bytes = i % 2 ? 1 : 0,
				    .meanwhile = kill_recorder, .random = (unsigned int)i + 77 };

		progress("recorder killed, %ld of %ld", i + 1, n);
		ordeal_run(&o);
		CHECK(o.status == 0 && o.counts->ended, "the program ended with %d", o.status);
		CHECK(counted_events(&o) == 400, "the program did not do its work");
		check_rest(&o);
		ordeal_release(&o);
	}
}

void soak_killed_both(long n)
{
	char dir[] = "/dev/shm/soak-XXXXXX";	/* others' recorders, of other tests, remove orphans where there are many */
	bool is_own = mkdtemp(dir);

	for (long i = 0; i < n && all_held(); i++) {
		struct ordeal o = { .program = "steady", .n = 100000, .meanwhile = kill_both,
				    .random = (unsigned int)i + 99, .arena_dir = is_own ? dir : NULL };

		progress("both killed, %ld of %ld", i + 1, n);
		ordeal_run(&o);
		CHECK(o.status == 128 + SIGKILL, "the program ended with %d", o.status);
		check_rest(&o);
		recover(&o);
		ordeal_release(&o);
	}
	if (is_own)
		remove_tree(dir);
}
