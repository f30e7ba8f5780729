/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_kernel_file.c - kernel.vpk: what the recorder writes is what is read, and what another process
 * wrote does no harm.  Whatever is read is read for windows as well (kernel_spill.c), and is the same then.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "recorder/bpf/record.h"
#include "recorder/bpf/task_state.h"
#include "recorder/recorder_internal.h"
#include "recorder/stacks/stacks.h"
#include "tests/unit/cmocka_all.h"
#include "trace/kernel/kernel.h"

static char path[] = "kernel-XXXXXX";

static void write_trace(void)
{
	static struct writer w;
	struct record_off off = { .kind = RECORD_OFF, .tid = 7, .pid = 6, .state = 1, .ns = 195,
		.out_ns = 100, .woken_ns = 180, .flags = OFF_WOKEN | OFF_ARGUMENTS, .syscall = 202,
		.argument = { 0x7fff00001000, 128, 2 }, .waker_kind = WAKER_TIMER, .lost = 3 };
	struct record_request request = { .kind = RECORD_REQUEST, .tid = 7, .device_kind = WAKER_DISK,
					  .device = 254 << 20, .ns = 180,
					  .issue_ns = 110 };
	struct record_life fork = { RECORD_FORK, 7, 6, 5, 90, "worker" };

	memcpy(path, "kernel-XXXXXX", sizeof(path));
	close(mkstemp(path));
	assert_int_equal(writer_open(&w, path), 0);
	assert_int_equal(writer_begin(&w, true, 4000000), 0);
	writer_record(&w, &off, sizeof(off));
	writer_record(&w, &request, sizeof(request));
	request = (struct record_request){ RECORD_REQUEST, 8, WAKER_NIC, 2, 150, 140 };
	writer_record(&w, &request, sizeof(request));
	writer_record(&w, &fork, sizeof(fork));	/* earlier: another CPU's */
	writer_flush(&w);
	off = (struct record_off){ .kind = RECORD_OFF, .tid = 7, .pid = 6, .ns = 300, .out_ns = 290,
				   .flags = OFF_PREEMPTED, .syscall = -1 };
	writer_record(&w, &off, sizeof(off));
	writer_record(&w, "nonsense", 8);
	writer_end(&w, 80, 400, 3);
	assert_int_equal(w.records, 3);
	assert_int_equal(writer_close(&w), 0);
}

static size_t spilled_cnt;

static void same_spilled(const struct kernel_trace *k, int expected)
{
	struct kernel_trace s = { .arena = NULL };
	struct diag diag = DIAG_INIT;

	kernel_spill_offs = 1;
	assert_int_equal(kernel_read_spilled(&s, path, &diag), expected);
	for (size_t i = 0; expected == 0 && i < k->offs.cnt; i++) {
		const struct kernel_off *a = &k->offs.items[i], *b = &s.offs.items[i];

		assert_true(a->tid == b->tid && a->out_ns == b->out_ns && a->in_ns == b->in_ns && a->woken_ns == b->woken_ns &&
			    a->flags == b->flags && a->syscall == b->syscall && a->after_loss == b->after_loss);
	}
	if (expected == 0)
		assert_true(s.offs.cnt == k->offs.cnt && s.lives.cnt == k->lives.cnt && s.end_ns == k->end_ns &&
			    s.runqueue.all == k->runqueue.all && s.runqueue.from_idle == k->runqueue.from_idle &&
			    s.requests.cnt == k->requests.cnt && s.lost == k->lost && s.cut_bytes == k->cut_bytes);
	spilled_cnt += s.spilled_bytes > 0;
	kernel_spill_forget(&s);
	assert_true(!k->offs.cnt || expected || s.offs.items[0].in_ns == k->offs.items[0].in_ns);
	kernel_release(&s);
}

static int read_trace(struct kernel_trace *k)
{
	struct diag diag = DIAG_INIT;
	int r;

	memset(k, 0, sizeof(*k));
	r = kernel_read(k, path, &diag);
	assert_true(r == 0 || *diag.text);
	same_spilled(k, r);
	return r;
}

static void test_round_trip(void **state)
{
	struct kernel_trace k;
	const struct kernel_off *o;

	(void)state;
	write_trace();
	assert_int_equal(read_trace(&k), 0);
	assert_int_equal(k.offs.cnt, 2);
	o = &k.offs.items[0];
	assert_true(o->tid == 7 && o->pid == 6 && o->out_ns == 100 && o->in_ns == 195 &&
		    o->woken_ns == 180 && o->state == 1 && o->syscall == 202 &&
		    o->waker_kind == WAKER_TIMER && o->after_loss);
	assert_true(o->argument[0] == 0x7fff00001000 && o->argument[1] == 128 && o->argument[2] == 2);
	assert_true(o[1].out_ns == 290 && o[1].in_ns == 300 && o[1].flags == OFF_PREEMPTED &&
		    o[1].syscall == -1 && !o[1].after_loss);
	assert_int_equal(k.lives.cnt, 1);
	assert_true(k.lives.items[0].kind == KERNEL_FORK && k.lives.items[0].other == 5 &&
		    k.lives.items[0].ns == 90);
	assert_string_equal(k.lives.items[0].name, "worker");
	assert_int_equal(k.requests.cnt, 2);
	assert_true(k.requests.items[1].kind == WAKER_NIC && k.requests.items[1].device == 2 &&
		    k.requests.items[1].tid == 8 && k.requests.items[1].issue_ns == 140 &&
		    k.requests.items[1].done_ns == 150);
	assert_true(k.requests.items[0].kind == WAKER_DISK && k.requests.items[0].device == 254 << 20 &&
		    k.requests.items[0].tid == 7 && k.requests.items[0].issue_ns == 110 && k.requests.items[0].done_ns == 180);
	assert_int_equal(k.names.cnt, 1);
	assert_string_equal(k.names.items[0].name, "timer");
	assert_true(k.reduced);
	assert_true(k.start_ns == 80 && k.end_ns == 400 && k.lost == 3 && k.cut_bytes == 0);
	kernel_release(&k);
	unlink(path);
}

/* Ready for 15, 10 and 4, the first on an idle CPU; what did not come back, was never woken or is the kernel's own does not count. */
static void test_runqueue(void **state)
{
	static const struct record_off offs[] = {
		{ .kind = RECORD_OFF, .tid = 7, .pid = 6, .state = 1, .ns = 195, .out_ns = 100, .woken_ns = 180, .flags = OFF_WOKEN | OFF_FROM_IDLE },
		{ .kind = RECORD_OFF, .tid = 7, .pid = 6, .ns = 210, .out_ns = 200, .flags = OFF_PREEMPTED, .syscall = -1 },
		{ .kind = RECORD_OFF, .tid = 8, .pid = 6, .state = 1, .ns = 220, .out_ns = 190, .woken_ns = 216, .flags = OFF_WOKEN },
		{ .kind = RECORD_OFF, .tid = 8, .pid = 6, .state = 1, .ns = 230, .out_ns = 222, .flags = OFF_FROM_IDLE },
		{ .kind = RECORD_OFF, .tid = 9, .pid = 9, .state = 1, .ns = 240, .out_ns = 200, .woken_ns = 210,
		  .flags = OFF_WOKEN | OFF_FROM_IDLE | OFF_KERNEL_THREAD },
		{ .kind = RECORD_OFF, .tid = 8, .pid = 6, .ns = 400, .out_ns = 300, .flags = OFF_PREEMPTED | OFF_OPEN },
	};
	static struct writer w;
	struct kernel_trace k;

	(void)state;
	memcpy(path, "kernel-XXXXXX", sizeof(path));
	close(mkstemp(path));
	assert_int_equal(writer_open(&w, path), 0);
	assert_int_equal(writer_begin(&w, false, 4000000), 0);
	for (size_t i = 0; i < sizeof(offs) / sizeof(*offs); i++)
		writer_record(&w, &offs[i], sizeof(offs[i]));
	writer_end(&w, 80, 400, 0);
	assert_int_equal(writer_close(&w), 0);
	assert_int_equal(read_trace(&k), 0);
	assert_int_equal(k.offs.cnt, 6);
	assert_float_equal(k.runqueue.all, 15 * 15 + 10 * 10 + 4 * 4, 1e-9);
	assert_float_equal(k.runqueue.from_idle, 15 * 15, 1e-9);
	kernel_release(&k);
	unlink(path);
}

/* Equal stacks have one number; an unknown stack is not written. */
static void test_stacks(void **state)
{
	static struct record_stack r = { .kind = RECORD_STACK, .tid = 7, .pid = 6, .reason = STACK_WAKER,
					 .ns = 150, .kernel_cnt = 2, .kernel = { 1, 2 } };
	static struct writer w;
	struct kernel_trace k;

	(void)state;
	memcpy(path, "kernel-XXXXXX", sizeof(path));
	close(mkstemp(path));
	assert_int_equal(writer_open(&w, path), 0);
	w.stacks = stacks_new();
	if (!w.stacks)
		skip();			/* built without the recorder */
	assert_int_equal(writer_begin(&w, false, 4000000), 0);
	writer_record(&w, &r, sizeof(r));
	r.ns = 120;
	r.reason = STACK_SAMPLE;
	writer_record(&w, &r, offsetof(struct record_stack, user));
	r.kernel[1] = 3;
	r.ns = 130;
	writer_record(&w, &r, sizeof(r));
	r.kernel_cnt = 0;
	writer_record(&w, &r, sizeof(r));
	assert_true(w.stack_records == 4 && w.unknown_stacks == 1 && w.records == 0);
	writer_end(&w, 80, 400, 0);
	stacks_free(w.stacks);
	assert_int_equal(writer_close(&w), 0);
	assert_int_equal(read_trace(&k), 0);
	assert_int_equal(k.sample_ns, 4000000);
	assert_int_equal(k.texts.cnt, 2);	/* no function of the kernel has such an address */
	assert_string_equal(k.texts.items[0], "[unknown]");
	assert_int_equal(k.stacks.cnt, 3);
	assert_true(k.stacks.items[0].ns == 120 && k.stacks.items[0].reason == STACK_SAMPLE &&
		    k.stacks.items[0].stack == 0 && k.stacks.items[0].tid == 7);
	assert_true(k.stacks.items[1].ns == 130 && k.stacks.items[1].stack == 1);
	assert_true(k.stacks.items[2].ns == 150 && k.stacks.items[2].reason == STACK_WAKER &&
		    k.stacks.items[2].stack == 0);
	kernel_release(&k);
	unlink(path);
}

/* Cut anywhere: what is whole is read, and the run ends with the last of it. */
static void test_cut(void **state)
{
	struct stat st;
	struct kernel_trace k;

	(void)state;
	write_trace();
	assert_int_equal(stat(path, &st), 0);
	for (off_t len = st.st_size - 1; len >= 16; len--) {
		assert_int_equal(truncate(path, len), 0);
		assert_int_equal(read_trace(&k), 0);
		assert_true(k.offs.cnt <= 2 && k.lost == 0);
		if (k.offs.cnt)
			assert_int_equal(k.end_ns, k.offs.items[k.offs.cnt - 1].in_ns);
		kernel_release(&k);
	}
	assert_int_equal(truncate(path, 15), 0);
	assert_true(read_trace(&k) < 0);
	kernel_release(&k);
	unlink(path);
}

/* Every byte changed: refused, or at least read without harm. */
static void test_damage(void **state)
{
	unsigned char bytes[4096];
	ssize_t len;
	unsigned int refused = 0;
	int fd;

	(void)state;
	write_trace();
	fd = open(path, O_RDWR);
	len = read(fd, bytes, sizeof(bytes));
	assert_true(len > 100 && len < (ssize_t)sizeof(bytes));
	for (ssize_t i = 0; i < len; i++) {
		unsigned char wrong = bytes[i] ^ 0x41;
		struct kernel_trace k;

		assert_int_equal(pwrite(fd, &wrong, 1, i), 1);
		refused += read_trace(&k) < 0;
		kernel_release(&k);
		assert_int_equal(pwrite(fd, &bytes[i], 1, i), 1);
	}
	assert_true(refused > (unsigned int)len / 2);
	close(fd);
	unlink(path);
}

/* A block with the right checksum, and nothing sensible in it. */
static void test_nonsense(void **state)
{
	unsigned char bytes[64];

	(void)state;
	for (unsigned int seed = 1; seed <= 2000; seed++) {
		static struct writer w;
		struct kernel_trace k;
		size_t len = 1 + seed % sizeof(bytes);

		srand(seed);
		for (size_t i = 0; i < len; i++)
			bytes[i] = (unsigned char)(rand() % (i % 3 ? 256 : 6));
		memcpy(path, "kernel-XXXXXX", sizeof(path));
		close(mkstemp(path));
		assert_int_equal(writer_open(&w, path), 0);
		trace_file_block(&w.file, KERNEL_RECORDS + seed % 6, bytes, len);
		writer_close(&w);
		if (read_trace(&k) == 0)
			for (size_t i = 0; i < k.offs.cnt; i++)
				assert_true(k.offs.items[i].out_ns >= 0 &&
					    k.offs.items[i].out_ns < k.offs.items[i].in_ns);
		kernel_release(&k);
		unlink(path);
	}
}

/* Many threads on four CPUs; two processes may both call a thread 7, and in every fourth trace order is lost. */
static void test_spilled(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 40; seed++) {
		static struct writer w;
		struct kernel_trace k;
		size_t before = spilled_cnt;

		srand(seed);
		memcpy(path, "kernel-XXXXXX", sizeof(path));
		close(mkstemp(path));
		assert_int_equal(writer_open(&w, path), 0);
		assert_int_equal(writer_begin(&w, false, 0), 0);
		for (unsigned int i = 1; i <= 3000; i++) {
			struct record_off off = { .kind = RECORD_OFF, .tid = 1 + i % 4 + 4 * (unsigned int)(rand() % 9), .pid = 6,
				.ns = 100 + 10 * i - 3 * (i % 4), .syscall = (int)(i % 300), .flags = OFF_WOKEN };

			if (seed % 4 == 0 && i % 100 == 0)
				off.ns -= 600;
			off.out_ns = off.ns - (unsigned int)rand() % 90;
			off.woken_ns = off.ns - (off.ns - off.out_ns) / 2;
			writer_record(&w, &off, sizeof(off));
		}
		writer_flush(&w);
		if (seed % 3)
			writer_end(&w, 80, 50000, 3);
		assert_int_equal(writer_close(&w), 0);
		assert_int_equal(read_trace(&k), 0);
		assert_true(k.offs.cnt > 2000);
		assert_true(spilled_cnt == before + (seed % 4 != 0));
		kernel_release(&k);
		unlink(path);
	}
}

/* The example of task_state.h; one that was preempted; one that never ran; and accounts that have more than there was
 * room for since it was woken, or since it left. */
static void test_untold_return(void **state)
{
	struct task_state s = { .out_ns = 100, .woken_ns = 180, .executed_ns = 1000 };

	(void)state;
	assert_int_equal(untold_return_ns(&s, 1030, 300), 270);
	assert_int_equal(untold_return_ns(&s, 1000, 300), 300);
	assert_int_equal(untold_return_ns(&s, 1120, 300), 180);
	assert_int_equal(untold_return_ns(&s, 1121, 300), 180);
	s.woken_ns = 50;
	assert_int_equal(untold_return_ns(&s, 1150, 300), 150);
	assert_int_equal(untold_return_ns(&s, 1250, 300), 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_runqueue), cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_cut), cmocka_unit_test(test_untold_return),
		cmocka_unit_test(test_damage), cmocka_unit_test(test_nonsense), cmocka_unit_test(test_spilled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
