/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_segments.c - records of several CPUs are taken in order of time, once each, and only when they are complete.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include "recorder/segments.h"
#include "tests/unit/cmocka_all.h"

enum { CPUS = 2, PLACES = 4, THREAD_RECORDS = 200000 };

static struct record_segment all[CPUS];
static struct record_place places[CPUS * PLACES];
static char taken[400];

static struct segments begin(void)
{
	memset(all, 0, sizeof(all));
	memset(places, 0, sizeof(places));
	*taken = '\0';
	return (struct segments){ .all = all, .places = places, .cpu_cnt = CPUS, .places_per_cpu = PLACES };
}

/* As a program in the kernel does it. */
static struct record_place *reserve(unsigned int cpu, uint64_t ns, uint64_t *ret_number)
{
	struct record_place *p;

	*ret_number = all[cpu].reserved++;
	p = &places[cpu * PLACES + *ret_number % PLACES];
	p->record.ns = ns;
	return p;
}

static void put(unsigned int cpu, uint64_t ns)
{
	uint64_t number;
	struct record_place *p = reserve(cpu, ns, &number);

	p->committed = number + 1;
}

static void take(void *context, const void *record, size_t len)
{
	const struct record_life *r = record;
	char text[30];

	(void)context;
	assert_true(len >= sizeof(struct record_off));
	snprintf(text, sizeof(text), "%s%llu", *taken ? " " : "", r->ns);
	strcat(taken, text);
}

static const char *until(struct segments *s, uint64_t before_ns)
{
	*taken = '\0';
	segments_take(s, before_ns, take, NULL);
	return taken;
}

/* The header's example, and what is left of it. */
static void test_order(void **state)
{
	struct segments s = begin();

	(void)state;
	put(0, 100), put(0, 130), put(0, 170);
	put(1, 120), put(1, 160), put(1, 190), put(1, 195);
	assert_int_equal(segments_most(&s), 4);
	assert_string_equal(until(&s, 165), "100 120 130 160");
	assert_string_equal(until(&s, 165), "");
	assert_int_equal(segments_most(&s), 2);
	put(0, 180);
	assert_string_equal(until(&s, UINT64_MAX), "170 180 190 195");
	assert_true(all[0].taken == 4 && all[1].taken == 4 && !s.overwritten);
	assert_int_equal(segments_most(&s), 0);
}

/* As in /sys/devices/system/cpu/present. */
static void test_cpus(void **state)
{
	(void)state;
	assert_int_equal(segments_cpus("0\n"), 1);
	assert_int_equal(segments_cpus("0-3\n"), 4);
	assert_int_equal(segments_cpus("0-3,6"), 7);
	assert_int_equal(segments_cpus("0,12-111\n"), 112);
	assert_int_equal(segments_cpus("\n"), 0);
	assert_int_equal(segments_cpus("0-\n"), 0);
	assert_int_equal(segments_cpus("none\n"), 0);
	assert_int_equal(segments_cpus("0-99999999999\n"), 0);
}

/* Two at the same time; and the places come round again. */
static void test_round(void **state)
{
	struct segments s = begin();

	(void)state;
	for (uint64_t ns = 10; ns < 30; ns++) {
		put(0, ns);
		put(1, ns);
		assert_int_equal(strlen(until(&s, UINT64_MAX)), 5);
	}
	assert_true(all[0].taken == 20 && all[1].taken == 20);
}

/* One that is being written holds up those behind it on its CPU; others' go on. */
static void test_incomplete(void **state)
{
	struct segments s = begin();
	uint64_t number;
	struct record_place *p;

	(void)state;
	put(0, 100);
	p = reserve(0, 110, &number);
	put(0, 120);
	put(1, 130);
	assert_string_equal(until(&s, UINT64_MAX), "100 130");
	p->committed = number + 1;
	assert_string_equal(until(&s, UINT64_MAX), "110 120");
}

/* A writer that was held up between looking for room and taking it overwrote records that nobody had taken. */
static void test_overwritten(void **state)
{
	struct segments s = begin();

	(void)state;
	for (uint64_t ns = 100; ns < 100 + PLACES + 1; ns++)
		put(0, ns);
	assert_string_equal(until(&s, UINT64_MAX), "101 102 103 104");
	assert_int_equal(s.overwritten, 1);
}

/* Others write meanwhile: a thread that goes from CPU to CPU, whose records must come in order. */
static void *wander(void *arg)
{
	(void)arg;
	for (uint64_t i = 1; i <= THREAD_RECORDS; i++) {
		unsigned int cpu = i / 3 % CPUS;
		uint64_t number;
		struct record_place *p;

		while (all[cpu].reserved - __atomic_load_n(&all[cpu].taken, __ATOMIC_ACQUIRE) >= PLACES)
			sched_yield();
		p = reserve(cpu, i, &number);
		__atomic_store_n(&p->committed, number + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void take_next(void *context, const void *record, size_t len)
{
	uint64_t *last = context;
	const struct record_life *r = record;

	(void)len;
	assert_true(r->ns == *last + 1);
	*last = r->ns;
}

/* segments_take() up to a moment gives all records that were seen before it.  (The clock is the count itself, as
 * in the wanderer's last complete record.) */
static void test_wanderer(void **state)
{
	struct segments s = begin();
	uint64_t last = 0;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, wander, NULL), 0);
	while (last < THREAD_RECORDS) {
		uint64_t now = last;

		for (unsigned int i = 0; i < CPUS * PLACES; i++)
			if (__atomic_load_n(&places[i].committed, __ATOMIC_ACQUIRE) > all[i / PLACES].taken &&
			    places[i].record.ns > now)
				now = places[i].record.ns;
		segments_take(&s, now + 1, take_next, &last);
		if (now == last)
			sched_yield();
	}
	pthread_join(thread, NULL);
	assert_int_equal(s.overwritten, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order), cmocka_unit_test(test_cpus), cmocka_unit_test(test_round), cmocka_unit_test(test_incomplete),
		cmocka_unit_test(test_overwritten), cmocka_unit_test(test_wanderer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
