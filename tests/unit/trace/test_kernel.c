/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_kernel.c - the kernel's side merged into tuples, worked out by hand, and what must hold of any.
 */
#include "tests/unit/trace/kernel_side.h"

/* The example of kernel_merge.c. */
static void test_running(void **state)
{
	(void)state;
	begin(0, 100);
	life(KERNEL_FORK, 7, 0, "server");
	life(KERNEL_EXIT, 7, 100, "server");
	preempted(7, 20, 30);
	off(7, 50, 80, PREAD, 70, WAKER_DISK, DISK)->flags |= OFF_IOWAIT;
	assert_merged("interval 1 request 7 0 7 100\n"
		      "thread 7 thread server\n"
		      "segment 7 1 0 100 running\n",
		"vprof-tuples 1\n"
		"interval 1 request 7 0 7 100\n"
		"segment 7 1 0 20 running\n"
		"segment 7 1 20 30 runnable\n"
		"segment 7 1 30 50 running\n"
		"segment 7 1 50 80 io\n"
		"segment 7 1 80 100 running\n"
		"segment " VDA " - 50 70 running\n"
		"wakeup 7 " VDA " 70\n"
		"thread 7 thread server\n"
		"thread " VDA " disk vda\n");
}

static void stack(uint32_t tid, int64_t ns, enum kernel_stack_reason reason, const char *text)
{
	VEC_ADD(&k.stacks, (struct kernel_stack){ tid, (uint32_t)k.texts.cnt, ns, reason });
	VEC_ADD(&k.texts, text);
}

/* The example of kernel_stacks.c; then a waker, a preemption, and more running time than a sample stands for.
 * 7 is another program from 80 on, whose stacks are its own. */
static void test_stacks(void **state)
{
	(void)state;
	begin(0, 100);
	k.sample_ns = 10;
	life(KERNEL_FORK, 7, 0, "a");
	off(7, 20, 30, NANOSLEEP, 28, WAKER_TIMER, 0);
	preempted(7, 50, 60);
	stack(7, 10, STACK_SAMPLE, "g");
	stack(7, 20, STACK_OUT, "main;f@a.c:3;sleep");
	stack(7, 37, STACK_SAMPLE, "h");
	stack(7, 45, STACK_WAKER, "w");
	stack(7, 50, STACK_OUT, "p");
	stack(7, 75, STACK_SAMPLE, "h");
	stack(7, 90, STACK_SAMPLE, "h");
	stack(9, 50, STACK_SAMPLE, "nobody");
	VEC_ADD(&k.stacks, (struct kernel_stack){ 7, 1000, 95, STACK_SAMPLE });
	assert_merged("segment 7 - 0 80 running\n"
		      "segment 4294967303 - 80 100 running\n"
		      "thread 7 thread a\n"
		      "thread 4294967303 thread a\n",
		"vprof-tuples 1\n"
		"segment 7 - 0 20 running\n"
		"segment 7 - 20 30 sleep\n"
		"segment 7 - 30 50 running\n"
		"segment 7 - 50 60 runnable\n"
		"segment 7 - 60 80 running\n"
		"segment 4294967303 - 80 100 running\n"
		"segment " TIMER " - 20 28 running\n"
		"wakeup 7 " TIMER " 28\n"
		"thread 7 thread a\n"
		"thread 4294967303 thread a\n"
		"thread " TIMER " timer timer\n"
		"stack 7 0 10 g\n"
		"stack 7 10 20 h\n"
		"stack 7 20 30 main;f@a.c:3;sleep\n"
		"stack 7 30 37 h\n"
		"stack 7 44 45 w\n"
		"stack 7 45 50 h\n"
		"stack 7 50 60 p\n"
		"stack 7 60 75 h\n"
		"stack 4294967303 80 90 h\n");
}

static void request(uint32_t tid, int64_t issue_ns, int64_t done_ns)
{
	VEC_ADD(&k.requests, (struct kernel_request){ WAKER_DISK, DISK, tid, issue_ns, done_ns });
}

/* The example of kernel_devices.c, and one more that nobody known brought.  8 does not belong to the run.  That 7 was
 * off from 15 on does not make the disk busy. */
static void test_requests(void **state)
{
	(void)state;
	begin(0, 100);
	life(KERNEL_FORK, 7, 0, "server");
	VEC_ADD(&k.lives, (struct kernel_life){ KERNEL_SEEN, 8, 8, 0, 5, "other" });
	off(7, 15, 45, PREAD, 40, WAKER_DISK, DISK)->flags |= OFF_IOWAIT;
	request(8, 70, 80);
	request(8, 30, 50);
	request(7, 20, 40);
	request(0, 90, 95);
	VEC_ADD(&k.requests, (struct kernel_request){ WAKER_DISK, DISK + 1, 7, 10, 20 });	/* nobody waited for that one */
	assert_merged("",
		"vprof-tuples 1\n"
		"segment 7 - 0 15 running\n"
		"segment 7 - 15 45 io\n"
		"segment 7 - 45 100 running\n"
		"segment " VDA " - 0 20 queue\n"
		"segment " VDA " - 20 50 running\n"
		"segment " VDA " - 50 70 queue\n"
		"segment " VDA " - 70 80 running\n"
		"segment " VDA " - 80 90 queue\n"
		"segment " VDA " - 90 95 running\n"
		"segment " VDA " - 95 100 queue\n"
		"wakeup 7 " VDA " 40\n"
		"wakeup " VDA " 7 20\n"
		"wakeup " VDA " 8 70\n"
		"thread 7 thread server\n"
		"thread 8 thread other\n"
		"thread " VDA " disk vda\n");
}

/* The recording is longer than the run: the disk's requests before and after are left out. */
static void test_requests_before_and_after(void **state)
{
	(void)state;
	begin(0, 100);
	life(KERNEL_FORK, 7, 30, "server");
	life(KERNEL_EXIT, 7, 80, "server");
	off(7, 45, 70, PREAD, 60, WAKER_DISK, DISK);
	request(0, 10, 20);
	request(0, 25, 35);
	request(7, 50, 60);
	request(7, 90, 95);
	assert_merged("",
		"vprof-tuples 1\n"
		"segment 7 - 30 45 running\n"
		"segment 7 - 45 70 io\n"
		"segment 7 - 70 80 running\n"
		"segment " VDA " - 30 35 running\n"
		"segment " VDA " - 35 50 queue\n"
		"segment " VDA " - 50 60 running\n"
		"segment " VDA " - 60 80 queue\n"
		"wakeup 7 " VDA " 60\n"
		"wakeup " VDA " 7 50\n"
		"thread 7 thread server\n"
		"thread " VDA " disk vda\n");
}

static void forked(uint32_t tid, uint32_t by, int64_t ns)
{
	VEC_ADD(&k.lives, (struct kernel_life){ KERNEL_FORK, tid, 10, by, ns, "t" });
}

/* 7 creates 8, and later another 8; the creator of 7 is not of the run, and the creator of 9 would be the runtime's to say. */
static void test_creations(void **state)
{
	(void)state;
	begin(0, 100);
	forked(7, 99, 10);
	forked(8, 7, 20);
	life(KERNEL_EXIT, 8, 60, "t");
	forked(8, 7, 70);
	forked(9, 8, 75);
	assert_merged("thread 9 thread\nsegment 9 1 80 90 running\n",
		"vprof-tuples 1\n"
		"segment 7 - 10 100 running\n"
		"segment 8 - 20 60 running\n"
		"segment 9 - 75 80 running\n"
		"segment 9 1 80 90 running\n"
		"segment 9 - 90 100 running\n"
		"segment 4294967304 - 70 100 running\n"
		"creation 7 20 8 20\n"
		"creation 7 70 4294967304 70\n"
		"thread 7 thread t\n"
		"thread 8 thread t\n"
		"thread 4294967304 thread t\n");
}

/* The second example of kernel_devices.c.  The packets given to interface 3 are unknown: it is busy while 7 waits for it. */
static void test_packets(void **state)
{
	(void)state;
	begin(0, 100);
	life(KERNEL_FORK, 7, 0, "client");
	VEC_ADD(&k.names, (struct kernel_name){ WAKER_NIC, 2, "eth0" });
	off(7, 25, 61, 45, 60, WAKER_NIC, 2);
	off(7, 70, 90, 45, 90, WAKER_NIC, 3);
	VEC_ADD(&k.requests, (struct kernel_request){ WAKER_NIC, 2, 7, 20, 22 });
	request(7, 10, 20);
	assert_merged("",
		"vprof-tuples 1\n"
		"segment 7 - 0 25 running\n"
		"segment 7 - 25 61 io\n"
		"segment 7 - 61 70 running\n"
		"segment 7 - 70 90 io\n"
		"segment 7 - 90 100 running\n"
		"segment " ETH0 " - 0 20 queue\n"
		"segment " ETH0 " - 20 22 running\n"
		"segment " ETH0 " - 22 25 queue\n"
		"segment " ETH0 " - 25 60 running\n"
		"segment " ETH0 " - 60 100 queue\n"
		"segment " NIC3 " - 70 90 running\n"
		"wakeup 7 " ETH0 " 60\nwakeup 7 " NIC3 " 90\nwakeup " ETH0 " 7 20\n"
		"thread 7 thread client\n"
		"thread " ETH0 " nic eth0\nthread " NIC3 " nic\n");
}

/* A thread that ran another program, one that only the kernel knows, one that still waits at the end, and a
 * waker that does not belong to the run. */
static void test_threads(void **state)
{
	(void)state;
	begin(0, 100);
	life(KERNEL_FORK, 7, 5, "sh");
	life(KERNEL_EXEC, 7, 50, "server");
	life(KERNEL_EXIT, 7, 95, "server");
	life(KERNEL_FORK, 9, 10, "child");
	VEC_ADD(&k.lives, (struct kernel_life){ KERNEL_SEEN, 77, 77, 0, 30, "client" });
	off(9, 20, 40, 0, 30, WAKER_TASK, 77);
	off(9, 60, 100, WAIT4, 0, WAKER_TASK, 0);
	assert_merged("thread 7 thread\nthread 4294967303 thread\n"
		      "segment 7 - 20 40 running\nsegment 4294967303 1 60 90 running\n",
		"vprof-tuples 1\n"
		"segment 7 - 5 20 running\n"
		"segment 7 - 20 40 running\n"
		"segment 7 - 40 60 running\n"
		"segment 9 - 10 20 running\n"
		"segment 9 - 20 40 io\n"
		"segment 9 - 40 60 running\n"
		"segment 9 - 60 100 join\n"
		"segment 4294967303 1 60 90 running\n"
		"segment 4294967303 - 90 95 running\n"
		"wakeup 9 77 30\n"
		"thread 9 thread child\n"
		"thread 77 thread client\n");
}

/* The kernel gave 7 out twice. */
static void test_number_again(void **state)
{
	(void)state;
	begin(0, 100);
	life(KERNEL_FORK, 7, 0, "first");
	life(KERNEL_EXIT, 7, 40, "first");
	life(KERNEL_FORK, 7, 60, "second");
	preempted(7, 10, 20);
	preempted(7, 70, 80);
	assert_merged("thread 7 thread\nsegment 7 1 5 35 running\n",
		"vprof-tuples 1\n"
		"segment 7 - 0 5 running\n"
		"segment 7 1 5 10 running\n"
		"segment 7 1 10 20 runnable\n"
		"segment 7 1 20 35 running\n"
		"segment 7 - 35 40 running\n"
		"segment 4294967303 - 60 70 running\n"
		"segment 4294967303 - 70 80 runnable\n"
		"segment 4294967303 - 80 100 running\n"
		"thread 4294967303 thread second\n");
}

/* Records of the thread are missing before its second time off: what it did since the first is unknown where
 * the runtime does not say that it ran. */
static void test_loss(void **state)
{
	(void)state;
	begin(0, 100);
	k.lost = 3;
	life(KERNEL_FORK, 9, 0, "a");
	preempted(9, 10, 20);
	off(9, 60, 70, PREAD, 0, WAKER_TASK, 0)->after_loss = true;
	assert_merged("",
		"vprof-tuples 1\n"
		"segment 9 - 0 10 running\n"
		"segment 9 - 10 20 runnable\n"
		"segment 9 - 20 60 other\n"
		"segment 9 - 60 70 io\n"
		"segment 9 - 70 100 running\n"
		"thread 9 thread a\n");
}

/* An exit that was lost: the next of that number is another thread. */
static void test_lost_exit(void **state)
{
	(void)state;
	begin(0, 100);
	life(KERNEL_FORK, 9, 0, "first");
	life(KERNEL_FORK, 9, 60, "second");
	assert_merged("",
		"vprof-tuples 1\n"
		"segment 9 - 0 60 running\n"
		"segment 4294967305 - 60 100 running\n"
		"thread 9 thread first\n"
		"thread 4294967305 thread second\n");
}

/* A disk is at work from the first wait for it to the last wake-up, of waits that overlap. */
static void test_device(void **state)
{
	(void)state;
	begin(0, 100);
	life(KERNEL_FORK, 8, 0, "a");
	life(KERNEL_FORK, 9, 0, "b");
	off(8, 10, 50, PREAD, 40, WAKER_DISK, DISK);
	off(8, 70, 80, PREAD, 75, WAKER_DISK, DISK);
	off(9, 20, 60, PREAD, 55, WAKER_DISK, DISK);
	assert_merged("",
		"vprof-tuples 1\n"
		"segment 8 - 0 10 running\n"
		"segment 8 - 10 50 io\n"
		"segment 8 - 50 70 running\n"
		"segment 8 - 70 80 io\n"
		"segment 8 - 80 100 running\n"
		"segment 9 - 0 20 running\n"
		"segment 9 - 20 60 io\n"
		"segment 9 - 60 100 running\n"
		"segment " VDA " - 10 55 running\n"
		"segment " VDA " - 70 75 running\n"
		"wakeup 8 " VDA " 40\n"
		"wakeup 8 " VDA " 75\n"
		"wakeup 9 " VDA " 55\n"
		"thread 8 thread a\n"
		"thread 9 thread b\n"
		"thread " VDA " disk vda\n");
}

static enum trace_state class_of(struct kernel_off o)
{
	o.tid = 7;
	o.pid = 10;
	if (!o.state)
		o.state = KERNEL_STATE_INTERRUPTIBLE;
	return kernel_class(&o, NULL, NULL);
}

static bool is_thread_9(void *context, uint32_t pid, uint32_t tid)
{
	(void)context;
	return pid == 10 && tid == 9;
}

static void test_classes(void **state)
{
	struct kernel_off join = { .pid = 10, .state = 1, .syscall = FUTEX, .argument = { 0x1000, 265, 9 } };

	(void)state;
#define CLASS(...) class_of((struct kernel_off){ __VA_ARGS__ })
	assert_int_equal(CLASS(.syscall = PREAD), STATE_IO);
	assert_int_equal(CLASS(.syscall = NANOSLEEP), STATE_SLEEP);
	assert_int_equal(CLASS(.syscall = POLL, .argument = { 0x1000, 1 }), STATE_IO);
	assert_int_equal(CLASS(.syscall = POLL), STATE_SLEEP);
	assert_int_equal(CLASS(.syscall = WAIT4), STATE_JOIN);
	assert_int_equal(CLASS(.syscall = 9999), STATE_OTHER);
	assert_int_equal(CLASS(.syscall = -1), STATE_OTHER);
	assert_int_equal(CLASS(.syscall = -1, .flags = OFF_WOKEN, .waker_kind = WAKER_DISK), STATE_IO);
	assert_int_equal(CLASS(.syscall = FUTEX, .flags = OFF_IOWAIT), STATE_IO);
	assert_int_equal(CLASS(.syscall = PREAD, .flags = OFF_PREEMPTED), STATE_RUNNABLE);
	assert_int_equal(CLASS(.syscall = PREAD, .flags = OFF_NEW), STATE_RUNNABLE);
	/* A kernel's lock: uninterruptible, let go by one of the run, not a wait for children. */
	assert_int_equal(CLASS(.syscall = WRITE, .state = 2, .flags = OFF_WOKEN | OFF_TASK_WAKER), STATE_LOCK);
	assert_int_equal(CLASS(.syscall = WRITE, .state = 2, .flags = OFF_WOKEN), STATE_IO);
	assert_int_equal(CLASS(.syscall = 58, .state = 2, .flags = OFF_WOKEN | OFF_TASK_WAKER), STATE_JOIN);
	/* glibc's mutex, a barrier in its third round, a condition variable, PI, a joined thread. */
	assert_int_equal(CLASS(.syscall = FUTEX, .argument = { 0x1000, 128, 2 }), STATE_LOCK);
	assert_int_equal(CLASS(.syscall = FUTEX, .argument = { 0x1004, 128, 2 }), STATE_COND);
	assert_int_equal(CLASS(.syscall = FUTEX, .argument = { 0x1000, 393, 0 }), STATE_COND);
	assert_int_equal(CLASS(.syscall = FUTEX, .argument = { 0x1000, 134, 0 }), STATE_LOCK);
	assert_int_equal(kernel_class(&join, is_thread_9, NULL), STATE_JOIN);
	join.argument[2] = 8;
	assert_int_equal(kernel_class(&join, is_thread_9, NULL), STATE_COND);
}

/* Whatever the two sides say: a thread's segments touch, from the earlier of the two beginnings to the later
 * end, and one that is the kernel's alone has exactly its times off the CPU. */
static void test_sums(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 300; seed++) {
		static const char *const states[] = { "running", "lock", "io", "running" };
		char text[8192] = "thread 7 thread\n";
		int64_t at_ns = 50, off_ns = 0;
		struct trace *t;

		srand(seed);
		begin(0, 1000);
		life(KERNEL_FORK, 7, 20, "a");
		life(KERNEL_FORK, 9, 0, "b");
		while (at_ns < 900) {
			int64_t end_ns = at_ns + 1 + rand() % 90;
			size_t len = strlen(text);

			snprintf(text + len, sizeof(text) - len, "segment 7 1 %ld %ld %s\n", (long)at_ns,
				 (long)end_ns, states[rand() % 4]);
			at_ns = end_ns;
		}
		for (int64_t ns = rand() % 60; ns < 950;) {
			int64_t in_ns = ns + 1 + rand() % 60;

			if (rand() % 3)
				off(7, ns, in_ns, PREAD, ns - 2 + rand() % (in_ns - ns + 2), WAKER_DISK, DISK);
			else
				preempted(7, ns, in_ns);
			preempted(9, ns, in_ns < 1000 ? in_ns : 1000);
			off_ns += (in_ns < 1000 ? in_ns : 1000) - ns;
			ns = in_ns + 1 + rand() % 60;
		}
		t = merged(text);
		at_ns = 20;
		for (size_t i = 0; i < t->segments.cnt; i++) {
			const struct segment *s = &t->segments.items[i];

			if (s->tid == 9 && s->state == STATE_RUNNABLE)
				off_ns -= s->end_ns - s->start_ns;
			if (s->tid != 7)
				continue;
			assert_true(s->start_ns == at_ns && s->end_ns > s->start_ns);
			at_ns = s->end_ns;
		}
		assert_int_equal(at_ns, 1000);
		assert_int_equal(off_ns, 0);
		trace_free(t);
		kernel_release(&k);
	}
}

static struct trace *trace_with_aways(const char *tuples, const struct away *aways, size_t cnt)
{
	struct trace *t = unmerged(tuples);

	for (size_t i = 0; i < cnt; i++)
		VEC_ADD(&t->aways, aways[i]);
	trace_sort(t);
	kernel_sort(&k);
	kernel_merge(t, &k);
	return t;
}

/*
 * Two stacks on thread 7, the second of which then goes on on thread 8.  Each sleep is that of the stack that was on; the one at 46
 * is of a stack that no probe saw; and what its thread slept does not change a stack that it was not on.
 */
static const struct away stacks_away[] = {
	{ 4294967303, 45, 50, 0 }, { 7, 40, 60, 7 }, { 4294967303, 60, 70, 8 },
};

static const char stacks_before[] =
	"segment 7 - 20 40 running\n"
	"segment 7 1 40 60 queue\n"
	"segment 7 1 60 80 running\n"
	"segment 4294967303 2 40 45 running\n"
	"segment 4294967303 2 45 50 queue\n"
	"segment 4294967303 2 50 60 running\n"
	"segment 4294967303 2 60 70 queue\n"
	"segment 4294967303 2 70 80 running\n"
	"segment 8 - 5 60 running\n"
	"thread 7 thread a\nthread 4294967303 thread a\nthread 8 thread b\n";

static const char stacks_after[] =
	"vprof-tuples 1\n"
	"segment 7 - 0 20 running\n"
	"segment 7 - 20 25 running\n"
	"segment 7 - 25 30 sleep\n"
	"segment 7 - 30 40 running\n"
	"segment 7 1 40 60 queue\n"
	"segment 7 1 60 61 running\n"
	"segment 7 1 61 65 running\n"
	"segment 7 1 65 66 runnable\n"
	"segment 7 1 66 80 running\n"
	"segment 7 - 80 100 running\n"
	"segment 8 - 0 5 running\n"
	"segment 8 - 5 10 running\n"
	"segment 8 - 10 20 cond\n"
	"segment 8 - 20 60 running\n"
	"segment 8 - 60 62 running\n"
	"segment 8 - 62 68 cond\n"
	"segment 8 - 68 70 running\n"
	"segment 4294967303 2 40 42 running\n"
	"segment 4294967303 2 42 44 sleep\n"
	"segment 4294967303 2 44 45 running\n"
	"segment 4294967303 2 45 50 queue\n"
	"segment 4294967303 2 50 52 running\n"
	"segment 4294967303 2 52 54 sleep\n"
	"segment 4294967303 2 54 58 running\n"
	"segment 4294967303 2 58 60 sleep\n"
	"segment 4294967303 2 60 70 queue\n"
	"segment 4294967303 2 70 74 running\n"
	"segment 4294967303 2 74 78 sleep\n"
	"segment 4294967303 2 78 80 running\n"
	"segment 4294967303 - 80 85 running\n"
	"segment 4294967303 - 85 95 cond\n"
	"segment 4294967303 - 95 100 running\n"
	"segment 8589934599 - 45 46 running\n"
	"segment 8589934599 - 46 48 sleep\n"
	"segment 8589934599 - 48 50 running\n"
	"segment " TIMER " - 25 29 running\n"
	"segment " TIMER " - 42 43 running\n"
	"segment " TIMER " - 46 47 running\n"
	"segment " TIMER " - 52 53 running\n"
	"segment " TIMER " - 58 59 running\n"
	"segment " TIMER " - 74 77 running\n"
	"wakeup 7 " TIMER " 29\n"
	"wakeup 8 7 15\n"
	"wakeup 8 7 67\n"
	"wakeup 4294967303 " TIMER " 43\n"
	"wakeup 4294967303 " TIMER " 53\n"
	"wakeup 4294967303 " TIMER " 59\n"
	"wakeup 4294967303 " TIMER " 77\n"
	"wakeup 4294967303 7 92\n"
	"wakeup 8589934599 " TIMER " 47\n"
	"thread 7 thread a\n"
	"thread 8 thread b\n"
	"thread 4294967303 thread a\n"
	"thread 8589934599 thread a\n"
	"thread " TIMER " timer timer\n";

static void test_stacks_of_a_thread(void **state)
{
	struct trace *t;

	(void)state;
	begin(0, 100);
	life(KERNEL_FORK, 7, 0, "a");
	life(KERNEL_FORK, 8, 0, "b");
	off(7, 25, 30, NANOSLEEP, 29, WAKER_TIMER, 0);
	off(7, 42, 44, NANOSLEEP, 43, WAKER_TIMER, 0);
	off(7, 46, 48, NANOSLEEP, 47, WAKER_TIMER, 0);
	off(7, 52, 54, NANOSLEEP, 53, WAKER_TIMER, 0);
	off(7, 58, 61, NANOSLEEP, 59, WAKER_TIMER, 0);		/* the two clocks differ by a little */
	preempted(7, 65, 66);
	off(8, 10, 20, FUTEX, 15, WAKER_TASK, 7);
	off(8, 62, 68, FUTEX, 67, WAKER_TASK, 7);
	off(8, 74, 78, NANOSLEEP, 77, WAKER_TIMER, 0);
	off(8, 85, 95, FUTEX, 92, WAKER_TASK, 7);
	t = trace_with_aways(stacks_before, stacks_away, 3);
	assert_trace_is(t, stacks_after);
	trace_free(t);
	kernel_release(&k);
}

/* A thread of the kernel's is known from the moment that it wakes one of ours: it is one thread, of kind kernel. */
static void test_kernel_thread(void **state)
{
	(void)state;
	begin(0, 100);
	life(KERNEL_FORK, 7, 0, "a");
	VEC_ADD(&k.lives, (struct kernel_life){ KERNEL_SEEN, 9, 9, 1, 40, "jbd2/vda1-8" });
	off(7, 20, 45, WRITE, 40, WAKER_TASK, 9);
	off(9, 60, 70, -1, 65, WAKER_DISK, DISK)->flags |= OFF_KERNEL_THREAD;
	assert_merged("segment 7 - 0 20 running\n"
		      "segment 7 - 20 50 io\n"
		      "segment 7 - 50 100 running\n"
		      "thread 7 thread a\n",
		"vprof-tuples 1\n"
		"segment 7 - 0 20 running\n"
		"segment 7 - 20 45 io\n"
		"segment 7 - 45 50 running\n"
		"segment 7 - 50 100 running\n"
		"segment 9 - 40 60 running\n"
		"segment 9 - 60 70 other\n"
		"segment 9 - 70 100 running\n"
		"segment " VDA " - 60 65 running\n"
		"wakeup 7 9 40\n"
		"wakeup 9 " VDA " 65\n"
		"thread 7 thread a\n"
		"thread 9 kernel jbd2/vda1-8\n"
		"thread " VDA " disk vda\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_running), cmocka_unit_test(test_threads),
		cmocka_unit_test(test_number_again), cmocka_unit_test(test_loss), cmocka_unit_test(test_lost_exit),
		cmocka_unit_test(test_device),
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_stacks), cmocka_unit_test(test_requests), cmocka_unit_test(test_packets),
		cmocka_unit_test(test_requests_before_and_after), cmocka_unit_test(test_creations),
		cmocka_unit_test(test_stacks_of_a_thread), cmocka_unit_test(test_kernel_thread),
		cmocka_unit_test(test_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
