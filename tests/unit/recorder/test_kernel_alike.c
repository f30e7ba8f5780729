/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_kernel_alike.c - records that say what an earlier one of their block has said are read as they were, and take few bytes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "recorder/bpf/record.h"
#include "recorder/recorder_internal.h"
#include "tests/unit/cmocka_all.h"
#include "trace/kernel/kernel.h"

enum { THREADS = 5, EACH = 3000, RECORDS = THREADS * EACH, STACKS = 3 };

static char path[] = "kernel-XXXXXX";
static struct writer w;

/* The expected content of each record, by the definition. */
static struct kernel_off offs[THREADS][EACH];
static struct kernel_request requests[RECORDS];
static size_t request_cnt;

static void begin(void)
{
	struct encoder texts = { .data = (unsigned char[16]){ 0 }, .cap = 16 };

	strcpy(path, "kernel-XXXXXX");
	close(mkstemp(path));
	assert_int_equal(writer_open(&w, path), 0);
	for (int i = 0; i < STACKS; i++)
		encode_text(&texts, "abc" + i, 1);
	trace_file_block(&w.file, KERNEL_STACKS, texts.data, texts.len);
	assert_int_equal(writer_begin(&w, false, 0), 0);
}

static void end_and_read(struct kernel_trace *k)
{
	struct diag diag = DIAG_INIT;

	writer_end(&w, 0, 1000000000, 0);
	assert_int_equal(writer_close(&w), 0);
	memset(k, 0, sizeof(*k));
	assert_int_equal(kernel_read(k, path, &diag), 0);
	unlink(path);
}

static uint64_t few(uint64_t cnt)
{
	return (uint64_t)rand() % cnt;
}

static void record_off(unsigned int thread, struct kernel_off *o, int64_t *ns)
{
	struct record_off r = {
		.kind = RECORD_OFF, .tid = 100 * (thread + 1), .pid = 90, .state = (unsigned int)few(3), .syscall = (int)few(3) - 1,
		.flags = (unsigned short)(few(2) * OFF_WOKEN | few(2) * OFF_ARGUMENTS), .lost = few(50) == 0,
		.waker = (unsigned int)few(4), .waker_kind = (unsigned short)few(WAKER_KIND_CNT),
		.argument = { few(2) ? 0xffffffffffffffffULL : 0x7fff00001000ULL, few(3), few(2) << 40 },
		.stack = (unsigned int)few(STACKS + 1), .waker_stack = (unsigned int)few(STACKS + 1),
	};

	r.out_ns = (uint64_t)*ns + few(200);
	r.ns = r.out_ns + 1 + few(2) * few(100000);
	r.woken_ns = r.flags & OFF_WOKEN ? r.ns - few(r.ns - r.out_ns + 1) : 0;
	*ns = (int64_t)r.ns;
	*o = (struct kernel_off){
		.tid = r.tid, .pid = r.pid, .in_ns = (int64_t)r.ns, .out_ns = (int64_t)r.out_ns,
		.woken_ns = (int64_t)(r.flags & OFF_WOKEN ? r.woken_ns : r.ns), .flags = r.flags, .state = r.state,
		.syscall = r.state ? r.syscall : -1, .waker = r.waker, .waker_kind = (enum kernel_waker)r.waker_kind,
		.after_loss = r.lost > 0,
	};
	if (r.flags & OFF_ARGUMENTS)
		for (int i = 0; i < 3; i++)
			o->argument[i] = r.argument[i];
	writer_record(&w, &r, sizeof(r));
}

static void record_request(void)
{
	struct record_request r = { .kind = RECORD_REQUEST, .tid = (unsigned int)few(3), .device = (unsigned int)few(2),
				    .device_kind = few(2) ? WAKER_NIC : WAKER_DISK, .issue_ns = 1000 * (request_cnt + 1) };

	r.ns = r.issue_ns + few(3000);
	requests[request_cnt++] = (struct kernel_request){
		.kind = (enum kernel_waker)r.device_kind, .device = r.device, .tid = r.tid,
		.issue_ns = (int64_t)r.issue_ns, .done_ns = (int64_t)r.ns,
	};
	writer_record(&w, &r, sizeof(r));
}

static void same_off(const struct kernel_off *a, const struct kernel_off *b)
{
	assert_true(a->tid == b->tid && a->pid == b->pid && a->in_ns == b->in_ns && a->out_ns == b->out_ns &&
		    a->woken_ns == b->woken_ns && a->flags == b->flags && a->state == b->state && a->syscall == b->syscall &&
		    a->waker == b->waker && a->waker_kind == b->waker_kind && a->after_loss == b->after_loss &&
		    memcmp(a->argument, b->argument, sizeof(a->argument)) == 0);
}

static int by_device(const void *pa, const void *pb)
{
	const struct kernel_request *a = pa, *b = pb;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return a->issue_ns < b->issue_ns ? -1 : a->issue_ns > b->issue_ns;
}

static void same_requests(const struct kernel_trace *k)
{
	qsort(requests, request_cnt, sizeof(*requests), by_device);
	assert_int_equal(k->requests.cnt, request_cnt);
	for (size_t i = 0; i < request_cnt; i++)
		assert_true(k->requests.items[i].kind == requests[i].kind && k->requests.items[i].device == requests[i].device &&
			    k->requests.items[i].tid == requests[i].tid && k->requests.items[i].issue_ns == requests[i].issue_ns &&
			    k->requests.items[i].done_ns == requests[i].done_ns);
}

/* Records of few kinds in any order, blocks that end anywhere. */
static void test_random(void **state)
{
	struct kernel_trace k;
	int64_t ns[THREADS] = { 0 };
	size_t stack_cnt = 0, cnt[THREADS] = { 0 };

	(void)state;
	srand(4711);
	begin();
	for (size_t left = RECORDS; left; left--) {
		unsigned int thread = (unsigned int)few(THREADS);

		while (cnt[thread] == EACH)
			thread = (thread + 1) % THREADS;
		record_off(thread, &offs[thread][cnt[thread]++], &ns[thread]);
		if (few(4) == 0)
			record_request();
		if (few(1000) == 0)
			writer_flush(&w);
	}
	stack_cnt = w.stack_records;
	assert_int_equal(w.records, RECORDS);
	end_and_read(&k);
	assert_int_equal(k.offs.cnt, RECORDS);
	for (size_t i = 0; i < RECORDS; i++)
		same_off(&k.offs.items[i], &offs[i / EACH][i % EACH]);
	same_requests(&k);
	assert_true(stack_cnt > RECORDS && k.stacks.cnt == stack_cnt);
	kernel_release(&k);
}

/* The first in full, the next in 4 bytes: its number, 63 ns later, 40 ns away, woken 15 before the end. */
static void test_bytes(void **state)
{
	struct record_off r = { .kind = RECORD_OFF, .tid = 7000, .pid = 6000, .state = 2, .flags = OFF_WOKEN | OFF_IOWAIT, .syscall = 0,
				.waker_kind = WAKER_DISK, .waker = 254 << 20, .ns = 195, .out_ns = 100, .woken_ns = 180 };
	struct kernel_trace k;
	size_t full;

	(void)state;
	begin();
	writer_record(&w, &r, sizeof(r));
	full = w.block.len;
	assert_true(full > 15);
	r.ns += 63;
	r.out_ns = r.ns - 40;
	r.woken_ns += 63;
	writer_record(&w, &r, sizeof(r));
	assert_int_equal(w.block.len, full + 4);
	writer_flush(&w);		/* no block knows of another one */
	r.ns += 1000;
	r.out_ns += 1000;
	r.woken_ns += 1000;
	writer_record(&w, &r, sizeof(r));
	assert_true(w.block.len > 15);
	end_and_read(&k);
	assert_int_equal(k.offs.cnt, 3);
	assert_true(k.offs.items[1].out_ns == 218 && k.offs.items[1].woken_ns == 243 && k.offs.items[1].in_ns == 258 &&
		    k.offs.items[1].waker == 254 << 20);
	kernel_release(&k);
}

/* As one that there was not; and one that began before the clock did. */
static void test_nonsense(void **state)
{
	static const unsigned char blocks[2][24] = {
		{ KERNEL_REQUEST, 7, 40, 1, 5, KERNEL_RECORD_KIND_CNT + 1, 40, 5 },
		{ KERNEL_REQUEST, 7, 40, 1, 5, KERNEL_RECORD_KIND_CNT, 1, 60 },
	};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct kernel_trace k = { 0 };
		struct diag diag = DIAG_INIT;

		begin();
		memcpy(w.block.data, blocks[i], 8);
		w.block.len = 8;
		writer_flush(&w);
		writer_end(&w, 0, 1000, 0);
		assert_int_equal(writer_close(&w), 0);
		assert_int_equal(kernel_read(&k, path, &diag), -EBADMSG);
		assert_non_null(strstr(diag.text, "a record makes no sense"));
		kernel_release(&k);
		unlink(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
