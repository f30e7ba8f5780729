/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_units.c - the gates of sites as units come and go, and between intervals; the plan is by key: its last digit.
 *
 * runtime/units.c is part of this file: what goes wrong in the middle of a change of levels is set here by hand.
 */
#include "runtime/units.c"
#include "tests/unit/cmocka_all.h"

enum { MANY = INSIDE_SITES + 5 };

static struct arena_control control;
static const struct arena_map arena = { .control = &control };
struct process process = { .arena = &arena };
__thread struct vprof_self vprof_self __attribute__((tls_model("initial-exec")));

uint32_t permits = ~0U;

uint32_t causal_on;

void causal_sites_changed(void)
{
}

void causal_sites_gone(const struct vprof_site *gone, unsigned int cnt)
{
	(void)gone;
	(void)cnt;
}

void permit_yield(void)
{
	sched_yield();
}

uint32_t thread_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

uint32_t process_own_pid(void)
{
	return (uint32_t)getpid();
}

uint32_t arena_label(const struct arena_map *a, const char *name)
{
	(void)a;
	(void)name;
	return 0;
}

uint32_t arena_level(const struct arena_map *a, uint64_t key)
{
	(void)a;
	return (uint32_t)(key % 10);
}

uint32_t arena_function(const struct arena_map *a, const struct vprof_site *site, uint32_t level)
{
	(void)a;
	(void)level;
	return (uint32_t)(site->key / 10 % 65535);
}

static struct vprof_site sites[4], more[MANY];

static void set_up(void)
{
	static const unsigned char levels[4] = { 1, 2, 0, 1 };

	has_threads = flipping = 0;
	for (unsigned int i = 0; i < 4; i++)
		sites[i] = (struct vprof_site){ .key = 10 * (i + 1) + levels[i] };
	for (unsigned int i = 0; i < MANY; i++)
		more[i] = (struct vprof_site){ .key = 10 * (i + 1) + 1 };
	assert_true(units_switch(false));
}

static void assert_gates(unsigned int a, unsigned int b, unsigned int c, unsigned int d)
{
	assert_int_equal(sites[0].gate, a);
	assert_int_equal(sites[1].gate, b);
	assert_int_equal(sites[2].gate, c);
	assert_int_equal(sites[3].gate, d);
}

static void test_gates(void **state)
{
	(void)state;
	set_up();
	units_add(sites, 3, NULL);
	assert_gates(0, 0, 0, 0);
	assert_true(units_switch(true));
	assert_gates(2, 1, 0, 0);
	for (unsigned int i = 0; i < MANY; i++)		/* recordings come and go */
		assert_true(units_switch(true));
	units_add(sites + 3, 1, NULL);	/* a library, later */
	assert_gates(2, 1, 0, 2);
	units_quiet();
	assert_gates(0, 1, 0, 0);
	units_remove(sites, 3);
	assert_gates(0, 0, 0, 0);
	units_loud();
	assert_gates(0, 0, 0, 2);
	units_remove(sites + 3, 1);
	units_quiet();
	units_loud();
	assert_gates(0, 0, 0, 0);
}

/* A unit that another thread may be inside of stays as it is. */
static void test_threads(void **state)
{
	(void)state;
	set_up();
	units_add(sites, 4, NULL);
	assert_true(units_switch(true));
	units_quiet();
	units_have_threads();
	assert_gates(2, 1, 0, 2);
	units_quiet();
	assert_gates(2, 1, 0, 2);
	units_remove(sites, 4);
}

/* A list that is too long is not used; what was quiet by then is not any more. */
static void test_too_many(void **state)
{
	(void)state;
	set_up();
	assert_true(units_switch(true));
	units_add(sites, 4, NULL);
	units_quiet();
	units_add(more, MANY, NULL);
	assert_gates(2, 1, 0, 2);
	units_quiet();
	assert_gates(2, 1, 0, 2);
	assert_int_equal(more[MANY - 1].gate, 2);
	units_remove(more, MANY);
	units_remove(sites, 4);
}

/* In the order of destructors, over blocks of units, and in another one. */
static void test_order(void **state)
{
	enum { UNITS = 2 * BLOCK_UNITS + 90 };

	(void)state;
	set_up();
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < UNITS; i++)
			units_add(&more[i], 1, NULL);
		for (int i = UNITS - 1; i > 0; i -= 2)		/* leaves the even ones */
			units_remove(&more[i], 1);
		assert_true(units_switch(true));
		for (int i = 0; i < UNITS; i++)
			assert_int_equal(more[i].gate, i % 2 == 0 ? 2 : 0);
		units_remove(&more[1], 1);			/* not there any more */
		for (int i = UNITS - 2; i >= 0; i -= 2)
			units_remove(round ? &more[UNITS - 2 - i] : &more[i], 1);
		assert_true(units_switch(true));
		for (int i = 0; i < UNITS; i++)
			assert_int_equal(more[i].gate, 0);
		assert_true(units_switch(false));
	}
}

/* Sites that are dormant are not written, at the end of a child of fork() either. */
static void test_no_copies(void **state)
{
	struct vprof_site *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(page != MAP_FAILED);
	set_up();
	page[0].key = 10;
	page[1].key = 20;
	assert_true(units_switch(true));
	units_add(page, 2, NULL);
	assert_int_equal(site_fid(&page[1]), 0);
	assert_int_equal(mprotect(page, 4096, PROT_READ), 0);
	units_remove(page, 2);
	assert_int_equal(munmap(page, 4096), 0);
}

struct unloading {			/* by a thread that takes no part */
	uint32_t is_done;
};

static void *unload(void *arg)
{
	struct unloading *u = arg;

	units_remove(sites, 4);
	__atomic_store_n(&u->is_done, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static void sleep_ms(long ms)
{
	const struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/* Another thread stands in the middle of a change as that one begins. */
static pthread_t start_unloading(struct unloading *u)
{
	pthread_t t;

	set_up();
	units_add(sites, 4, NULL);
	assert_true(units_switch(true));
	flipping = 1;
	assert_int_equal(pthread_create(&t, NULL, unload, u), 0);
	return t;
}

/* The thread in the middle of a change lost its CPU for 100 ms: its sites are there until it is through. */
static void test_flip_waits(void **state)
{
	struct unloading u = { 0 };
	pthread_t t = start_unloading(&u);

	(void)state;
	sleep_ms(100);
	assert_int_equal(__atomic_load_n(&u.is_done, __ATOMIC_SEQ_CST), 0);
	__atomic_store_n(&flipping, 0, __ATOMIC_SEQ_CST);
	assert_int_equal(pthread_join(t, NULL), 0);
	assert_gates(0, 0, 0, 0);
}

/* One that left by longjmp() is not waited for for ever. */
static void test_flip_left(void **state)
{
	struct unloading u = { 0 };
	pthread_t t = start_unloading(&u);

	(void)state;
	assert_int_equal(pthread_join(t, NULL), 0);
	assert_gates(0, 0, 0, 0);
}

/* Units that there is no memory for are off, and each recording counts their probes; also one that begins later. */
static void test_no_memory(void **state)
{
	static struct vprof_site filling[BLOCK_UNITS];
	uint64_t *dropped = &control.dropped[TABLE_UNITS], before;

	(void)state;
	set_up();
	before = *dropped;
	for (unsigned int i = 0; i < BLOCK_UNITS; i++)
		units_add(&filling[i], 1, NULL);
	permits = ~(1U << PERMIT_MMAP);
	units_add(sites, 3, NULL);
	assert_int_equal(*dropped - before, 0);		/* nothing is recorded yet */
	assert_true(units_switch(true));
	assert_int_equal(*dropped - before, 3);
	units_add(sites + 3, 1, NULL);
	assert_int_equal(*dropped - before, 4);
	assert_gates(0, 0, 0, 0);
	assert_true(units_switch(false));
	assert_int_equal(*dropped - before, 4);
	assert_true(units_switch(true));		/* the next one */
	assert_int_equal(*dropped - before, 8);
	units_remove(sites, 3);
	units_remove(sites + 3, 1);
	permits = ~0U;
	units_remove(&filling[0], 1);
	units_add(sites, 1, NULL);			/* there is a place again */
	assert_gates(2, 0, 0, 0);
	assert_true(units_switch(true));
	assert_int_equal(*dropped - before, 8);
	units_remove(sites, 1);
	for (unsigned int i = 1; i < BLOCK_UNITS; i++)
		units_remove(&filling[i], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_gates),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_no_copies),
		cmocka_unit_test(test_flip_waits),
		cmocka_unit_test(test_flip_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
