/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_kernel_waits.c - waits that the runtime recorded, corrected by what the kernel saw, worked out by hand.
 */
#include "tests/unit/trace/kernel_side.h"

/* The second example of kernel_merge.c: the runtime's class and waker stay, the kernel's times count. */
static void test_lock(void **state)
{
	(void)state;
	begin(0, 100);
	life(KERNEL_FORK, 7, 0, "a");
	life(KERNEL_FORK, 8, 0, "b");
	off(7, 42, 85, FUTEX, 64, WAKER_TASK, 8);
	assert_merged("interval 1 request 7 0 7 100\n"
		      "thread 7 thread\nthread 8 thread\n"
		      "segment 7 1 0 40 running\n"
		      "segment 7 1 40 90 lock\n"
		      "segment 7 1 90 100 running\n"
		      "segment 8 - 0 100 running\n"
		      "wakeup 7 8 60\n",
		"vprof-tuples 1\n"
		"interval 1 request 7 0 7 100\n"
		"segment 7 1 0 40 running\n"
		"segment 7 1 40 85 lock\n"
		"segment 7 1 85 90 running\n"
		"segment 7 1 90 100 running\n"
		"segment 8 - 0 100 running\n"
		"wakeup 7 8 64\n");
}

/* The runtime says T3, the kernel T2: the kernel may have seen a false one.  Preempted after it was
 * back: not part of the wait.  The last blocking counts. */
static void test_other_waker(void **state)
{
	(void)state;
	begin(0, 100);
	life(KERNEL_FORK, 7, 0, "a");
	off(7, 42, 50, FUTEX, 48, WAKER_TASK, 8);
	off(7, 52, 70, FUTEX, 66, WAKER_TASK, 8);
	preempted(7, 75, 85);
	assert_merged("thread 7 thread\nsegment 7 1 0 40 running\nsegment 7 1 40 90 cond\n"
		      "segment 7 1 90 100 running\nwakeup 7 9 60\n",
		"vprof-tuples 1\n"
		"segment 7 1 0 40 running\n"
		"segment 7 1 40 70 cond\n"
		"segment 7 1 70 75 running\n"
		"segment 7 1 75 85 runnable\n"
		"segment 7 1 85 90 running\n"
		"segment 7 1 90 100 running\n"
		"wakeup 7 9 60\n");
}

/* The runtime knows who, but not when: a peer outside the run.  The kernel names the interface, or nobody. */
static void test_untimed(void **state)
{
	(void)state;
	begin(0, 100);
	life(KERNEL_FORK, 7, 0, "a");
	off(7, 12, 28, READ, 16, WAKER_NIC, 2);
	off(7, 42, 68, READ, 47, WAKER_TASK, 0);
	off(7, 72, 88, READ, 0, WAKER_TASK, 0);
	assert_merged("thread 7 thread\nsegment 7 1 0 10 running\nsegment 7 1 10 30 io\nsegment 7 1 30 40 running\n"
		      "segment 7 1 40 70 io\nsegment 7 1 70 71 running\nsegment 7 1 71 90 io\nsegment 7 1 90 100 running\n"
		      "wakeup 7 9 30\nwakeup 7 9 70\nwakeup 7 9 90\n",
		"vprof-tuples 1\n"
		"segment 7 1 0 10 running\nsegment 7 1 10 28 io\nsegment 7 1 28 30 running\nsegment 7 1 30 40 running\n"
		"segment 7 1 40 68 io\nsegment 7 1 68 70 running\nsegment 7 1 70 71 running\nsegment 7 1 71 88 io\n"
		"segment 7 1 88 90 running\nsegment 7 1 90 100 running\n"
		"wakeup 7 9 16\nwakeup 7 9 47\nwakeup 7 9 88\n");
}

/* Kept from the CPU while it writes, without blocking, also still when the call is over; and before it blocks. */
static void test_preempted_in_a_wait(void **state)
{
	(void)state;
	begin(0, 100);
	life(KERNEL_FORK, 7, 0, "a");
	life(KERNEL_FORK, 8, 0, "b");
	preempted(7, 15, 28);
	preempted(7, 45, 50);
	off(7, 52, 70, FUTEX, 66, WAKER_TASK, 8);
	preempted(7, 80, 91);
	assert_merged("thread 7 thread\nthread 8 thread\nsegment 7 1 0 10 running\nsegment 7 1 10 30 io\n"
		      "segment 7 1 30 40 running\nsegment 7 1 40 72 lock\nsegment 7 1 72 78 running\n"
		      "segment 7 1 78 90 io\nsegment 7 1 90 100 running\nwakeup 7 8 60\n",
		"vprof-tuples 1\n"
		"segment 7 1 0 10 running\n"
		"segment 7 1 10 15 running\nsegment 7 1 15 28 runnable\nsegment 7 1 28 30 running\n"
		"segment 7 1 30 40 running\n"
		"segment 7 1 40 45 lock\nsegment 7 1 45 50 runnable\nsegment 7 1 50 70 lock\n"
		"segment 7 1 70 72 running\n"
		"segment 7 1 72 78 running\n"
		"segment 7 1 78 80 running\nsegment 7 1 80 90 runnable\n"
		"segment 7 1 90 91 runnable\nsegment 7 1 91 100 running\n"
		"segment 8 - 0 100 running\n"
		"wakeup 7 8 66\n");
}

/* I/O of which the kernel does not say that it blocked is none; a lock is spun for.  Before 80 the kernel's records
 * are not whole. */
static void test_never_blocked(void **state)
{
	(void)state;
	begin(0, 100);
	life(KERNEL_FORK, 7, 0, "a");
	preempted(7, 40, 45);
	preempted(7, 80, 90);
	k.offs.items[1].after_loss = true;
	assert_merged("thread 7 thread\nsegment 7 1 0 10 running\nsegment 7 1 10 30 io\nsegment 7 1 30 46 running\n"
		      "segment 7 1 46 50 lock\nsegment 7 1 50 60 running\nsegment 7 1 60 70 io\n"
		      "segment 7 1 70 100 running\n",
		"vprof-tuples 1\n"
		"segment 7 1 0 10 running\nsegment 7 1 10 30 running\n"
		"segment 7 1 30 40 running\nsegment 7 1 40 45 runnable\nsegment 7 1 45 46 running\n"
		"segment 7 1 46 50 lock\nsegment 7 1 50 60 running\n"
		"segment 7 1 60 70 io\n"
		"segment 7 1 70 80 running\nsegment 7 1 80 90 runnable\nsegment 7 1 90 100 running\n");
}

/* The last example of kernel_merge.c, with a preemption between the two; then one that blocks once. */
static void test_io_that_blocks_twice(void **state)
{
	(void)state;
	begin(0, 100);
	life(KERNEL_FORK, 7, 0, "a");
	off(7, 12, 30, 75, 25, WAKER_DISK, DISK);
	preempted(7, 32, 33);
	off(7, 35, 55, 75, 50, WAKER_DISK, DISK);
	off(7, 72, 80, 75, 79, WAKER_DISK, DISK);
	assert_merged("thread 7 thread\nsegment 7 1 0 10 running\nsegment 7 1 10 60 io\nsegment 7 1 60 70 running\n"
		      "segment 7 1 70 82 io\nsegment 7 1 82 100 running\n",
		"vprof-tuples 1\n"
		"segment 7 1 0 10 running\n"
		"segment 7 1 10 30 io\n"
		"segment 7 1 30 32 running\nsegment 7 1 32 33 runnable\nsegment 7 1 33 35 running\n"
		"segment 7 1 35 55 io\n"
		"segment 7 1 55 60 running\nsegment 7 1 60 70 running\n"
		"segment 7 1 70 80 io\n"
		"segment 7 1 80 82 running\nsegment 7 1 82 100 running\n"
		"segment " VDA " - 12 25 running\nsegment " VDA " - 35 50 running\nsegment " VDA " - 72 79 running\n"
		"wakeup 7 " VDA " 25\nwakeup 7 " VDA " 50\nwakeup 7 " VDA " 79\n"
		"thread " VDA " disk vda\n");
}

/* A wait that nobody was known to end. */
static void test_no_waker(void **state)
{
	(void)state;
	begin(0, 100);
	life(KERNEL_FORK, 7, 0, "a");
	off(7, 21, 49, FUTEX, 45, WAKER_TIMER, 0);
	assert_merged("thread 7 thread\nsegment 7 1 0 20 running\nsegment 7 1 20 50 cond\n"
		      "segment 7 1 50 100 running\n",
		"vprof-tuples 1\n"
		"segment 7 1 0 20 running\n"
		"segment 7 1 20 49 cond\n"
		"segment 7 1 49 50 running\n"
		"segment 7 1 50 100 running\n"
		"segment " TIMER " - 20 45 running\n"
		"wakeup 7 " TIMER " 45\n"
		"thread " TIMER " timer timer\n");
}

/* Waking seen before the switch-out: it could have run on. */
static void test_race(void **state)
{
	(void)state;
	begin(0, 100);
	life(KERNEL_FORK, 7, 0, "a");
	off(7, 30, 40, PREAD, 29, WAKER_TASK, 8);
	assert_merged("thread 7 thread\nsegment 7 1 0 100 running\n",
		"vprof-tuples 1\n"
		"segment 7 1 0 30 running\n"
		"segment 7 1 30 40 runnable\n"
		"segment 7 1 40 100 running\n");
}

/* A lock that T3 let go in between is two segments; only the second ends with the thread's return, though it
 * was back for a moment before. */
static void test_cut_lock(void **state)
{
	(void)state;
	begin(0, 100);
	life(KERNEL_FORK, 7, 0, "a");
	life(KERNEL_FORK, 8, 0, "b");
	off(7, 21, 30, FUTEX, 28, WAKER_TASK, 8);
	off(7, 36, 58, FUTEX, 50, WAKER_TASK, 8);
	assert_merged("thread 7 thread\nthread 8 thread\n"
		      "segment 7 1 0 20 running\nsegment 7 1 20 35 lock\nsegment 7 1 35 60 lock\n"
		      "segment 7 1 60 100 running\nsegment 8 - 0 100 running\n"
		      "wakeup 7 9 35\nwakeup 7 8 47\n",
		"vprof-tuples 1\n"
		"segment 7 1 0 20 running\n"
		"segment 7 1 20 35 lock\n"
		"segment 7 1 35 58 lock\n"
		"segment 7 1 58 60 running\n"
		"segment 7 1 60 100 running\n"
		"segment 8 - 0 100 running\n"
		"wakeup 7 9 35\n"
		"wakeup 7 8 50\n");
}

/* The two clocks differ by a little: what is left of the time off is neither a wait nor in the queue. */
static void test_clocks(void **state)
{
	(void)state;
	begin(0, 100);
	life(KERNEL_FORK, 7, 0, "a");
	off(7, 19, 51, FUTEX, 45, WAKER_TASK, 8);
	assert_merged("thread 7 thread\nsegment 7 1 0 20 running\nsegment 7 1 20 50 lock\n"
		      "segment 7 1 50 100 running\nwakeup 7 8 40\n",
		"vprof-tuples 1\n"
		"segment 7 1 0 20 running\n"
		"segment 7 1 20 50 lock\n"
		"segment 7 1 50 51 running\n"
		"segment 7 1 51 100 running\n"
		"wakeup 7 8 45\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lock),
		cmocka_unit_test(test_other_waker), cmocka_unit_test(test_untimed),
		cmocka_unit_test(test_preempted_in_a_wait),
		cmocka_unit_test(test_never_blocked),
		cmocka_unit_test(test_io_that_blocks_twice),
		cmocka_unit_test(test_no_waker),
		cmocka_unit_test(test_race),
		cmocka_unit_test(test_cut_lock),
		cmocka_unit_test(test_clocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
