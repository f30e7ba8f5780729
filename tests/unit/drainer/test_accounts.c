/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_accounts.c - drainer/accounts.c: a look counts only if time, account and state were read at once.
 *
 * The clock and what /proc says are the test's own: what the account and the state say one reading after the other, and how long the
 * reader waits for a CPU after each reading of the account.
 */
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#include "drainer/drain.h"
#include "tests/unit/cmocka_all.h"

enum { READ_NS = 2000 };

struct reading {
	const char *text;
	uint64_t held_up_ns;
};

struct script {
	struct reading accounts[8], states[8];
};

static const struct script *script;
static size_t account_cnt, state_cnt;
static uint64_t clock_now_ns;

static struct arena_control control;
static struct arena_slot slots[2];
static struct drainer d = { .arena = { .control = &control, .slots = slots } };

int __real_clock_gettime(clockid_t id, struct timespec *ret);
int __wrap_clock_gettime(clockid_t id, struct timespec *ret);
ssize_t __wrap_pread(int fd, void *to, size_t size, off_t at);
ssize_t __wrap_pread64(int fd, void *to, size_t size, off_t at);

int __wrap_clock_gettime(clockid_t id, struct timespec *ret)
{
	if (id != CLOCK_MONOTONIC)
		return __real_clock_gettime(id, ret);
	ret->tv_sec = (time_t)(clock_now_ns / 1000000000);
	ret->tv_nsec = (long)(clock_now_ns % 1000000000);
	return 0;
}

ssize_t __wrap_pread(int fd, void *to, size_t size, off_t at)
{
	bool of_account = fd == d.accounts.threads.items[1].schedstat_fd;
	const struct reading *r = of_account ? &script->accounts[account_cnt++] : &script->states[state_cnt++];
	size_t length;

	assert_non_null(r->text);
	length = strlen(r->text);
	assert_true(length <= size && at == 0);
	memcpy(to, r->text, length);
	clock_now_ns += READ_NS + r->held_up_ns;
	return (ssize_t)length;
}

ssize_t __wrap_pread64(int fd, void *to, size_t size, off_t at)
{
	return __wrap_pread(fd, to, size, at);
}

static int begin(void **state)
{
	(void)state;
	accounts_init(&d.accounts, 0);
	clock_now_ns = 1000000000;
	control.recording = RECORDING_ON;
	control.thread_cnt = 1;
	slots[1] = (struct arena_slot){ .used = 1, .pid = (uint32_t)getpid(), .tid = (uint32_t)getpid(), .serial = 7,
					.pid_namespace = d.accounts.pid_namespace };
	return 0;
}

static int end(void **state)
{
	(void)state;
	accounts_release(&d.accounts);
	return 0;
}

/* One turn, for which all of the script is needed. */
static void want(const struct script *now, uint64_t run_ns, bool is_off)
{
	const struct account *last;

	script = now;
	account_cnt = state_cnt = 0;
	clock_now_ns += 1000000000;
	accounts_turn(&d, clock_now_ns);
	assert_null(now->accounts[account_cnt].text);
	assert_null(now->states[state_cnt].text);
	last = &d.accounts.threads.items[1].last;
	assert_int_equal(last->run_ns, run_ns);
	assert_int_equal(last->is_off, is_off);
}

#define RUNS "1 (x) R 0"
#define SLEEPS "1 (x) S 0"

static void test_at_once(void **state)
{
	static const struct script s = { { { "1000 500 1\n", 40000 } }, { { RUNS, 0 } } };

	(void)state;
	want(&s, 1000, false);
	assert_int_equal(d.accounts.threads.items[1].last.delay_ns, 500);
}

/* While the reader waited 1 ms the thread computed 0.9 ms more and went to sleep: 1000 and asleep were never at one time. */
static void test_held_up(void **state)
{
	static const struct script s = {
		{ { "1000 0 1\n", 1000000 }, { "900000 0 2\n", 0 }, { "900000 0 2\n", 0 } }, { { SLEEPS, 0 }, { SLEEPS, 0 } } };

	(void)state;
	want(&s, 900000, true);
}

static void test_a_little_too_late(void **state)
{
	static const struct script s = {
		{ { "1000 0 1\n", 47000 }, { "2000 0 1\n", 0 }, { "2000 0 1\n", 45000 } }, { { SLEEPS, 0 }, { RUNS, 0 } } };

	(void)state;
	want(&s, 2000, false);
}

/* If each look takes long, an account that did not change meanwhile is good: the thread slept before and after. */
static void test_slow_but_still(void **state)
{
	static const struct script s = { { { "1000 0 1\n", 200000 }, { "1000 0 1\n", 0 } }, { { SLEEPS, 0 } } };

	(void)state;
	want(&s, 1000, true);
}

/* Three times in vain: there was no look, and the next turn has one. */
static void test_never_at_once(void **state)
{
	static const struct script first = { { { "1000 0 1\n", 0 } }, { { RUNS, 0 } } };
	static const struct script vain = {
		{ { "2000 0 2\n", 60000 }, { "2500 0 2\n", 0 }, { "3000 0 3\n", 60000 }, { "3500 0 3\n", 0 },
		  { "4000 0 4\n", 60000 }, { "4000 1 4\n", 0 } },
		{ { SLEEPS, 0 }, { SLEEPS, 0 }, { SLEEPS, 0 } } };
	static const struct script next = { { { "5000 1 5\n", 0 } }, { { SLEEPS, 0 } } };

	(void)state;
	want(&first, 1000, false);
	want(&vain, 1000, false);
	assert_int_equal(d.accounts.threads.items[1].look_cnt, 1);
	want(&next, 5000, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_at_once, begin, end),
		cmocka_unit_test_setup_teardown(test_held_up, begin, end),
		cmocka_unit_test_setup_teardown(test_a_little_too_late, begin, end),
		cmocka_unit_test_setup_teardown(test_slow_but_still, begin, end),
		cmocka_unit_test_setup_teardown(test_never_at_once, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
